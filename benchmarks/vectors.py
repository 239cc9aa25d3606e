"""Hide vectors of this processor from other libraries, to compare with them on equal terms.

Ours are limited by flags of the compiler.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import tempfile
from pathlib import Path

from benchmarks.programs import compile_c

_SOURCE = Path(__file__).with_suffix(".c")
_REGISTERS = ("eax", "ebx", "ecx", "edx")

_AMX = {(0, "edx"): (22, 24, 25), (1, "eax"): (21,)}
_AVX512 = {
    (0, "ebx"): (16, 17, 21, 26, 27, 28, 30, 31),
    (0, "ecx"): (1, 6, 11, 12, 14),
    (0, "edx"): (2, 3, 8, 23),
    (1, "eax"): (5,),
}
_YOUNGER_AVX = {(1, "eax"): (4, 23), (1, "edx"): (4, 5, 10)}
"""Vectors of 256 bits that came after AVX-512: AVX-VNNI, AVX-IFMA and their like."""

HIDDEN = {"AVX2": (_AMX, _AVX512, _YOUNGER_AVX), "AVX-512": (_AMX,), "native": ()}
"""The widest that is seen -> what is hidden: (part of cpuid's leaf 7, register) -> bits, as in
Intel's Software Developer's Manual, volume 2, CPUID."""

FLAGS = {
    "SSE2": ["-DOPKIT_BASELINE"],
    "AVX2": ["-DOPKIT_NO_AVX512"],
    "AVX-512": list[str](),
    "native": list[str](),
}
"""The widest -> flags for a kernel of ours."""


def add_option(parser: argparse.ArgumentParser) -> None:
    """Add `--vectors`, by default what nearly all PCs have."""
    parser.add_argument(
        "--vectors", choices=HIDDEN, default="AVX2", help="the widest that all may take"
    )


def environment(widest: str, folder: Path) -> dict[str, str]:
    """Build the library that hides what is beyond the widest.

    Returns:
        The environment variables of a program on x86-64 that loads it.
    """
    masks = dict.fromkeys(((part, register) for part in (0, 1) for register in _REGISTERS), 0)
    for bits in HIDDEN[widest]:
        for place, each in bits.items():
            masks[place] |= sum(1 << bit for bit in each)
    library = folder / "vectors.so"
    compile_c("x64", "-O2", "-fPIC", "-shared", str(_SOURCE), "-o", str(library))
    hidden = "".join(f"{mask} " for mask in masks.values())
    return {"LD_PRELOAD": str(library), "HIDDEN_FROM_CPUID": hidden}


def hide(widest: str) -> None:
    """Hide what is beyond the widest from this process, but not from those that it starts.

    Libraries see it if they are loaded later. The process ends if the processor or Linux cannot.
    """
    if not HIDDEN[widest]:
        return
    with tempfile.TemporaryDirectory() as folder:
        variables = environment(widest, Path(folder))
        os.environ |= {"HIDDEN_FROM_CPUID": variables["HIDDEN_FROM_CPUID"]}
        ctypes.CDLL(variables["LD_PRELOAD"])
