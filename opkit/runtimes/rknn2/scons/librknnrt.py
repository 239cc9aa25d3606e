"""The option librknnrt=: run the cases in the vendor's own library, above our stand-in for the NPU.

With qemu=ssh:HOST the library and the NPU are the board's.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from opkit.build.harness import stand_in, vendor_harness
from opkit.build.options import Request
from opkit.check import executors
from opkit.check.executors import is_board
from opkit.common.errors import OpkitError
from opkit.description.spec import OpSpec
from opkit.runtimes.build import VendorProgram
from opkit.runtimes.rknn2.chips import CONVERTER, IDLE_NPU, LIBRARY, OPENCL
from opkit.runtimes.rknn2.describe import DESCRIBE, PREFIX, settings
from opkit.runtimes.rknn2.scons import toolkit_python
from opkit.runtimes.rknn2.scons.plugin import RUNTIME, static_library
from opkit.toolchains import elf

OPTION = "librknnrt"
OPENCL_OPTION = "librknnrt_opencl"
_ABIS = ("aarch64", "armhf")
_DEBIAN_TRIPLES = {"aarch64": "aarch64-linux-gnu", "armhf": "arm-linux-gnueabihf"}
_LOADER = "libOpenCL.so.1"
_POCL = "libpocl.so.2"
_SOURCES = f"{RUNTIME}/librknnrt"
_EMULATED_CHIP = "rk3588"  # whose NPU npu.c stands in for
_REGISTER = "rknn_register_custom_ops"
_WHERE = (
    "expected librknnrt.so of Linux, 1.6.0 or later; the vendor's repository "
    "github.com/airockchip/rknn-toolkit2 has it in rknpu2/runtime/Linux/librknn_api/"
)
_VERSION = re.compile(rb"librknnrt version: (\d[\w.]*)")


def options(variables: Any, operator: OpSpec) -> None:
    """Add the option."""
    text = (
        "with check: the vendor's librknnrt.so, for aarch64 or armhf: run the cases in it, too, in "
        "qemu, with models of RKNN-Toolkit2. With qemu=ssh:HOST, its path on the board. "
        f"{executors.readiness(_ABIS)}"
    )
    variables.Add(OPTION, text, "")
    variables.Add(
        OPENCL_OPTION,
        "with librknnrt=: a folder with PoCL for its ABI, Debian packages unpacked with dpkg -x: "
        "GPU operators run on it, in place of the board's OpenCL",
        "",
    )


def check(env: Any, request: Request) -> None:
    """Refuse a library that cannot run the cases here.

    Raises:
        OpkitError: there is no check; the library is not the vendor's for Linux, or is too old; the
            toolkit, the emulator or a library for it is missing.
    """
    if env[OPENCL_OPTION] and (not env[OPTION] or is_board(env["qemu"])):
        raise OpkitError(
            f"{OPENCL_OPTION}={env[OPENCL_OPTION]} is the OpenCL of {OPTION}= in qemu; write scons "
            f"check {OPTION}=PATH {OPENCL_OPTION}={env[OPENCL_OPTION]}"
        )
    if not env[OPTION]:
        return
    option = f"{OPTION}={env[OPTION]}"
    if not request.commands & {"check", "report"}:
        raise OpkitError(f"{option} runs the cases; write scons check {option}")
    if not toolkit_python.python_of(env):
        raise OpkitError(
            f"{option} requires RKNN-Toolkit2, which converts the cases; pass "
            f"{toolkit_python.OPTION}=PATH of a Python that has it"
        )
    if is_board(env["qemu"]):
        if not request.targets_of(DESCRIBE):
            raise OpkitError(f"{option} qemu={env['qemu']}: pass the board's target=")
        return
    abi = _abi_of(env[OPTION])
    if env["qemu"] and abi not in request.abis:
        raise OpkitError(
            f"{option} is for {abi}, but qemu= runs programs for {', '.join(request.abis)}; pass a "
            f"target of {abi}"
        )
    executors.emulated(abi, {}, env["qemu"])
    if env[OPENCL_OPTION]:
        _pocl(env[OPENCL_OPTION], abi)
    own, version = settings(env["OPERATOR"]), _version(env[OPTION])
    numbers = [[int(n) for n in re.findall(r"\d+", each)] for each in (version, own.oldest_runtime)]
    if version and numbers[0] < numbers[1]:
        raise OpkitError(
            f"{option}: version {version} aborts in rknn_init at op_type {own.op_type}, "
            f"ONNX's own name (expected {own.oldest_runtime} or later); try `op_type: "
            f"{PREFIX}{own.op_type}` in op.yml"
        )


def _abi_of(path: str) -> str:
    """Return the ABI of the vendor's library.

    Raises:
        OpkitError: it is another file.
    """
    try:
        abi = executors.abi_of(Path(path), _ABIS)
        library = elf.read(Path(path).read_bytes())
    except OpkitError as error:
        raise OpkitError(f"{OPTION}={path}: {error}; {_WHERE}") from None
    if _REGISTER not in library.exports:
        version = _version(path)
        found = f"version {version} has" if version else "it has"
        raise OpkitError(f"{OPTION}={path}: {found} no custom operators; {_WHERE}{abi}")
    if "libc.so.6" not in library.needed:
        raise OpkitError(f"{OPTION}={path}: it is for Android, or not for glibc; {_WHERE}{abi}")
    return abi


def _version(path: str) -> str:
    """Return the version of the vendor's library; empty if unknown."""
    found = _VERSION.search(Path(path).read_bytes())
    return found.group(1).decode() if found else ""


