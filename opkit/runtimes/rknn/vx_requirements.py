"""The VX kernel as op.yml requires it: its parts in the repository, and drift between both."""

from __future__ import annotations

import re
from pathlib import Path

from opkit.common.complaint import Complaint
from opkit.common.errors import OpkitError
from opkit.description.spec import OpSpec
from opkit.runtimes.rknn import kernel_skeletons, kernel_source
from opkit.runtimes.rknn.kernel_source import is_quantized
from opkit.runtimes.rknn.settings import has_vx_kernel

_TEST_TO_ADD = """\
and add to tests/test_{lower}.py

from opkit.testing import {checks}


{test}"""

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def require_vx_kernel(spec: OpSpec, feature: str, remedy: str = "") -> None:
    """Refuse a feature that needs a VX kernel if the operator has none.

    Args:
        spec: the operator.
        feature: the option, command or test that needs the VX kernel, for the message.
        remedy: an alternative to adding a VX kernel.

    Raises:
        OpkitError: op.yml has no VX kernel.
    """
    if not has_vx_kernel(spec):
        add = "write `kernels: [cpu, vx]` and run scons to add one"
        raise OpkitError(
            f"{feature}: {spec.name} has no VX kernel, because op.yml has `kernels: [cpu]`; "
            + (f"{remedy}, or {add}" if remedy else add)
        )


def unwritten_vx_kernel(spec: OpSpec, source: str) -> str:
    """Return a hint if the .vx file still is the generated one, which copies the first input.

    Args:
        spec: the operator.
        source: the text of the .vx file.

    Returns:
        A sentence that names both remedies; empty if the user has written the kernel.
    """
    if spec.elementwise or _code(source) != _code(kernel_skeletons.vx_kernel(spec)):
        return ""
    return (
        f"{kernel_skeletons.vx_file(spec)} is still the generated one, which copies the first "
        f"input. Write the VX kernel; or, for an operator with a CPU kernel alone, write "
        f"`kernels: [cpu]` in op.yml and delete test_vx_kernel from tests/test_{spec.lower}.py"
    )


def _code(source: str) -> list[str]:
    """Return the tokens of a source, without comments and spacing."""
    return re.findall(r"\w+|[^\w\s]", _COMMENT.sub(" ", source))


def missing_vx_kernel(spec: OpSpec, source: str) -> Complaint | None:
    """Return a complaint if the user's files lack a VX kernel that op.yml has.

    Args:
        spec: the operator, which has a VX kernel.
        source: the text of `rknn_kernel_<op>.c`.

    Returns:
        A complaint with the text to add; None if the source has a function that sets up the VX
        kernel, or a kernel list of its own.
    """
    code = _COMMENT.sub(" ", source)
    if kernel_source.kernels_include(spec) not in code:  # the file has its own list
        name = f"vx_kernel_{spec.name}_list"
        cpu_alone = f"vx_kernel_description_t *{name}[] = {{&cpu_kernel_description, NULL}};"
        lines = source.splitlines()
        if cpu_alone not in lines:
            return None
        problem = "the list holds the CPU kernel alone, but op.yml has `kernels: [cpu, vx]`"
        hint = f"""\
callbacks and list are generated now, so replace the text of the file with

{kernel_source.kernel_file(spec)}
{_test_to_add(spec)}"""
        return _complaint(spec, problem, hint, lines.index(cpu_alone) + 1)
    if re.search(r"\.\s*initialize_vx_kernel\b", code):
        return None
    member = ".initialize_vx_kernel = initialize_vx_kernel,"
    has_hooks = re.search(r"\bkernel_hooks\b", code) is not None
    also = f"; `{member}` goes into the struct that is there already" if has_hooks else ""
    includes = "\n".join(kernel_source.launch_includes(spec))
    hint = f"""\
add to the includes

{includes}

below them{also}

{kernel_source.vx_launch(spec)}
{_test_to_add(spec)}"""
    problem = "nothing launches the VX kernel, but op.yml has `kernels: [cpu, vx]`"
    return _complaint(spec, problem, hint=hint)


def _test_to_add(spec: OpSpec) -> str:
    checks = "TensorFormat, check_vx_kernel" if is_quantized(spec) else "check_vx_kernel"
    return _TEST_TO_ADD.format(lower=spec.lower, checks=checks, test=kernel_skeletons.vx_test(spec))


def _complaint(spec: OpSpec, problem: str, hint: str, line: int | None = None) -> Complaint:
    file = f"rknn_kernel_{spec.lower}.c"
    return Complaint(file, problem, line, hint=hint, severity="warning")


def drift(root: Path, spec: OpSpec, cache: Path) -> list[Complaint]:
    """Return each mismatch of the VX kernel, with the text that op.yml requires; see vx.drift."""
    name = kernel_skeletons.vx_file(spec)
    path = root / name
    if not has_vx_kernel(spec):
        left_over = Complaint(
            name,
            "is not built, because op.yml has `kernels: [cpu]`",
            hint="delete it and the tests with check_vx_kernel, or write `kernels: [cpu, vx]`",
            severity="warning",
        )
        return [left_over] if path.is_file() else []
    source = (root / f"rknn_kernel_{spec.lower}.c").read_text(encoding="utf-8", errors="replace")
    missing = missing_vx_kernel(spec, source)
    found = [missing] if missing else []
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    if spec.elementwise or text == kernel_skeletons.vx_kernel(spec):
        return found  # it is as generated from this op.yml, and needs no compiler to tell
    from opkit.runtimes.rknn.vx import drift as vx_drift  # only here: it takes long to import

    return [*found, *vx_drift.drift(root, spec, cache)]
