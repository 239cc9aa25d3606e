"""Compute the cycles per element on the boards' processors, by llvm-mca."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from benchmarks.kernels.programs import INCLUDE, compile_c, run

# isort: split
from opkit.build.compile_environment import COMPILE
from opkit.toolchains.flags import EXACT, optimization

_ITERATIONS = 1000
_LOOPS = {"half to float": "opkit_halves_to_floats", "float to half": "opkit_floats_to_halves"}


@dataclass(frozen=True)
class Processor:
    """A processor and its model in LLVM.

    Attributes:
        name: as in boards' data sheets.
        abi: its ABI.
        model: LLVM's name of the timing model.
        arguments: for llvm-mca.
    """

    name: str
    abi: str
    model: str
    arguments: tuple[str, ...]


PROCESSORS = (
    Processor("cortex-a35", "aarch64", "cortex-a53", ("-mtriple=aarch64", "-mcpu=cortex-a35")),
    # LLVM has no model of cortex-a7 that llvm-mca can read. krait has the same instructions and
    # the model of cortex-a9, whose NEON takes instructions in order, too, and is as wide: 64 bits.
    Processor(
        *("cortex-a7", "armhf", "cortex-a9"),
        ("-mtriple=armv7-linux-gnueabihf", "-mcpu=krait", "-mattr=+neon,+vfp4,+fp16"),
    ),
)


def program() -> str | None:
    """Return llvm-mca, or llvm-mca-NN of the highest version, or None."""
    versioned = [f"llvm-mca-{version}" for version in range(30, 10, -1)]
    return next(filter(None, map(shutil.which, ["llvm-mca", *versioned])), None)


def version(mca: str) -> str:
    """Return the version of LLVM."""
    found = re.search(r"LLVM version \S+", run([mca, "--version"]))
    return found.group() if found else mca


def cycles_per_element(mca: str, processor: Processor, folder: Path) -> dict[str, float]:
    """Return conversion -> cycles per element, with all data in the first cache."""
    source, assembly = folder / "conversions.c", folder / f"{processor.name}.s"
    source.write_text(
        '#include "opkit/compute/half.h"\n'
        "void *const conversions[] = {(void *)opkit_halves_to_floats,"
        " (void *)opkit_floats_to_halves};\n"
    )
    flags = (*optimization(processor.abi, "zig"), *EXACT, *COMPILE)
    compile_c(processor.abi, *flags, "-S", f"-I{INCLUDE}", "-o", str(assembly), str(source))
    cycles = {}
    for conversion, function in _LOOPS.items():
        body, elements = hot_loop(assembly.read_text(), function)
        command = [mca, *processor.arguments, f"-iterations={_ITERATIONS}"]
        printed = run(command, text=body)
        # llvm-mca skips unknown instructions.
        known, total = (_count(name, printed) for name in ("Instructions", "Total Cycles"))
        assert known == _ITERATIONS * len(re.findall(r"^\s", body, re.MULTILINE)), printed
        cycles[conversion] = total / _ITERATIONS / elements
    return cycles


def _count(name: str, printed: str) -> int:
    found = re.search(rf"^{name}:\s+(\d+)", printed, re.MULTILINE)
    assert found is not None, printed
    return int(found.group(1))


def hot_loop(assembly: str, function: str) -> tuple[str, int]:
    """Return the first loop of a function, and the count of elements that one iteration converts.

    That is the step by which the loop counts down: `sub x2, x2, #8`.
    """
    start = assembly.index(f"\n{function}:")
    end = assembly.index(f".size\t{function}", start)
    lines = assembly[start:end].splitlines()
    for first, line in enumerate(lines):
        label = re.match(r"(\.L\w+):", line)
        back = re.compile(rf"\s+b\S*\s+{re.escape(label.group(1))}\b") if label else None
        last = next((i for i in range(first, len(lines)) if back and back.match(lines[i])), None)
        if last is not None:
            body = "\n".join(lines[first : last + 1]) + "\n"
            step = re.search(r"\bsubs?\s+\w+, \w+, #(\d+)", body)
            assert step is not None, f"{function}: nothing counts down in\n{body}"
            return body, int(step.group(1))
    raise AssertionError(f"{function} has no loop")
