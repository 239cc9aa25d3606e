"""Drift between the parameters of a VX kernel and op.yml."""

from __future__ import annotations

import re
from pathlib import Path

from opkit.complaint import Complaint
from opkit.description.spec import OpSpec
from opkit.errors import OpkitError
from opkit.runtimes.rknn.deliveries import DELIVERIES
from opkit.runtimes.rknn.settings import settings
from opkit.runtimes.rknn.skeletons import vx_arguments
from opkit.runtimes.rknn.vx.clang import FOLDER
from opkit.runtimes.rknn.vx.reader import read_kernels
from opkit.runtimes.rknn.vx.signatures import VxKernel
from opkit.runtimes.rknn.vx.words import without_comments

_ANY_INTEGER = ("int", "uint", "bool")


def drift(root: Path, spec: OpSpec, cache: Path) -> list[Complaint]:
    """Return each mismatch between the .vx file and op.yml, with the text that op.yml requires.

    Empty if the file does not compile or there is no compiler: the build reports both.

    Args:
        root: the repository.
        spec: its operator.
        cache: the parent of the folder for the compiler's files.
    """
    path = root / f"rknn_kernel_{spec.lower}.vx"
    if not path.is_file():
        return []
    try:
        kernels = read_kernels(path, cache / FOLDER.name, settings(spec).vx_version)
    except OpkitError:
        return []
    if kernels is None:
        return []
    kernel = kernels.get(spec.lower)
    if kernel is None:
        problem, line = f"there is no `__kernel void {spec.lower}(...)`", None
    elif _kinds_and_names(kernel) != _expected(spec):
        problem = f"the arguments of {spec.lower} are not those of op.yml"
        line = _line(path, spec)
    elif others := _other_types(kernel, spec):
        problem, line = "; ".join(others), _line(path, spec)
    else:
        return []
    right = ",\n".join(f"    {argument}" for argument in vx_arguments(spec))
    hint = f"write\n\n__kernel void {spec.lower}(\n{right}\n)\n"
    return [Complaint(path.name, problem, line, hint=hint, severity="warning")]


def _line(path: Path, spec: OpSpec) -> int | None:
    """Return the line of the kernel's declaration, by its name before a parenthesis."""
    text = path.read_text(encoding="utf-8", errors="replace")
    code = without_comments(text)
    found = re.search(rf"\b{spec.lower}\s*\(", code)
    return code.count("\n", 0, found.start()) + 1 if found else None


def _other_types(kernel: VxKernel, spec: OpSpec) -> list[str]:
    """Return the scalars of another type than in op.yml.

    An integer of fewer than 32 bits has the same value in every integer type, and so has a bool.
    The type behind a pointer is not checked.
    """
    found = {parameter.name: parameter for parameter in kernel.parameters}
    others = []
    for param in spec.params:
        right = DELIVERIES[param.type.name].vx_type
        element = param.type.element
        is_small = element.kind != "float" and element.size < 4
        parameter = found[param.name]
        if parameter.kind == "scalar" and parameter.type not in (
            _ANY_INTEGER if is_small else (right,)
        ):
            others.append(
                f"{param.name} is {parameter.type}, but {param.type.name} in op.yml, which a VX "
                f"kernel gets as {right}"
            )
    return others


def _expected(spec: OpSpec) -> list[tuple[str, str]]:
    return [
        *(("tensor", tensor.name) for tensor in (*spec.inputs, *spec.outputs)),
        *(("array" if param.type.is_list else "scalar", param.name) for param in spec.params),
    ]


def _kinds_and_names(kernel: VxKernel) -> list[tuple[str, str]]:
    """Return kind and name of each parameter. A scalar may be passed by its address."""
    return [
        ("scalar" if parameter.kind == "pointer" else parameter.kind, parameter.name)
        for parameter in kernel.parameters
    ]
