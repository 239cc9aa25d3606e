"""Drift: where the user's files no longer match op.yml."""

from __future__ import annotations

from pathlib import Path

from opkit.complaint import Complaint
from opkit.description.spec import OpSpec
from opkit.runtimes.rknn.kernels import missing_vx_kernel
from opkit.runtimes.rknn.settings import settings
from opkit.runtimes.rknn.skeletons import vx_file, vx_kernel


def drift(root: Path, spec: OpSpec, cache: Path) -> list[Complaint]:
    """Return each mismatch, with the text that op.yml requires; see vx.drift."""
    if not settings(spec).has_vx_kernel:
        return _left_over(root, spec)
    source = (root / f"rknn_kernel_{spec.lower}.c").read_text(encoding="utf-8", errors="replace")
    missing = missing_vx_kernel(spec, source)
    found = [missing] if missing else []
    if _is_ours(root / vx_file(spec), spec):
        return found
    from opkit.runtimes.rknn.vx.drift import drift as vx_drift  # only here: it takes long to import

    return [*found, *vx_drift(root, spec, cache)]


def _is_ours(path: Path, spec: OpSpec) -> bool:
    """Return whether a .vx file is as generated from this op.yml, and needs no compiler to tell."""
    return spec.elementwise or (
        path.is_file() and path.read_text(encoding="utf-8", errors="replace") == vx_kernel(spec)
    )


def _left_over(root: Path, spec: OpSpec) -> list[Complaint]:
    """Return a warning if there is a .vx file, which no build reads."""
    path = vx_file(spec)
    if not (root / path).is_file():
        return []
    return [
        Complaint(
            path,
            "is not built, because op.yml has `kernels: [cpu]`",
            hint="delete it and the tests with check_vx_kernel, or write `kernels: [cpu, vx]`",
            severity="warning",
        )
    ]