def _pocl(folder: str, abi: str) -> Path:
    """Return the folder of PoCL's libraries in a folder of unpacked packages.

    Raises:
        OpkitError: PoCL or its loader is not there.
    """
    libraries = Path(folder).absolute() / "usr/lib" / _DEBIAN_TRIPLES[abi]
    for name in (_LOADER, _POCL):
        if not (libraries / name).exists():
            raise OpkitError(
                f"{OPENCL_OPTION}={folder}: {libraries / name} not found; expected the packages "
                f"pocl-opencl-icd and ocl-icd-libopencl1 of Debian for {abi}, and all that they "
                "need; unpack each: dpkg -x PACKAGE.deb FOLDER"
            )
    return libraries


def vendor_programs(env: Any, request: Request) -> Sequence[VendorProgram]:
    """Return the program that runs the cases in the vendor's library; none without the option."""
    path = env[OPTION]
    if not path:
        return ()
    if is_board(env["qemu"]):
        ((chip, abi), *_) = request.targets_of(DESCRIBE).items()
        return [_program(env, chip, abi, f"librknnrt, {chip}", path)]
    file = Path(path).absolute()
    abi = _abi_of(path)
    version = f" {_version(path)}".rstrip()
    npu = stand_in(env, abi, f"librknnrt-{abi}/npu.so", [f"{_SOURCES}/npu.c"])
    driver = Path(npu[0].abspath)
    folders = [driver.parent, file.parent]
    environment = {"LD_PRELOAD": driver.name}  # ld.so takes no path with a space
    files = [npu]
    if env[OPENCL_OPTION]:
        libraries = _pocl(env[OPENCL_OPTION], abi)
        opencl = stand_in(
            env,
            abi,
            f"librknnrt-{abi}/opencl/libOpenCL.so",
            [f"{_SOURCES}/opencl.c"],
            ["-Wl,-soname,libOpenCL.so", str(libraries / _LOADER)],
        )
        files.append(opencl)
        others = libraries.parents[2] / "lib" / libraries.name
        folders += [Path(opencl[0].abspath).parent, libraries, others]
        environment["OCL_ICD_VENDORS"] = str(libraries / _POCL)
    environment["LD_LIBRARY_PATH"] = ":".join(map(str, folders))
    name = f"librknnrt{version}, {abi}"
    return [_program(env, _EMULATED_CHIP, abi, name, str(file), files, environment)]


def _program(
    env: Any,
    chip: str,
    abi: str,
    name: str,
    library: str,
    files: Sequence[Any] = (),
    environment: dict[str, str] | None = None,
) -> VendorProgram:
    spec = env["OPERATOR"]
    harness = vendor_harness(
        env,
        abi,
        f"librknnrt-{abi}",
        [f"{_SOURCES}/driver.c"],
        [f"#{RUNTIME}/include"],
        static_library(env, abi),
        f"{spec.lower}_register_all",
    )
    converter = toolkit_python.command(chip, toolkit_python.python_of(env))
    values = {LIBRARY: library, CONVERTER: shlex.join(converter)}
    if env[OPENCL_OPTION]:
        values[OPENCL] = "1"
    return VendorProgram(
        name=name,
        node=harness,
        files=files,
        abi=abi,
        environment=environment or {},
        settings=values | ({IDLE_NPU: "1"} if environment else {}),
    )
