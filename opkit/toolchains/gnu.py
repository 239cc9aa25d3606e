"""The GCC of the Linux distribution, on PATH."""

from __future__ import annotations

import platform

from opkit.toolchains.abi import Abi
from opkit.toolchains.compiler import Compiler, Missing, Options, described, first_program


def find(abi: Abi, options: Options) -> Compiler | Missing:
    """Return `<triple>-gcc`; on an x86-64 PC, `gcc` is enough for x64."""
    places, package = [f"{abi.triple}-gcc"], f"gcc-{abi.triple.replace('_', '-')}"
    if abi.name == "x64" and platform.machine() == "x86_64":
        places, package = [*places, "gcc"], "gcc"
    program = first_program(places)
    if program is None:
        return Missing("gcc", tuple(map(described, places)), f"sudo apt install {package}")
    return Compiler("gnu", abi.name, (program,), abi.gnu_flags)
