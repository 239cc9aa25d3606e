"""The ABIs that libraries are compiled for: processor, C library and its version."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Abi:
    """An ABI: processor, C library and its version. All differences between ABIs are here.

    Those of Android have bionic for a C library, and the NDK's clang for a compiler. The attributes
    about glibc, zig and GCC are empty there; ndk_flags are empty elsewhere.

    Attributes:
        name: its name in `build/` and messages, such as `aarch64`.
        triple: the GNU triple of the ABI, without a version of the C library.
        elf: its elf.Library.architecture: the machine by its name in the ELF standard, word size,
            byte order and, if there are several, the calling convention.
        gnu_processors: a regular expression for the first words of GNU triples of its processor.
        loader: glibc's loader, which defines __tls_get_addr for _Thread_local variables.
        glibc_ceiling: the newest glibc version that the library may require; devices are old.
        zig_cpu: `-mcpu` of zig: the oldest core of this ABI on which the library has to run.
        gnu_flags: the same for GCC.
        zig_compact: zig's flags for the more compact instructions of the ABI; not for linking.
        gnu_compact: the same for GCC.
        flushed_dtypes: the dtypes of floats whose subnormals its vectors replace by zeros.
        ndk_flags: the processor's flags for the clang of Android's NDK.
        page_size: the largest pages of its systems, if a library has to be linked for them.
    """

    name: str
    triple: str
    elf: str
    gnu_processors: str = ""
    loader: str = ""
    glibc_ceiling: str = ""
    zig_cpu: str = ""
    gnu_flags: tuple[str, ...] = ()
    zig_compact: tuple[str, ...] = ()
    gnu_compact: tuple[str, ...] = ()
    flushed_dtypes: tuple[str, ...] = ()
    ndk_flags: tuple[str, ...] = ()
    page_size: int = 0

    @property
    def processor(self) -> str:
        """The first word of the triple, by which Linux, GCC and qemu name the processor."""
        return self.triple.partition("-")[0]


ABIS: dict[str, Abi] = {
    abi.name: abi
    for abi in (
        Abi(
            name="x64",
            triple="x86_64-linux-gnu",
            elf="EM_X86_64 64-bit little-endian",
            gnu_processors="x86_64",
            loader="ld-linux-x86-64.so.2",
            glibc_ceiling="2.17",
            zig_cpu="x86_64",
            gnu_flags=("-march=x86-64",),
        ),
        Abi(
            name="aarch64",
            triple="aarch64-linux-gnu",
            elf="EM_AARCH64 64-bit little-endian",
            gnu_processors="aarch64|arm64",
            loader="ld-linux-aarch64.so.1",
            glibc_ceiling="2.17",
            zig_cpu="cortex_a35",
            gnu_flags=("-march=armv8-a", "-mtune=cortex-a35"),
        ),
        Abi(
            name="armhf",
            triple="arm-linux-gnueabihf",
            elf="EM_ARM 32-bit little-endian EABI5 hard-float",
            gnu_processors="arm(?!64).*",
            loader="ld-linux-armhf.so.3",
            glibc_ceiling="2.17",
            zig_cpu="cortex_a7",
            gnu_flags=(
                *("-mcpu=cortex-a7", "-mfpu=neon-vfpv4"),
                *("-mfloat-abi=hard", "-mfp16-format=ieee"),
            ),
            zig_compact=("-mcpu=cortex_a7+thumb_mode",),
            gnu_compact=("-mthumb",),
            flushed_dtypes=("float32",),  # NEON, which loops use after OPKIT_VECTORIZE
        ),
        Abi(
            name="riscv64",
            triple="riscv64-linux-gnu",
            elf="EM_RISCV 64-bit little-endian",
            gnu_processors="riscv64",
            loader="ld-linux-riscv64-lp64d.so.1",
            glibc_ceiling="2.27",  # the first with this ABI
            zig_cpu="baseline_rv64",
            gnu_flags=("-march=rv64gc", "-mabi=lp64d"),
        ),
    )
}
"""Name -> ABI of Linux, in the order in which they are listed."""

ANDROID_API = 24
"""The API level that libraries are linked for: that of Android 7. Later systems load them, too."""

ANDROID_ABIS: dict[str, Abi] = {
    abi.name: abi
    for abi in (
        Abi(
            name="arm64-v8a",
            triple="aarch64-linux-android",
            elf="EM_AARCH64 64-bit little-endian",
            # The macro: no header defines a page size.
            ndk_flags=("-mcpu=cortex-a35", "-D__BIONIC_NO_PAGE_SIZE_MACRO"),
            page_size=16 << 10,
        ),
        Abi(
            name="armeabi-v7a",  # systems with larger pages run no 32-bit programs
            triple="armv7a-linux-androideabi",
            elf="EM_ARM 32-bit little-endian EABI5 soft-float",  # of calls; it has a VFP
            ndk_flags=("-mcpu=cortex-a7", "-mfpu=neon-vfpv4", "-mfloat-abi=softfp", "-mthumb"),
        ),
    )
}
"""Name -> ABI of Android, in the order in which they are listed."""

EVERY_ABI = {**ABIS, **ANDROID_ABIS}
"""Name -> ABI."""
