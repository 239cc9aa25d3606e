"""Whether the VX kernel of a repository still has the parameters that op.yml describes."""

from __future__ import annotations

from pathlib import Path

from opkit.description.spec import OpSpec
from opkit.errors import OpkitError
from opkit.runtimes.rknn.settings import settings
from opkit.runtimes.rknn.skeletons import vx_arguments
from opkit.runtimes.rknn.vx.reader import read_kernels
from opkit.runtimes.rknn.vx.signatures import VxKernel


def drift(root: Path, spec: OpSpec) -> list[str]:
    """Return what in the .vx file no longer fits op.yml, each with the text that would.

    It is empty for a file that does not compile, or without a compiler: the build says so itself.
    """
    path = root / f"rknn_kernel_{spec.lower}.vx"
    if not path.is_file():
        return []
    try:
        kernels = read_kernels(path, root / "build" / "vx", settings(spec).vx_version)
    except OpkitError:
        return []
    if kernels is None:
        return []
    kernel = kernels.get(spec.lower)
    if kernel is not None and _kinds_and_names(kernel) == _expected(spec):
        return []
    problem = (
        f"{path.name}: there is no `__kernel void {spec.lower}(...)`"
        if kernel is None
        else f"{path.name}: the arguments of {spec.lower} are not those of op.yml"
    )
    right = ",\n".join(f"    {argument}" for argument in vx_arguments(spec))
    return [f"{problem}; write\n\n__kernel void {spec.lower}(\n{right}\n)\n"]


def _expected(spec: OpSpec) -> list[tuple[str, str]]:
    return [
        *(("tensor", tensor.name) for tensor in (*spec.inputs, *spec.outputs)),
        *(("array" if param.type.is_list else "scalar", param.name) for param in spec.params),
    ]


def _kinds_and_names(kernel: VxKernel) -> list[tuple[str, str]]:
    """What of a parameter has to agree with op.yml. A scalar may come by its address."""
    return [
        ("scalar" if parameter.kind == "pointer" else parameter.kind, parameter.name)
        for parameter in kernel.parameters
    ]
