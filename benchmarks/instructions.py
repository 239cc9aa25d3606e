"""Instructions that a program executes, counted by qemu."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Block:
    """A sequence of instructions that runs from its begin to its end.

    Attributes:
        addresses: of the instructions.
        executions: how often it ran.
    """

    addresses: tuple[int, ...]
    executions: int


def executed(
    command: Sequence[str], program: Path, arguments: Sequence[str], log: Path
) -> list[Block] | None:
    """Return the blocks of one call, or None if qemu fails.

    They are the difference of two runs: one with one call, and one with two.

    Args:
        command: of qemu.
        program: the program; its last argument is the count of calls.
        arguments: its other arguments.
        log: a file for qemu.
    """
    runs = []
    for calls in ("1", "2"):
        logging = ["-d", "nochain,exec,in_asm", "-D", str(log)]
        run = subprocess.run(
            [*command, *logging, program, *arguments, calls],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        if run.returncode != 0:
            return None
        with log.open() as lines:
            runs.append(blocks(lines))
    once = {block.addresses: block.executions for block in runs[0]}
    return [
        Block(block.addresses, block.executions - once.get(block.addresses, 0))
        for block in runs[1]
        if block.executions > once.get(block.addresses, 0)
    ]


def blocks(log: Iterable[str]) -> list[Block]:
    """Return the executed blocks in a log of qemu.

    The log lists each block at its translation, `0xADDRESS: ...` on each line. Each execution of
    the block is a line that begins with `Trace` and has its address in brackets.
    """
    addresses: dict[int, list[int]] = {}
    executions: Counter[int] = Counter()
    listed: list[int] = []
    for line in log:
        if line.startswith("IN:"):
            listed = []
        elif line.startswith("0x"):
            listed.append(int(line.partition(":")[0], 16))
            addresses[listed[0]] = listed
        elif line.startswith("Trace"):
            executions[int(line.split("/")[1], 16)] += 1
    return [Block(tuple(addresses[start]), count) for start, count in executions.items()]


def total(executed_blocks: Iterable[Block]) -> int:
    """Return the count of executed instructions."""
    return sum(len(block.addresses) * block.executions for block in executed_blocks)
