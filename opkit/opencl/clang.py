"""The clang inside of zig, and the precompiled prelude."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from itertools import product
from pathlib import Path

from opkit.common import file_io
from opkit.common.errors import OpkitError
from opkit.common.scratch import scratch_folder, whole_folder
from opkit.opencl.diagnostics import readable
from opkit.toolchains import find
from opkit.toolchains.abi import ABIS
from opkit.toolchains.zig import version

_INTEGERS = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong")
_FLOATS = ("half", "float", "double")
_LANES = ("", "2", "3", "4", "8", "16")
_ROUNDINGS = {
    "": "__OPKIT_DEFAULT_ROUNDING",
    "_rte": "__OPKIT_NEAREST_EVEN",
    "_rtz": "__OPKIT_TOWARD_ZERO",
    "_rtp": "__OPKIT_TOWARD_INFINITY",
    "_rtn": "__OPKIT_TOWARD_MINUS_INFINITY",
}


def macros() -> str:
    """Return the header: convert_..., as_..., and int4(...) beside (int4)(...)."""
    lines = ["/* Written by opkit/opencl/clang.py. */"]
    for element, lanes in product((*_INTEGERS, *_FLOATS), _LANES):
        type_ = element + lanes
        if lanes:
            lines.append(f"#define {type_}(...) ({type_})(__VA_ARGS__)")
        lines.append(f"#define as_{type_}(value) __OPKIT_AS({type_}, value)")
        for saturation, (suffix, rounding) in product(("", "_sat"), _ROUNDINGS.items()):
            if saturation and element in _FLOATS:
                continue
            name = f"convert_{type_}{saturation}{suffix}"
            saturates = int(bool(saturation))
            lines.append(
                f"#define {name}(value) __OPKIT_CONVERT({type_}, value, {saturates}, {rounding})"
            )
    return "\n".join(lines) + "\n"


PRELUDE = Path(__file__).parent / "prelude"
FOLDER = Path("build/vx")
"""The folder of a repository in which VX kernels are compiled."""
SEEN_AS = "/opkit-vx-prelude"
"""Where clang finds the prelude: under one path, so that repositories share the precompiled one."""

_ATOMICS = tuple(product(("global", "local"), ("base", "extended")))
_EXTENSIONS = (
    *("cl_khr_fp16", "cl_khr_fp64", "cl_khr_byte_addressable_store"),
    *(f"cl_khr_{memory}_int32_{kind}_atomics" for memory, kind in _ATOMICS),
)
_LANGUAGE = (
    *("-cl-std=CL2.0", "-cl-no-stdinc", "-nostdinc", "-cl-single-precision-constant"),
    *("-Xclang", f"-cl-ext=-all,{','.join(f'+{name}' for name in _EXTENSIONS)}"),
    *("-Wno-ignored-pragmas", "-fgnu89-inline", "-fno-builtin"),
    # Elements of packed vectors are of enumerations, which a kernel is not to see.
    *("-Wno-enum-compare", "-Wno-enum-conversion", "-Wno-implicit-enum-enum-cast", "-Wno-switch"),
    # The board's compiler takes a pointer to another type; which one was meant is the kernel's.
    "-Wno-error=incompatible-pointer-types",
    # What prelude/unavailable.h declares has no definition.
    "-Wno-undefined-internal",
)
# The same numbers on every PC: no fused operations, uninitialized variables hold a pattern.
_CODE = (
    *("-target", "x86_64-linux-gnu", "-fPIC", "-g", "-fno-omit-frame-pointer"),
    "-fstack-clash-protection",
    *("-fno-strict-aliasing", "-ffp-contract=off", "-ftrivial-auto-var-init=pattern"),
    # A pointer to a vector may be one to its elements.
    "-fmax-type-align=4",
)
_SANITIZE = (
    "-fsanitize=undefined,float-cast-overflow,address",
    "-fno-sanitize=function,vptr,object-size",
    "-fsanitize-recover=address",
    *("-fsanitize-address-use-after-return=never", "-fno-sanitize-address-use-after-scope"),
    "-fno-sanitize-address-use-odr-indicator",
    # Of the instrumentation runtime/shadow.c has what is reported, and no variants for size.
    *("-mllvm", "-asan-max-inline-poisoning-size=1048576"),
    *("-mllvm", "-asan-instrument-dynamic-allocas=0"),
    *("-mllvm", "-asan-opt-stack=1", "-mllvm", "-asan-redzone-byval-args=0"),
)
_PROCESSOR_FLAGS = frozenset("avx2 bmi1 bmi2 f16c fma abm movbe".split())


def language(vx_version: int) -> tuple[str, ...]:
    """Return the flags that select the language of `.vx` files."""
    return (*_LANGUAGE, "-Dcl_viv_vx_extension=1", f"-DVX_VERSION={vx_version}")


OPENCL = _LANGUAGE
"""The flags that select the language of `.cl` files, together with checks by opencl_c.py."""


def code(sanitize: bool, debug: bool, calls: bool = False) -> tuple[str, ...]:
    """Return the flags for code generation; `calls`: each access is a call of the runtime."""
    optimize = "-O0" if debug else "-O2"
    threshold = f"-asan-instrumentation-with-call-threshold={0 if calls else -1}"
    checks = (*_SANITIZE, "-mllvm", threshold) if sanitize else ()
    return (*_CODE, processor(), optimize, *checks)


@cache
def processor() -> str:
    """Return the flag for this PC: halves are converted by instructions where it has them."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        text = ""
    flags = next((line.split() for line in text.splitlines() if line.startswith("flags")), [])
    return "-march=x86-64-v3" if set(flags) >= _PROCESSOR_FLAGS else "-march=x86-64-v2"


