"""A stand-in for Android's NDK: its folders with zig's clang, and libraries of bionic's names.

zig has the driver of clang, which takes the arguments that an NDK's takes, and links as it does.
The headers are those of another C library, which zig has; or bionic's, of a copy of the folder
`libc` of its sources that the environment variable BIONIC_HEADERS names.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

from opkit import toolchains
from opkit.toolchains.abi import ABIS, ANDROID_ABIS, ANDROID_API, Abi

REVISION = "27.2.12479018"
R18B = "18.1.5063045"
HOST = "linux-x86_64"
CLANG = f"toolchains/llvm/prebuilt/{HOST}/bin/clang"

# Names that bionic has at the API level, and operators need: a link with another one fails.
_LIBRARIES = {
    "libc.so": """
__sched_cpucount calloc clock_gettime fprintf free getpid malloc memchr memcmp memcpy memmove memset
pthread_cond_broadcast pthread_cond_signal pthread_cond_wait pthread_create pthread_join
pthread_mutex_lock pthread_mutex_trylock pthread_mutex_unlock pthread_sigmask sched_getaffinity
sigdelset sigfillset snprintf stderr strchr strcmp strlen strncmp vsnprintf
""",
    "libm.so": """
ceilf cos exp expf fegetenv fesetenv floorf fmod log log1p pow powf rint sin sincos sqrt sqrtf
""",
    "libdl.so": "dlclose dlerror dlopen dlsym",
}
_BUILTINS = """
__aarch64_ldadd8_relax __aarch64_swp1_acq
__aeabi_d2lz __aeabi_d2ulz __aeabi_f2lz __aeabi_f2ulz __aeabi_l2d __aeabi_l2f __aeabi_ldivmod
__aeabi_memclr __aeabi_memclr4 __aeabi_memclr8 __aeabi_memcpy __aeabi_memcpy4 __aeabi_memcpy8
__aeabi_memmove __aeabi_memmove4 __aeabi_memset __aeabi_memset4 __aeabi_memset8 __aeabi_ul2d
__aeabi_ul2f __aeabi_uldivmod
"""
# Bionic declares it for API level 29 and later.
_YOUNGER = "timespec_get"
# Bionic's headers declare everything, whatever the standard.
_AS_BIONIC = "-D_DEFAULT_SOURCE"


def folder_name(abi: Abi) -> str:
    """Return the name of an ABI's folders in an NDK."""
    return abi.triple.replace("armv7a-", "arm-")


def make_ndk(folder: Path, revision: str = REVISION) -> Path:
    """Make the folders of an NDK in a folder, and return the NDK."""
    ndk = folder / "android-ndk"
    clang = ndk / CLANG
    clang.parent.mkdir(parents=True)
    properties = f"Pkg.Desc = Android NDK\nPkg.Revision = {revision}\n"
    (ndk / "source.properties").write_text(properties)
    zig = toolchains.find("zig", ABIS["x64"]).command[0]
    is_unified = not revision.startswith("18.")
    sysroot = clang.parent.parent / "sysroot"
    resources = clang.parent.parent / "lib/clang/18"
    resources.mkdir(parents=True)
    (resources / "include").symlink_to(Path(zig).parent / "lib/include")
    own = [f"-resource-dir={resources}", f"-B{clang.parent}", _AS_BIONIC]
    own += [f"--sysroot={sysroot}"] if is_unified else []
    for name, words in {
        "clang": ("clang", *own),
        "clang++": ("clang", "--driver-mode=g++", *own),
        "llvm-ar": ("ar",),
        "ld.lld": ("ld.lld",),
    }.items():
        program = clang.with_name(name)
        program.write_text(f'#!/bin/sh\nexec {shlex.join([zig, *words])} "$@"\n')
        program.chmod(0o755)
    for abi in ANDROID_ABIS.values():
        headers = (sysroot if is_unified else ndk / "sysroot") / "usr/include"
        libraries = sysroot / "usr/lib" / folder_name(abi) / str(ANDROID_API)
        if not is_unified:
            processor = "arm64" if abi.processor == "aarch64" else "arm"
            libraries = ndk / f"platforms/android-{ANDROID_API}/arch-{processor}/usr/lib"
        _link_headers(headers, abi, Path(zig).parent / "lib/libc/include")
        _build_libraries(libraries, resources / "lib/linux", abi, clang)
    return ndk


def _link_headers(folder: Path, abi: Abi, of_zig: Path) -> None:
    """Fill a folder with links to headers, and its folder of an ABI."""
    is_64_bit = abi.processor == "aarch64"
    if bionic := os.environ.get("BIONIC_HEADERS"):
        own = Path(bionic, "kernel/uapi", "asm-arm64" if is_64_bit else "asm-arm")
        common = [Path(bionic, each) for each in ("include", "kernel/uapi", "kernel/android/uapi")]
    else:
        own = of_zig / ("aarch64-linux-musl" if is_64_bit else "arm-linux-musl")
        common = [of_zig / "generic-musl"]
    if not folder.exists():
        for place in common:
            shutil.copytree(place, folder, copy_function=os.symlink, dirs_exist_ok=True)
        if not bionic:
            text = (folder / "time.h").read_text()
            (folder / "time.h").unlink()
            (folder / "time.h").write_text(text.replace(_YOUNGER, f"{_YOUNGER}_of_29"))
    (folder / folder_name(abi)).symlink_to(own)


def _build_libraries(folder: Path, of_compiler: Path, abi: Abi, clang: Path) -> None:
    """Build libraries for linking, whose functions do nothing."""
    folder.mkdir(parents=True)
    of_compiler.mkdir(exist_ok=True, parents=True)
    target = f"--target={abi.triple}{ANDROID_API}"
    command = [str(clang), target, *abi.ndk_flags, "-w", "-fno-builtin"]
    command += ["-fno-unwind-tables", "-fno-asynchronous-unwind-tables", "-fPIC", "-nostdlib"]

    def build(output: Path, names: str, *kind: str) -> Path:
        source = output.with_suffix(".c")
        source.write_text("".join(f"void {name}(void) {{}}\n" for name in names.split()))
        subprocess.run([*command, *kind, source, "-o", output], check=True)
        return output

    versions = folder / "versions"
    versions.write_text("LIBC { global: *; };\n")
    for library, names in _LIBRARIES.items():
        exports = f"-Wl,--version-script={versions}"
        build(folder / library, names, "-shared", f"-Wl,-soname,{library}", exports)
    for name in ("crtbegin_so.o", "crtend_so.o"):
        build(folder / name, "", "-c")
    processor = "aarch64" if abi.processor == "aarch64" else "arm"
    archives = {
        of_compiler / f"libclang_rt.builtins-{processor}-android.a": _BUILTINS,
        folder / "libunwind.a": "",
    }
    for archive, names in archives.items():
        made = build(archive.with_suffix(".o"), names, "-c", "-fvisibility=hidden")
        subprocess.run([clang.with_name("llvm-ar"), "rcsD", archive, made], check=True)
