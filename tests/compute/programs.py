"""Programs for tests of headers: on machines, and with their flags."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from opkit.toolchains.abi import Abi
from opkit.toolchains.flags import EXACT, optimization
from tests.check.target_repositories import need
from tests.compiling import HOST, build

CHECKED = ("-O0", "-fsanitize=undefined", "-fsanitize-trap=undefined")
VECTORS = {
    "fast": (*optimization("x64", "zig"), *EXACT),
    "plain": ("-O0",),
    "wide": ("-O3", "-mavx2", "-mfma", *EXACT),
}
"""Name -> flags, with which results must have the same bits."""


def programs_of(source: Path, folder: Path) -> dict[str, Path]:
    """Return name in VECTORS -> program."""
    return {name: build(folder / name, *flags, source, "-lm") for name, flags in VECTORS.items()}


@dataclass(frozen=True)
class Machine:
    """A processor on which programs run.

    Attributes:
        abi: its ABI.
        flags: for the compiler, in addition to those for the ABI's oldest processor.
        processor: qemu's name of it; None: any, so this machine's own if it runs the ABI.
    """

    abi: Abi
    flags: tuple[str, ...] = ("-O2",)
    processor: str | None = None

    @property
    def emulator(self) -> list[str]:
        """Return the command that runs a program of the machine, up to the program."""
        if self.abi is HOST and self.processor is None:
            return []
        names = (f"qemu-{self.abi.processor}-static", f"qemu-{self.abi.processor}")
        program = next(filter(None, map(shutil.which, names)), "")
        program = program or need(names[0], "qemu-user-static")
        return [program, *(("-cpu", self.processor) if self.processor else ())]

    def command(self, source: Path, folder: Path) -> list[str]:
        """Build the program of a source; return the command that starts it."""
        emulator = self.emulator
        target = []
        if self.abi is not HOST:
            # Static, so that qemu needs no other file of the foreign system; stripped, so that zig
            # compiles the same C library as for the programs of `scons check`.
            target = [f"--target={self.abi.triple.replace('gnu', 'musl')}", "-static", "-s"]
        program = build(folder / source.stem, *target, *self.flags, source, abi=self.abi)
        return [*emulator, str(program)]
