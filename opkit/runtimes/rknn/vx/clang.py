"""The clang inside of zig, the precompiled prelude, and a cache folder."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from pathlib import Path

from opkit.errors import OpkitError
from opkit.runtimes.rknn.vx import names
from opkit.runtimes.rknn.vx.diagnostics import readable
from opkit.scratch import scratch_folder
from opkit.toolchains import find
from opkit.toolchains.abi import ABIS

PRELUDE = Path(__file__).parent / "prelude"

_ATOMICS = tuple(product(("global", "local"), ("base", "extended")))
_EXTENSIONS = (
    *("cl_khr_fp16", "cl_khr_fp64", "cl_khr_byte_addressable_store"),
    *(f"cl_khr_{memory}_int32_{kind}_atomics" for memory, kind in _ATOMICS),
)
_LANGUAGE = (
    *("-cl-std=CL2.0", "-cl-no-stdinc", "-nostdinc", "-cl-single-precision-constant"),
    *("-Xclang", f"-cl-ext=-all,{','.join(f'+{name}' for name in _EXTENSIONS)}"),
    *("-Dcl_viv_vx_extension=1", "-Wno-ignored-pragmas", "-fgnu89-inline", "-fno-builtin"),
    # Elements of packed vectors are of enumerations, which a kernel is not to see.
    *("-Wno-enum-compare", "-Wno-enum-conversion", "-Wno-implicit-enum-enum-cast", "-Wno-switch"),
    # The board's compiler takes a pointer to another type; which one was meant is the kernel's.
    "-Wno-error=incompatible-pointer-types",
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
    *("-mllvm", "-asan-instrumentation-with-call-threshold=-1"),
    *("-mllvm", "-asan-max-inline-poisoning-size=1048576"),
    *("-mllvm", "-asan-instrument-dynamic-allocas=0"),
    *("-mllvm", "-asan-opt-stack=1", "-mllvm", "-asan-redzone-byval-args=0"),
)
_PROCESSOR_FLAGS = frozenset("avx2 bmi1 bmi2 f16c fma abm movbe".split())


def language(vx_version: int) -> tuple[str, ...]:
    """Return the flags that select the language of `.vx` files."""
    return (*_LANGUAGE, f"-DVX_VERSION={vx_version}")


def editor_arguments(vx_version: int) -> tuple[str, ...]:
    """Return clangd's arguments for `.vx` files; the prelude is on the include path."""
    target = ("-target", "x86_64-linux-gnu")
    return (*language(vx_version), *target, "-I", str(PRELUDE))


def code(sanitize: bool, debug: bool) -> tuple[str, ...]:
    """Return the flags for code generation."""
    return (*_CODE, processor(), "-O0" if debug else "-O2", *(_SANITIZE if sanitize else ()))


@cache
def processor() -> str:
    """Return the flag for this PC: halves are converted by instructions where it has them."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        text = ""
    flags = next((line.split() for line in text.splitlines() if line.startswith("flags")), [])
    return "-march=x86-64-v3" if set(flags) >= _PROCESSOR_FLAGS else "-march=x86-64-v2"


# ---- The cache -----------------------------------------------------------------------------------


def precompiled(folder: Path, flags: tuple[str, ...]) -> Path:
    """Return the precompiled header of the prelude. It refers to the files that it was made of."""
    macros = names.macros()
    macros_folder = cached(
        folder,
        f"names-{key(macros)}",
        lambda target: _write(target / "names.h", macros),
    )

    def build(target: Path) -> None:
        # Warnings cost a tenth of the time.
        clang(
            *("-x", "cl-header", *flags, "-w", "-Xclang", "-fno-pch-timestamp"),
            *("-include", str(macros_folder / "names.h"), str(PRELUDE / "prelude.h")),
            *("-o", str(target / "prelude.pch")),
            folder=folder,
        )

    name = f"prelude-{key(*flags, str(macros_folder), *prelude_texts())}"
    return cached(folder, name, build) / "prelude.pch"


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def cached(folder: Path, name: str, build: Callable[[Path], None]) -> Path:
    """Return a subfolder; if absent it is built aside and renamed, so it is never incomplete."""
    path = folder / name
    if not path.is_dir():
        with scratch_folder(folder) as aside:
            target = aside / name
            target.mkdir()
            build(target)
            try:
                target.rename(path)
            except OSError:
                if not path.is_dir():  # else another process was faster
                    raise
    return path


@cache
def prelude_texts() -> tuple[str, ...]:
    """Return the files of the prelude, each with its path."""
    return tuple(
        f"{path}\n{path.read_text(encoding='utf-8')}" for path in sorted(PRELUDE.glob("*.h"))
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
    result.stderr = readable(result.stderr, str(PRELUDE), str(folder))
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
