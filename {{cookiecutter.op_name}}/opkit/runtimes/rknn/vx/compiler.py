"""Compiles `.vx` sources, unchanged, for this PC: with clang as an OpenCL C compiler.

The clang is the one inside of zig. What the vendor's compiler has built in comes from prelude/. All
results are kept in a folder, under names that tell what they were made of.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from opkit.errors import OpkitError
from opkit.runtimes.rknn.vx import names
from opkit.runtimes.rknn.vx.diagnostics import readable
from opkit.runtimes.rknn.vx.signatures import (
    KernelParameter,
    VxKernel,
    entry_points,
    kernels,
    without_local_pointers,
)
from opkit.toolchains import find
from opkit.toolchains.abi import ABIS

_HERE = Path(__file__).parent
_PRELUDE = _HERE / "prelude"

_LANGUAGE = (
    *("-cl-std=CL2.0", "-cl-no-stdinc", "-cl-single-precision-constant"),
    *("-Xclang", "-cl-ext=+cl_khr_fp16,+cl_khr_fp64"),
    *("-Dcl_viv_vx_extension=1", "-Wno-ignored-pragmas", "-fgnu89-inline", "-fno-builtin"),
)
# The same numbers on every PC: no fused operations, uninitialised variables hold a pattern.
_CODE = (
    *("-target", "x86_64-linux-gnu", "-fPIC", "-g", "-fno-omit-frame-pointer"),
    *("-fno-strict-aliasing", "-ffp-contract=off", "-ftrivial-auto-var-init=pattern"),
)
_SANITIZE = ("-fsanitize=undefined,float-cast-overflow", "-fno-sanitize=function,vptr,object-size")
_PROCESSOR_FLAGS = frozenset("avx2 bmi1 bmi2 f16c fma abm movbe".split())


@dataclass(frozen=True)
class Program:
    """A `.vx` source that was compiled.

    Attributes:
        source: the source.
        library: what it was compiled to.
        kernels: by name, in the order of the source.
        diagnostics: what the compiler warned of; empty if of nothing.
    """

    source: Path
    library: Path
    kernels: dict[str, VxKernel]
    diagnostics: str


def compile_vx(
    source: Path,
    folder: Path,
    *,
    sanitize: bool = True,
    debug: bool = False,
    vx_version: int = 2,
) -> Program:
    """Compile a `.vx` source, or take it from the folder if it was compiled before.

    Args:
        source: the `.vx` file.
        folder: where results are kept.
        sanitize: check for undefined behaviour while the kernel runs.
        debug: for a debugger: not optimised.
        vx_version: the generation of the hardware, VX_VERSION in the source.

    Raises:
        OpkitError: the source does not compile; the message has the compiler's, with the source's
            own lines. Or this PC cannot run VX kernels.
    """
    try:
        text = source.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise OpkitError(f"{source} cannot be read: {error}") from None
    _refuse_other_pcs()
    folder = folder.resolve()
    language = (*_LANGUAGE, f"-DVX_VERSION={vx_version}")
    code = (*_CODE, processor(), "-O0" if debug else "-O2", *(_SANITIZE if sanitize else ()))
    header = _precompiled(folder, (*language, *code))
    quoted = ("-iquote", str(source.parent.resolve()), "-I", str(_PRELUDE))
    preprocessed = _clang(
        *("-E", "-x", "cl", *language, "-DOPKIT_VX_SIGNATURES", *quoted, str(source)), folder=folder
    )
    key = _key(str(source), str(Path.cwd()), text, preprocessed.stdout, str(header), *code)

    def build(target: Path) -> None:
        found = kernels(preprocessed.stdout, str(source))
        copy = target / "kernel.cl"
        # A kernel may have the name of a macro of the prelude.
        free = "".join(f"#undef {name}\n" for name in found)
        copy.write_text(
            f"{free}#line 1 {json.dumps(str(source))}\n{without_local_pointers(text)}\n"
            f'#line 1 "entry points"\n{entry_points(found)}',
            encoding="utf-8",
        )
        compiled = _clang(
            *("-x", "cl", *language, *code, "-include-pch", str(header), *quoted),
            *("-c", str(copy), "-o", str(target / "kernel.o")),
            folder=folder,
        )
        _run(
            *(_zig(), "ld.lld", "-shared", "-Bsymbolic", str(target / "kernel.o")),
            *("-o", str(target / "kernel.so")),
        )
        description = {
            "kernels": [asdict(kernel) for kernel in found.values()],
            "diagnostics": compiled.stderr,
        }
        (target / "program.json").write_text(json.dumps(description), encoding="utf-8")

    made = _made(folder, f"{source.stem}-{key}", build)
    description = json.loads((made / "program.json").read_text(encoding="utf-8"))
    return Program(
        source,
        made / "kernel.so",
        {kernel["name"]: _kernel(kernel) for kernel in description["kernels"]},
        description["diagnostics"],
    )


def language_arguments(vx_version: int = 2) -> tuple[str, ...]:
    """Return the arguments by which clang, or clangd, reads the language of `.vx` files.

    The prelude is found, but not included.
    """
    target = ("-target", "x86_64-linux-gnu")
    return (*_LANGUAGE, *target, f"-DVX_VERSION={vx_version}", "-I", str(_PRELUDE))


def _refuse_other_pcs() -> None:
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        raise OpkitError(
            f"VX kernels run on Linux on x86_64, and this is {platform.system()} on "
            f"{platform.machine()}"
        )


def _kernel(description: dict[str, object]) -> VxKernel:
    parameters = description["parameters"]
    group = description["group"]
    uniforms = description["uniforms"]
    assert isinstance(parameters, list)
    assert isinstance(uniforms, list)
    return VxKernel(
        str(description["name"]),
        tuple(KernelParameter(**parameter) for parameter in parameters),
        (group[0], group[1], group[2]) if isinstance(group, list) else None,
        bool(description["barrier"]),
        tuple(uniforms),
    )


# ---- What is made once ---------------------------------------------------------------------------


def _precompiled(folder: Path, flags: tuple[str, ...]) -> Path:
    """Return the prelude as clang reads it fast. It refers to the files that it was made of."""
    macros = names.macros()
    written = _made(
        folder,
        f"names-{_key(macros)}",
        lambda target: _write(target / "names.h", macros),
    )
    key = _key(*flags, str(written), *_texts(_PRELUDE))

    def build(target: Path) -> None:
        _clang(
            *("-x", "cl-header", *flags, "-Xclang", "-fno-pch-timestamp"),
            *("-include", str(written / "names.h"), str(_PRELUDE / "prelude.h")),
            *("-o", str(target / "prelude.pch")),
            folder=folder,
        )

    return _made(folder, f"prelude-{key}", build) / "prelude.pch"


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _made(folder: Path, name: str, build: Callable[[Path], None]) -> Path:
    """Return a subfolder; if it is not there it is built aside, so it is whole or absent."""
    made = folder / name
    if not made.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".") as aside:
            target = Path(aside) / name
            target.mkdir()
            build(target)
            try:
                target.rename(made)
            except OSError:
                if not made.is_dir():  # nobody else was faster
                    raise
    return made


def _texts(folder: Path) -> list[str]:
    return [f"{path}\n{path.read_text(encoding='utf-8')}" for path in sorted(folder.glob("*.h"))]


def _key(*parts: str) -> str:
    return hashlib.sha256("\0".join((_version(), *parts)).encode()).hexdigest()[:16]


# ---- The compiler --------------------------------------------------------------------------------


@cache
def _zig() -> str:
    return find("zig", ABIS["x64"]).command[0]


@cache
def _version() -> str:
    return _run(_zig(), "version").stdout


@cache
def processor() -> str:
    """Return the flag for this PC: halves are converted by instructions where it has them."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        text = ""
    flags = next((line.split() for line in text.splitlines() if line.startswith("flags")), [])
    return "-march=x86-64-v3" if set(flags) >= _PROCESSOR_FLAGS else "-march=x86-64-v2"


def _clang(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return _run(_zig(), "clang", *arguments, cleaned=folder)


def _run(*command: str, cleaned: Path | None = None) -> subprocess.CompletedProcess[str]:
    result = _finished(command)
    if cleaned is not None:
        result.stderr = readable(result.stderr, str(_PRELUDE), str(cleaned))
    if result.returncode != 0:
        raise OpkitError(result.stderr.strip() or f"{command[0]} {command[1]} failed")
    return result


def _finished(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"}
    )
