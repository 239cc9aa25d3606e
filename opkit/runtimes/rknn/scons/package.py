"""package(env, target): packs the device libraries into `build/<target>/<Name>.rknnop`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from SCons.Action import Action

from opkit import atomic_file
from opkit.build.options import Request, print_errors, unsubstituted
from opkit.description.spec import OpSpec
from opkit.errors import OpkitError
from opkit.runtimes.rknn import program_binary, rknnop
from opkit.runtimes.rknn.description import package_description
from opkit.runtimes.rknn.kernels import require_vx_kernel
from opkit.runtimes.rknn.settings import settings

NO_VX_KERNEL = (
    "op.yml: kernel_index: 1 runs the VX kernel, which only the vendor's compiler can "
    "make. Pass scons vx_binary=FILE (a program binary) or scons rknn_python=PATH (a "
    "Python that has RKNN-Toolkit), or write kernel_index: 0 to run the CPU kernel"
)


def options(variables: Any, operator: OpSpec) -> None:
    """Add the options for the source of a VX kernel's program binary."""
    variables.AddVariables(
        ("vx_binary", "the program binary of the VX kernel to put into the package", ""),
        ("rknn_python", "a Python that has RKNN-Toolkit, to compile the VX kernel", ""),
    )


def check(env: Any, request: Request) -> None:
    """Refuse an invalid program binary.

    Raises:
        OpkitError: the binary is invalid, or the operator has no VX kernel.
    """
    operator = env["OPERATOR"]
    for option in ("vx_binary", "rknn_python"):
        if env[option]:
            require_vx_kernel(operator, f"{option}=", "leave it out")
    if env["vx_binary"]:
        program_binary.from_file(Path(env["vx_binary"]))


def package(env: Any, target: str, libraries: list[Any]) -> Any:
    """Return the node of the package for one chip.

    Args:
        env: the environment.
        target: the chip.
        libraries: the nodes of the device libraries, in the order of rknnop.ABIS.

    Raises:
        OpkitError: op.yml has kernel_index: 1, and no option gives a program binary.
    """
    operator = env["OPERATOR"]
    binary = _program_binary(env, target)
    if settings(operator).kernel_index == 1 and not binary:
        raise OpkitError(NO_VX_KERNEL)
    return env.Command(
        f"build/{target}/{operator.name}.rknnop",
        [*libraries, f"rknn_op_{operator.lower}.py", *binary],
        Action(print_errors(_pack), "pack $TARGET", varlist=["DESCRIPTION"]),
        DESCRIPTION=package_description(operator, target),
    )


def _program_binary(env: Any, target: str) -> list[Any]:
    operator = env["OPERATOR"]
    if env["vx_binary"]:
        return [env.File(unsubstituted(str(Path(env["vx_binary"]).absolute())))]
    if not env["rknn_python"]:
        return []
    sources = [f"rknn_kernel_{operator.lower}.vx", f"rknn_kernel_{operator.lower}.c", "op.yml"]
    binary: list[Any] = env.Command(
        f"build/{target}/{operator.lower}.bin",
        sources,
        Action(print_errors(_compile_vx_kernel), "compile $TARGET", varlist=["rknn_python"]),
        DESCRIPTION=package_description(operator, target),
    )
    return binary


def _compile_vx_kernel(target: Any, source: Any, env: Any) -> None:
    path = Path(target[0].path)
    binary = program_binary.from_toolkit(
        env["rknn_python"], Path(), env["OPERATOR"].name, env["DESCRIPTION"], path.parent
    )
    atomic_file.write(path, binary)


def _pack(target: Any, source: Any, env: Any) -> None:
    from opkit.runtimes.rknn.library_check import check_library

    path = Path(target[0].path)
    for abi, node in zip(rknnop.ABIS, source, strict=False):
        check_library(Path(node.path), abi, env["OPERATOR"].name)
    *libraries, python = (Path(node.path).read_bytes() for node in source[: len(rknnop.ABIS) + 1])
    binary = source[len(rknnop.ABIS) + 1 :]
    package = rknnop.Package(
        version=rknnop.VERSION,
        program_binary=program_binary.from_file(Path(binary[0].path)) if binary else b"",
        libraries=dict(zip(rknnop.ABIS, libraries, strict=True)),
        description=env["DESCRIPTION"],
        python=python.decode(),
    )
    atomic_file.write(path, rknnop.pack(package))
    kernel = f", {'with' if binary else 'without'} a program binary"
    has_vx_kernel = settings(env["OPERATOR"]).has_vx_kernel
    # One write for the whole line, because other targets are packed in parallel.
    print(f"{path}: {path.stat().st_size} bytes{kernel if has_vx_kernel else ''}\n", end="")
