"""The ABIs that libraries are compiled for: processor, C library and its version."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Abi:
    """What a device library is compiled for.

    Attributes:
        name: `x64`, `aarch64` or `armhf`.
        triple: the GNU triple of the ABI, without a glibc version.
        glibc_ceiling: the newest glibc version that the library may ask for; boards are old.
        zig_cpu: `-mcpu` of zig: the oldest core of this ABI on which the library has to run.
        gnu_flags: the same for GCC.
        machine: the name of the ELF machine, as pyelftools writes it.
        zig_compact: what makes zig compile (not link) to the ABI's more compact instructions.
        gnu_compact: the same for GCC.
    """

    name: str
    triple: str
    glibc_ceiling: str
    zig_cpu: str
    gnu_flags: tuple[str, ...]
    machine: str
    zig_compact: tuple[str, ...] = ()
    gnu_compact: tuple[str, ...] = ()


ABIS: dict[str, Abi] = {
    abi.name: abi
    for abi in (
        Abi("x64", "x86_64-linux-gnu", "2.17", "x86_64", ("-march=x86-64",), "EM_X86_64"),
        Abi(
            "aarch64",
            "aarch64-linux-gnu",
            "2.17",
            "cortex_a35",
            ("-march=armv8-a", "-mtune=cortex-a35"),
            "EM_AARCH64",
        ),
        Abi(
            "armhf",
            "arm-linux-gnueabihf",
            "2.17",
            "cortex_a7",
            ("-mcpu=cortex-a7", "-mfpu=neon-vfpv4", "-mfloat-abi=hard", "-mfp16-format=ieee"),
            "EM_ARM",
            zig_compact=("-mcpu=cortex_a7+thumb_mode",),
            gnu_compact=("-mthumb",),
        ),
    )
}
"""Every package carries a device library for each of these, in this order."""
