"""Cycles of a program's call on the boards' processors: qemu counts, llvm-mca times.

qemu tells how often each block of instructions ran, llvm-mca how many cycles a block takes that is
repeated, with all data in the first cache. Their products are added.
"""

from __future__ import annotations

import re
import shutil
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from benchmarks.instructions import Block
from benchmarks.programs import run

_ITERATIONS = 200
_SHARE = 0.005  # of the executed instructions: rarer blocks count one cycle per instruction


@dataclass(frozen=True)
class Processor:
    """A processor and its model in LLVM.

    Attributes:
        name: as in boards' data sheets.
        abi: its ABI.
        model: LLVM's name of the processor with the timing model.
        arguments: for llvm-mca.
        has_halves: whether it has arithmetic of halves.
    """

    name: str
    abi: str
    model: str
    arguments: tuple[str, ...]
    has_halves: bool = False


PROCESSORS = (
    Processor(
        *("cortex-a7", "armhf", "cortex-a9"),
        # LLVM has no model of cortex-a7 that llvm-mca reads. krait has its instructions, and the
        # model of cortex-a9.
        ("-mtriple=armv7-linux-gnueabihf", "-mcpu=krait", "-mattr=+neon,+vfp4,+fp16"),
    ),
    Processor("cortex-a35", "aarch64", "cortex-a53", ("-mtriple=aarch64", "-mcpu=cortex-a53")),
    Processor(
        "cortex-a55", "aarch64", "cortex-a55", ("-mtriple=aarch64", "-mcpu=cortex-a55"), True
    ),
    # The server's variant of the core: cortex-a76 itself has an older model in LLVM.
    Processor(
        *("cortex-a76", "aarch64", "neoverse-n1", ("-mtriple=aarch64", "-mcpu=neoverse-n1"), True)
    ),
)


def program(name: str) -> str | None:
    """Return a program of LLVM 19 or later, the newest on PATH, or None."""
    versioned = [f"{name}-{version}" for version in range(30, 18, -1)]
    return next(filter(None, map(shutil.which, versioned)), None)


def cycles(
    path: Path,
    blocks: Iterable[Block],
    processor: Processor,
    text: Mapping[int, str] | None = None,
) -> float | None:
    """Return the cycles of one call, or None without LLVM's programs.

    Args:
        path: the program that ran.
        blocks: the executed blocks.
        processor: the processor.
        text: address -> instruction, for a program with shared libraries; None: the program's.
    """
    mca, objdump = program("llvm-mca"), program("llvm-objdump")
    if mca is None or objdump is None:
        return None
    blocks = list(blocks)
    executed = sum(len(block.addresses) * block.executions for block in blocks)
    hot = [b for b in blocks if len(b.addresses) * b.executions >= _SHARE * executed]
    rest = executed - sum(len(block.addresses) * block.executions for block in hot)
    text = _disassembly(objdump, path) if text is None else text
    is_thumb = _thumb_code(path) if processor.abi == "armhf" else []
    regions = []
    for index, block in enumerate(hot):
        mode = "" if processor.abi != "armhf" else _mode(is_thumb, block.addresses[0])
        # qemu's own list goes astray after instructions that it cannot name.
        listed = range(block.addresses[0], block.addresses[-1] + 1)
        body = "\n".join(text[address] for address in listed if address in text)
        regions.append(f"# LLVM-MCA-BEGIN {index}\n{mode}{body}\n# LLVM-MCA-END {index}\n")
    # The model of cortex-a9 has no `it`, which takes no time of a processor's units.
    options = [f"-iterations={_ITERATIONS}", "-skip-unsupported-instructions=lack-sched"]
    printed = run([mca, *processor.arguments, *options], text="\n".join(regions))
    counted = [int(found) for found in re.findall(r"^Total Cycles:\s+(\d+)", printed, re.M)]
    assert len(counted) == len(hot), printed
    pairs = zip(hot, counted, strict=True)
    return rest + sum(block.executions * total / _ITERATIONS for block, total in pairs)


def logged(log: Path) -> dict[int, str]:
    """Return address -> instruction of 64-bit ARM, in a log of qemu that lists its translations."""
    with log.open() as file:
        listed = (re.match(r"0x([0-9a-f]+):  ([0-9a-f]{8})  ", line) for line in file)
        words = {int(found[1], 16): found[2] for found in listed if found}
    assembler = program("llvm-mc")
    assert assembler is not None
    octets = {word: bytes.fromhex(word)[::-1] for word in {*words.values()}}
    text = "\n".join(" ".join(f"0x{octet:02x}" for octet in each) for each in octets.values())
    # A line for each word: all instructions ran, so all are valid.
    printed = run([assembler, "-disassemble", "-triple=aarch64", "-mattr=+all"], text=text)
    lines = [line for line in printed.splitlines() if line.startswith("\t") and ".text" not in line]
    instructions = dict(zip(octets, lines, strict=True))
    return {address: instructions[word] for address, word in words.items()}


def _disassembly(objdump: str, path: Path) -> dict[int, str]:
    """Return address -> instruction, in the assembler's syntax."""
    printed = run([objdump, "-d", "--no-show-raw-insn", str(path)])
    found = re.findall(r"^\s*([0-9a-f]+):\s+(.*)$", printed, re.MULTILINE)
    return {int(address, 16): f"\t{_assembler(text)}" for address, text in found}


def _assembler(listed: str) -> str:
    """Return an instruction without comments; the target of a jump is the instruction itself."""
    text = re.sub(r"\s*(//|@|<).*", "", listed)
    return re.sub(r"(?<![#\w])0x[0-9a-f]+$", ".", text)


def _thumb_code(path: Path) -> list[tuple[int, bool]]:
    """Return the sorted addresses where code of 32-bit ARM begins, and whether it is Thumb."""
    with path.open("rb") as file:
        symbols = ELFFile(file).get_section_by_name(".symtab")
        assert isinstance(symbols, SymbolTableSection)
        marks = [(s["st_value"], s.name[:2]) for s in symbols.iter_symbols()]
    return sorted((address, mark == "$t") for address, mark in marks if mark in ("$a", "$t"))


def _mode(is_thumb: list[tuple[int, bool]], address: int) -> str:
    index = bisect_right(is_thumb, (address, True)) - 1
    return "\t.thumb\n" if index >= 0 and is_thumb[index][1] else "\t.arm\n"