# ---- The prelude ---------------------------------------------------------------------------------


def prelude(folder: Path, flags: tuple[str, ...]) -> tuple[str, ...]:
    """Return the arguments by which clang has the prelude, precompiled for these flags."""
    return (
        *("-include-pch", str(precompiled(folder, flags)), *_overlay(folder), "-I", SEEN_AS),
        f"-fdebug-prefix-map={SEEN_AS}={PRELUDE}",
    )


def precompiled(folder: Path, flags: tuple[str, ...]) -> Path:
    """Return the prelude, precompiled unless it is; no path of a repository is in it."""
    path = folder / precompiled_name(flags)
    if not path.is_file():
        with scratch_folder(folder) as aside:
            made = aside / path.name
            # Warnings cost a tenth of the time.
            clang(
                *("-x", "cl-header", *flags, "-w", "-Xclang", "-fno-pch-timestamp"),
                *(*_overlay(folder), "-include", f"{SEEN_AS}/names.h"),
                *("-include", f"{SEEN_AS}/prelude.h", "/dev/null", "-o", str(made)),
                folder=folder,
            )
            made.replace(path)
    return path


def share_precompiled(folder: Path, flags: tuple[str, ...], shared: Path) -> None:
    """Take the precompiled prelude from a folder that repositories share, or put it there."""
    name = precompiled_name(flags)
    own, others = folder / name, shared / name
    if not own.is_file() and others.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        file_io.write_atomically(own, others.read_bytes())
    made = precompiled(folder, flags)
    if not others.is_file():
        with scratch_folder(shared) as aside:
            shutil.copy(made, aside)
            (aside / name).replace(others)


def precompiled_name(flags: tuple[str, ...]) -> str:
    """Return the name of the precompiled prelude, which stands for all that it is made of."""
    parts = (version(zig()), *flags, macros(), *prelude_texts())
    return f"prelude-{digest(chr(0).join(parts).encode())[:16]}.pch"


def _overlay(folder: Path) -> tuple[str, ...]:
    """Return the arguments by which clang finds the prelude at SEEN_AS."""
    own_macros = macros()
    headers = sorted(PRELUDE.glob("*.h"))
    name = f"names-{key(str(folder), own_macros, *map(str, headers))}"

    def build(target: Path) -> None:
        (target / "names.h").write_text(own_macros, encoding="utf-8")
        contents = [
            {"name": file.name, "type": "file", "external-contents": str(file)}
            for file in (*headers, folder / name / "names.h")
        ]
        root = {"name": SEEN_AS, "type": "directory", "contents": contents}
        overlay = {"version": 0, "use-external-names": False, "roots": [root]}
        (target / "overlay.json").write_text(json.dumps(overlay), encoding="utf-8")

    return "-ivfsoverlay", str(whole_folder(folder / name, build) / "overlay.json")


@cache
def prelude_texts() -> tuple[str, ...]:
    """Return the files of the prelude, each with its name."""
    return tuple(
        f"{path.name}\n{path.read_text(encoding='utf-8')}" for path in sorted(PRELUDE.glob("*.h"))
    )


def key(*parts: str) -> str:
    """Return a cache key for these texts and this compiler."""
    return digest("\0".join((_compiler(), *parts)).encode())[:16]


def digest(data: bytes) -> str:
    """Return a digest of these bytes."""
    return hashlib.sha256(data).hexdigest()


# ---- The compiler --------------------------------------------------------------------------------


@cache
def zig() -> str:
    """Return the path of zig.

    Raises:
        OpkitError: there is none; the message says how to install it.
    """
    return find("zig", ABIS["x64"]).command[0]


@cache
def _compiler() -> str:
    """Return an identification of the compiler, without starting it."""
    status = Path(zig()).stat()
    return f"{zig()} {status.st_size} {status.st_mtime_ns}"


def clang(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run clang; messages about the prelude and files in the folder are removed.

    Raises:
        OpkitError: it fails; the message is what it wrote to stderr.
    """
    result = run_unchecked(zig(), "clang", *arguments)
    result.stderr = readable(result.stderr, SEEN_AS, str(folder))
    return _checked(result)


def run(*command: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, by default in the current one.

    Raises:
        OpkitError: it fails; the message is what it wrote to stderr.
    """
    return _checked(run_unchecked(*command, folder=folder))


def run_unchecked(*command: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command without checking its exit status."""
    return subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
        env={**os.environ, "LC_ALL": "C"},
    )


def _checked(result: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
    if result.returncode != 0:
        command: Sequence[str] = result.args
        raise OpkitError(result.stderr.strip() or f"{command[0]} {command[1]} failed")
    return result
