"""Android's NDK: a folder that the user unpacks, whose clang compiles for Android's ABIs."""

from __future__ import annotations

import os
import re
from pathlib import Path

from opkit.toolchains.abi import ANDROID_API, Abi
from opkit.toolchains.compiler import Compiler, Missing, Options, ToolchainError, first_program

VARIABLES = ("ANDROID_NDK_ROOT", "ANDROID_NDK_PATH")
"""The environment variables that may name the folder, in the order of the search."""
DOWNLOADS = "https://developer.android.com/ndk/downloads"
_OLDEST = (18, 1)
_HOST = "linux-x86_64"
_CLANG = f"toolchains/llvm/prebuilt/{_HOST}/bin/clang"
_SYSROOT = f"toolchains/llvm/prebuilt/{_HOST}/sysroot"
_PROPERTIES = "source.properties"
_REVISION = re.compile(r"^Pkg\.Revision\s*=\s*(\d{1,4}\.\d{1,4}(?:[.-][\w.-]+)?)\s*$", re.MULTILINE)


def find(abi: Abi, options: Options) -> Compiler | Missing:
    """Return the clang of the NDK that `ndk=` or a variable names.

    Raises:
        ToolchainError: there is no NDK in that folder, or it is too old or incomplete.
    """
    named = {"ndk": options.ndk} | {name: os.environ.get(name, "") for name in VARIABLES}
    name = next((name for name, value in named.items() if value), "")
    if not name:
        return Missing(
            "the NDK's clang",
            ("ndk= (not given)", *(f"the variable {name} (not set)" for name in VARIABLES)),
            f"unzip android-ndk-*-linux.zip\n  after downloading it from {DOWNLOADS}; then pass "
            "the folder that it makes: ndk=PATH",
        )
    given = f"{name}={named[name]}"
    folder = Path(os.path.expanduser(named[name])).absolute()  # noqa: PTH111 - without a home: as it is
    text = _revision(folder, given)
    revision = tuple(map(int, re.findall(r"\d+", text)[:2]))
    if revision < _OLDEST:
        oldest = ".".join(map(str, _OLDEST))
        raise ToolchainError(
            f"{given}: NDK {text} is too old (expected {oldest}, which is r18b, or later); "
            f"download a newer one from {DOWNLOADS}"
        )
    clang = first_program([str(folder / _CLANG)])
    if clang is None:
        raise ToolchainError(
            f"{given}: no program {_CLANG} in NDK {text}; download the package for Linux from "
            f"{DOWNLOADS}"
        )
    is_unified = revision >= (19,)
    libraries = _libraries(folder, abi, is_unified)
    if not libraries.is_dir():
        raise ToolchainError(
            f"{given}: NDK {text} has no libraries of API level {ANDROID_API} for {abi.name}, no "
            f"folder {libraries.relative_to(folder)}; download another one from {DOWNLOADS}"
        )
    target = f"--target={abi.triple}"
    if is_unified:
        return Compiler("ndk", abi.name, (clang, f"{target}{ANDROID_API}"), abi.ndk_flags)
    places = _places(folder, abi, libraries)
    return Compiler("ndk", abi.name, (clang, target, *places), abi.ndk_flags)


def version(program: str) -> str:
    """Return the revision of the NDK of a clang."""
    folder = Path(program.removesuffix(_CLANG))
    return _revision(folder, str(folder))


def _revision(folder: Path, given: str) -> str:
    """Return the revision of an NDK, such as 27.2.12479018.

    Raises:
        ToolchainError: the folder is not an NDK's.
    """
    try:
        properties = (folder / _PROPERTIES).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ToolchainError(
            f"{given}: {folder / _PROPERTIES}: {error.strerror} (expected the folder of an NDK, "
            f"such as android-ndk-r27c, which holds that file and {_CLANG})"
        ) from None
    found = _REVISION.search(properties)
    if found is None:
        raise ToolchainError(f"{given}: {folder / _PROPERTIES} has no line 'Pkg.Revision = ...'")
    return found[1]


def _libraries(folder: Path, abi: Abi, is_unified: bool) -> Path:
    """Return the folder of the system's libraries for linking."""
    if is_unified:
        return folder / _SYSROOT / "usr/lib" / _folder_name(abi) / str(ANDROID_API)
    processor = "arm64" if abi.processor == "aarch64" else "arm"
    return folder / "platforms" / f"android-{ANDROID_API}" / f"arch-{processor}" / "usr"


def _folder_name(abi: Abi) -> str:
    """Return the triple that names an ABI's folders, which is not always that of the target."""
    return abi.triple.replace("armv7a-", "arm-")


def _places(folder: Path, abi: Abi, libraries: Path) -> tuple[str, ...]:
    """Return the arguments by which the clang of r18 finds headers, libraries and linker."""
    headers = folder / "sysroot/usr/include"
    cxx = folder / "sources/cxx-stl"
    gcc = folder / "toolchains" / f"{_folder_name(abi)}-4.9" / "prebuilt" / _HOST
    return (
        f"--sysroot={libraries.parent}",
        f"--gcc-toolchain={gcc}",
        f"-D__ANDROID_API__={ANDROID_API}",
        *("-cxx-isystem", str(cxx / "llvm-libc++/include")),
        *("-cxx-isystem", str(cxx / "llvm-libc++abi/include")),
        # Behind clang's own, which include them.
        *("-idirafter", str(headers / _folder_name(abi))),
        *("-idirafter", str(headers)),
    )
