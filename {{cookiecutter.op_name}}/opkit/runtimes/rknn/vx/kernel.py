"""The VX kernel of an operator, launched on this PC as its initializer says.

The initializer in the .c file runs on the host runtime. What it sets, the work items, the uniforms
and the border, is what the emulator gets together with the .vx file.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from opkit.check.comparison import first_difference
from opkit.check.invocation import Border, Call, Outcome, delivered
from opkit.description.spec import OpSpec
from opkit.errors import OpkitError
from opkit.runtimes.rknn.host import HostKernel
from opkit.runtimes.rknn.kernels import unwritten_vx_kernel
from opkit.runtimes.rknn.skeletons import vx_file
from opkit.runtimes.rknn.vx.compiler import Program, compile_vx
from opkit.runtimes.rknn.vx.runner import PAST_END, VxOutcome, run_vx, write_job

# Events that a kernel may cause, as long as its results do not depend on them: rows need not be a
# multiple of what a work item handles, and what is read outside of a tensor may be thrown away.
HARMLESS = frozenset({*PAST_END, "read outside"})

POISON = Border()
_DEBUGGED_LIMIT = 10**6  # seconds


def compiled(root: Path, spec: OpSpec, debug: bool = False) -> Program:
    """Compile the .vx file of a repository for this PC, or take it from the cache.

    Raises:
        OpkitError: it does not compile; the message has the compiler's, with the file's own lines.
    """
    return compile_vx(root / vx_file(spec), root / "build" / "vx", debug=debug)


class EmulatedKernel:
    """The VX kernel of an operator's repository, in the emulator. It is a Runner.

    Args:
        spec: the operator description.
        root: the repository, built with `scons target=x64`.
        border: what reads outside of a tensor give where the initializer sets no border of its
            own. The poison differs from run to run.
    """

    def __init__(self, spec: OpSpec, root: Path, border: Border = POISON) -> None:
        self.spec = spec
        self.root = root
        self.border = border
        self.runtime = root / "build" / "host" / "vx_runtime"

    @cached_property
    def program(self) -> Program:
        """The compiled .vx file."""
        return compiled(self.root, self.spec)

    @cached_property
    def initializer(self) -> HostKernel:
        """What validates and initializes the kernel."""
        build = self.root / "build"
        return HostKernel(
            self.spec,
            build / "x64" / f"lib{self.spec.lower}.so",
            build / "host" / "libOpenVX.so",
            index=1,
            uniforms=variables(self.program.library),
        )

    @property
    def advice(self) -> str:
        """What a case that fails says besides: that nobody has written the kernel yet."""
        path = self.root / vx_file(self.spec)
        return unwritten_vx_kernel(self.spec, path.read_text(encoding="utf-8", errors="replace"))

    def run(
        self, call: Call, fill: int | None = None, repeat: int = 1, limit: float = 10
    ) -> Outcome:
        """Run the kernel; see Runner. The time that an emulator takes is not told.

        With `fill` the work items run in both orders, one of them with another fill. The outputs
        must not differ.
        """
        outcome = self.initializer.run(call, fill, limit=limit)
        outcome.outputs = {}
        outcome.seconds = math.inf
        if outcome.status != 0 or outcome.fault or outcome.launch is None:
            return outcome
        try:
            result = self._emulate(call, outcome, fill or 0, False, limit)
            outcome.outputs = result.outputs
            outcome.fault = result.fault
            outcome.events += problems(result)
            if fill is not None and not outcome.fault and not outcome.events:
                self._compare(call, outcome, result, fill, limit)
        except OpkitError as error:
            outcome.fault = str(error)
        return outcome

    def _compare(
        self, call: Call, outcome: Outcome, result: VxOutcome, fill: int, limit: float
    ) -> None:
        """Run again, in reverse order and with another fill; say on what the outputs depend."""
        other = fill ^ 0x42
        again = self._emulate(call, outcome, other, True, limit)
        outcome.fault = again.fault
        outcome.events += problems(again)
        if again.fault or not first_difference(result.outputs, again.outputs):
            return
        # One of the two is the cause: which one, a third run tells.
        forward = self._emulate(call, outcome, other, False, limit)
        difference = first_difference(result.outputs, forward.outputs)
        cause = "what lies outside of the tensors, or on memory that nobody set"
        if difference is None:
            difference = first_difference(forward.outputs, again.outputs)
            cause = "the order in which the work items run; is a barrier missing?"
        element, count = difference or ("", 0)
        more = f" (and {count - 1} more)" if count > 1 else ""
        lines = [f"output element {element}{more} depends on {cause}", *map(str, result.events)]
        outcome.fault = "\n".join(lines)

    def gdb_command(self, call: Call, folder: Path) -> list[str]:
        """Return the gdb command that stops at the kernel's first line.

        Args:
            call: what the kernel is called with.
            folder: where what gdb needs is written.

        Raises:
            OpkitError: the kernel does not compile, its initializer fails, or the launch is wrong.
        """
        outcome = self.initializer.run(call)
        if outcome.status != 0 or outcome.fault or outcome.launch is None:
            lines = outcome.log or [outcome.fault or f"{outcome.stage} fails"]
            raise OpkitError("the kernel is not launched: " + "; ".join(lines))
        folder.mkdir(parents=True, exist_ok=True)
        program = compiled(self.root, self.spec, debug=True)
        data, script, job = folder / "data", folder / "job.gdb", folder / "job"
        data.write_bytes(b"")
        arguments = self._arguments(call)
        text = write_job(
            *(program, self.function, outcome.launch, *arguments, data),
            uniforms=outcome.uniforms,
            border=outcome.border or self.border,
            limit=_DEBUGGED_LIMIT,
        ).text
        job.write_text(text, encoding="utf-8")
        # With its file's name, because a kernel may be called like a function of the C library.
        place = f"{program.source.name}:{self.function}"
        script.write_text(
            f"set breakpoint pending on\nset confirm off\nbreak {place}\n"
            f"run < {shlex.quote(str(job))}\n",
            encoding="utf-8",
        )
        return ["gdb", "-q", "-x", str(script), str(self.runtime.absolute())]

    def _arguments(self, call: Call) -> tuple[Any, Any, Any]:
        return (
            {tensor.name: call.inputs[tensor.name] for tensor in self.spec.inputs},
            {tensor.name: call.outputs[tensor.name] for tensor in self.spec.outputs},
            [delivered(param, call.params[param.name]) for param in self.spec.params],
        )

    def _emulate(
        self, call: Call, outcome: Outcome, fill: int, reverse: bool, limit: float
    ) -> VxOutcome:
        assert outcome.launch is not None
        return run_vx(
            self.program,
            self.function,
            outcome.launch,
            *self._arguments(call),
            runtime=self.runtime,
            uniforms=outcome.uniforms,
            border=replace(outcome.border or self.border, fill=fill * 0x01010101),
            reverse=reverse,
            limit=limit,
        )

    @cached_property
    def function(self) -> str:
        """The function that the board would take for the kernel.

        Raises:
            OpkitError: there is none, or another one than the kernel's name says.
        """
        name = function_of(self.initializer.description.name.decode())
        names = list(self.program.kernels)
        # The board compares as many characters as the name has, and takes the first that is equal.
        first = next((each for each in names if each.startswith(name)), None)
        if first is None:
            raise OpkitError(
                f"{self.program.source.name} has no kernel '{name}', which is the name in "
                f"vx_kernel_description; it has: {', '.join(names)}"
            )
        if first != name:
            raise OpkitError(
                f"{self.program.source.name}: the board would run '{first}' for '{name}', because "
                "it takes the first kernel whose name begins so; rename it"
            )
        return name


def function_of(name: str) -> str:
    """Return the function that a kernel's name in the .c file stands for."""
    _, dot, rest = name.rpartition(".")
    function, colon, _ = rest.partition(":")
    return function if dot and colon else name


def problems(result: VxOutcome) -> list[str]:
    """Return what is wrong with a run in the emulator, besides its outputs and its fault."""
    return list(_problems(result))


def _problems(result: VxOutcome) -> Iterator[str]:
    for name, (count, first) in result.unwritten.items():
        element = f"{name}[{', '.join(map(str, first))}]"
        more = f", nor {count - 1} more: does the launch reach them?" if count > 1 else ""
        yield f"nobody wrote output element {element}{more}"
    yield from result.undefined
    for event in result.events:
        if event.kind not in HARMLESS:
            yield str(event)


@cache
def variables(library: Path) -> Mapping[str, int]:
    """Return the global variables of a compiled kernel and their sizes in bytes.

    The initializer can set them: _viv_uniform variables, of which those are found here that only a
    function of the kernel uses.
    """
    from elftools.elf.elffile import ELFFile

    with library.open("rb") as file:
        section: Any = ELFFile(file).get_section_by_name(".dynsym")
        return {
            symbol.name: symbol["st_size"]
            for symbol in section.iter_symbols()
            if symbol["st_info"]["type"] == "STT_OBJECT" and symbol["st_shndx"] != "SHN_UNDEF"
        }
