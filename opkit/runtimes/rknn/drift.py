"""Drift: where the user's files no longer match op.yml."""

from __future__ import annotations

from pathlib import Path

from opkit.complaint import Complaint
from opkit.description.spec import OpSpec
from opkit.runtimes.rknn.kernels import missing_vx_kernel
from opkit.runtimes.rknn.settings import settings
from opkit.runtimes.rknn.vx.drift import drift as vx_drift


def drift(root: Path, spec: OpSpec, cache: Path) -> list[Complaint]:
    """Return each mismatch, with the text that op.yml requires; see vx.drift."""
    if not settings(spec).has_vx_kernel:
        return []
    source = (root / f"rknn_kernel_{spec.lower}.c").read_text(encoding="utf-8", errors="replace")
    missing = missing_vx_kernel(spec, source)
    return [*([missing] if missing else []), *vx_drift(root, spec, cache)]
