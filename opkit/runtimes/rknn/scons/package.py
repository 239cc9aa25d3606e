"""device_library(env, abi) and package(env, target): what a board gets.

device_library() compiles, links and checks the library for a board; package() packs the libraries
into `build/<target>/<Name>.rknnop`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from SCons.Action import Action

from opkit.build.compile_environment import compiler_for
from opkit.build.libraries import kernel_objects, stub
from opkit.build.options import Request, print_errors, unsubstituted
from opkit.common import file_io
from opkit.common.errors import OpkitError
from opkit.description.spec import OpSpec
from opkit.runtimes.rknn import program_binary, rknnop
from opkit.runtimes.rknn.kernel_source import kernel_sources
from opkit.runtimes.rknn.settings import has_vx_kernel, settings
from opkit.runtimes.rknn.vx_requirements import require_vx_kernel
from opkit.toolchains import elf
from opkit.toolchains.abi import ABIS

BOARD_LIBRARIES = (
    elf.SystemLibrary("libOpenVX.so", symbols="vx[A-Z]"),
    elf.SystemLibrary("libc.so.6"),
    elf.SystemLibrary("libm.so.6"),
)
"""The libraries that every board has."""


def requirements(operator: str) -> elf.Requirements:
    """Return the requirements on the device library of an operator."""
    return elf.Requirements((f"vx_kernel_{operator}_list",), BOARD_LIBRARIES)


def check_library(path: Path, abi: str, operator: str, any_glibc: bool = False) -> None:
    """Check that the boards of an ABI can load a device library.

    Args:
        path: the library.
        abi: the name of the required ABI.
        operator: the operator's name.
        any_glibc: accept a glibc newer than the boards', for a library that runs on this PC only.

    Raises:
        OpkitError: the library cannot be read, or violates requirements; the message lists all.
    """
    elf.check(path, ABIS[abi], requirements(operator), any_glibc)


def package_description(spec: OpSpec, target: str) -> str:
    """Return the op.yml of the package for one chip, in the vendor's keys, order kept.

    This project's own keys (`doc`, `default`, `source`, `length`, `dtype`, `kernels`, `vx_version`,
    `sources`, `include`, `cflags`) are left out. The values of `out_binary`, `op_py_file` and
    `vx_file` are the plain file names: the vendor's packages hold these keys, but their effect in
    RKNN-Toolkit is not published.

    An operator without a VX kernel has `vx_file`, too. That is inferred: every known package has
    the key, but none is known of such an operator. The file itself is in no package.
    """
    tensor = {"type": "VX_TYPE_TENSOR"}
    description = {
        "name": spec.name,
        "framework": spec.framework,
        "target_platform": target,
        "inputs": {input_.name: dict(tensor) for input_ in spec.inputs},
        "outputs": {output.name: dict(tensor) for output in spec.outputs},
        "params": {param.name: {"type": param.type.name} for param in spec.params},
        "kernel_index": settings(spec).kernel_index,
        "op_version": 2,
        "out_binary": f"{spec.name}.rknnop",
        "op_py_file": f"rknn_op_{spec.lower}.py",
        "vx_file": f"rknn_kernel_{spec.lower}.vx",
    }
    return yaml.safe_dump(description, sort_keys=False)


def device_library(env: Any, abi_name: str) -> Any:
    """Return the node of `build/<abi>/lib<operator>.so`.

    It exports only the kernel list, so that one process can load two operators. It is linked
    against a stub of libOpenVX.so; the board has the real one.
    """
    env.SetDefault(DEVICE_LIBRARIES={})  # ABI -> node, each declared once
    if abi_name in env["DEVICE_LIBRARIES"]:
        return env["DEVICE_LIBRARIES"][abi_name]
    operator = env["OPERATOR"]
    folder = f"build/{abi_name}"
    abi_env = compiler_for(env, abi_name)
    exports = f"generated/{operator.lower}.exports"
    library = abi_env.Command(
        f"{folder}/lib{operator.lower}.so",
        kernel_objects(abi_env, kernel_sources(operator), folder),
        [
            Action("$SHAREDCOM", "$SHAREDCOMSTR"),
            Action(print_errors(_examine), None, varlist=["ABI_NAME"]),
        ],
        ABI_NAME=abi_name,
        LIBRARIES=[
            f"-Wl,--version-script={exports}",
            "-Wl,-z,defs",
            f"-L{folder}/openvx",
            "-Wl,--no-as-needed",
            "-lOpenVX",
            "-Wl,--as-needed",
            "-lm",
        ],
    )
    openvx = stub(abi_env, f"{folder}/openvx/libOpenVX.so", "generated/openvx_stub.c")
    abi_env.Depends(library, [openvx, exports])
    env["DEVICE_LIBRARIES"][abi_name] = library
    return library


def _examine(target: Any, source: Any, env: Any) -> None:

    # A library for this PC alone may use its glibc; the other rules hold for a check, too.
    path = Path(target[0].path)
    check_library(path, env["ABI_NAME"], env["OPERATOR"].name, any_glibc=True)


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
    file_io.write_atomically(path, binary)


def _pack(target: Any, source: Any, env: Any) -> None:

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
    file_io.write_atomically(path, rknnop.pack(package))
    kernel = f", {'with' if binary else 'without'} a program binary"
    shown = kernel if has_vx_kernel(env["OPERATOR"]) else ""
    # One write for the whole line, because other targets are packed in parallel.
    print(f"{path}: {path.stat().st_size} bytes{shown}\n", end="")
