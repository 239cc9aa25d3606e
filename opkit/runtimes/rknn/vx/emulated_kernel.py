"""The VX kernel of an operator, launched on this PC with the settings of its initializer.

The initializer in the .c file runs on the host runtime. The work items, the uniforms and the
border that it sets go to the emulator, together with the .vx file.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Set
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from opkit.check.comparison import first_difference
from opkit.check.debug_info import gdb_command
from opkit.check.harness_client import HarnessKernel, batch, marshal_tensors, request
from opkit.common.errors import OpkitError
from opkit.description.spec import OpSpec
from opkit.opencl.clang import FOLDER
from opkit.opencl.pc_compiler import Program
from opkit.runtimes.invocation import (
    AT_FULL_SPEED,
    CallingConvention,
    Invocation,
    RunOptions,
    RunResult,
    Value,
)
from opkit.runtimes.rknn.host_kernels import CONVENTION, HOST, host_kernel
from opkit.runtimes.rknn.kernel_skeletons import vx_file
from opkit.runtimes.rknn.settings import settings
from opkit.runtimes.rknn.vx.compiler import compile_vx
from opkit.runtimes.rknn.vx.launch import (
    BOARDS,
    LENIENT,
    PADDED,
    STRICT,
    Border,
    Launch,
    TensorFormat,
    border_of,
    coverage,
    kernel_name_of,
    launch_of,
    uniforms_of,
)
from opkit.runtimes.rknn.vx.runner import (
    PADDING_WRITE,
    PAST_END,
    WRITE_OUTSIDE,
    Emulator,
    VxRunResult,
    emulator,
)
from opkit.runtimes.rknn.vx_requirements import unwritten_vx_kernel

# Events that a kernel may cause, as long as its results do not depend on them: the length of a row
# need not be a multiple of a work item's elements, a value from outside of a tensor may be
# discarded, and the vendor's header clamps a slice before a read.
HARMLESS = frozenset({*PAST_END, "read outside", "read of a slice outside", PADDING_WRITE})

# The effect of a write outside of its tensor, except by padding work items: it fails the case, or
# it is dropped, as by the hardware.
WRITES_OUTSIDE = ("failure", "dropped")

POISON = Border()
_DEBUG_TIMEOUT = 10**6  # seconds


def compiled(
    root: Path, spec: OpSpec, debug: bool = False, kernels: Collection[str] | None = None
) -> Program:
    """Compile the .vx file of a repository for this PC, or take it from the cache.

    Raises:
        OpkitError: the file does not compile; the message has the compiler's errors, with lines of
            the file.
    """
    return compile_vx(
        root / vx_file(spec),
        root / FOLDER,
        debug=debug,
        vx_version=settings(spec).vx_version,
        kernels=kernels,
    )


class EmulatedKernel:
    """The VX kernel of an operator's repository, in the emulator; implements Kernel.

    Args:
        spec: the operator description.
        root: the repository, built with `scons target=x64`.
        border: the value of reads outside of a tensor if the initializer sets no border. The
            poison differs from run to run.
        writes_outside: one of WRITES_OUTSIDE.
        formats: name of a tensor -> its attributes for vxQueryTensor.
        board: one of BOARDS.

    Raises:
        OpkitError: an argument is invalid.
    """

    convention: ClassVar[CallingConvention] = CONVENTION
    keeps_state = False  # each launch has a process of its own

    def __init__(
        self,
        spec: OpSpec,
        root: Path,
        border: Border = POISON,
        writes_outside: str = WRITES_OUTSIDE[0],
        formats: Mapping[str, TensorFormat] = MappingProxyType({}),
        board: str = STRICT,
    ) -> None:
        if board not in BOARDS:
            raise OpkitError(f"unknown board '{board}' (expected {', '.join(BOARDS)})")
        if writes_outside not in WRITES_OUTSIDE:
            allowed = ", ".join(WRITES_OUTSIDE)
            raise OpkitError(f"unknown writes_outside '{writes_outside}' (expected {allowed})")
        tensors = [tensor.name for tensor in (*spec.inputs, *spec.outputs)]
        for name in formats:
            if name not in tensors:
                known = ", ".join(tensors)
                raise OpkitError(
                    f"formats has '{name}', which is not a tensor; op.yml has: {known}"
                )
        self.spec = spec
        self.root = root
        self.border = border
        self.board = board
        self.harmless = (
            HARMLESS
            | ({WRITE_OUTSIDE} if writes_outside == "dropped" else set())
            | (PADDED if board == LENIENT else set())
        )
        self.formats = formats
        self.runtime = root / HOST / "vx_runtime.so"
        self._emulators: dict[str, Emulator] = {}

    @cached_property
    def program(self) -> Program:
        """The declarations of the .vx file; the library has its variables only."""
        return compiled(self.root, self.spec, kernels=())

    @cached_property
    def initializer(self) -> HarnessKernel:
        """The kernel's validator and initializer."""
        return host_kernel(
            self.spec,
            self.root / HOST / f"lib{self.spec.lower}.so",
            self.root / HOST,
            index=1,
            uniforms=variables(self.program.library),
            formats={name: format_.attachment() for name, format_ in self.formats.items()},
        )

    @property
    def hint(self) -> str:
        """A hint for failing cases: the generated .vx file, or variables that are never set."""
        path = self.root / vx_file(self.spec)
        text = path.read_text(encoding="utf-8", errors="replace")
        return unwritten_vx_kernel(self.spec, text) or "\n".join(self.program.unset)

    def run(self, invocation: Invocation, options: RunOptions = AT_FULL_SPEED) -> RunResult:
        """Run the kernel; see Kernel. The time is not measured.

        With a fill the work items run in both orders, one of them with another fill. The outputs
        must not differ.
        """
        result = self.initializer.run(invocation, replace(options, repeat=1))
        result.outputs = {}
        result.seconds = math.inf
        launch = launch_of(result)
        if result.status != 0 or result.fault or launch is None:
            return result
        try:
            fill, limit = options.fill, options.limit
            first = self._emulate(invocation, result, launch, fill or 0, False, limit)
            result.outputs = first.outputs
            result.notes = notes(first, self.harmless)
            result.coverage = coverage(launch, self.spec, invocation)
            self._merge(result, first)
            if fill is not None and not result.fault and not result.events:
                self._compare(invocation, result, launch, first, fill, limit)
        except OpkitError as error:
            result.fault = str(error)
        return result

    def _merge(self, result: RunResult, emulated: VxRunResult) -> None:
        result.fault = emulated.fault
        result.timed_out = emulated.timed_out
        result.events += problems(emulated, self.harmless)
        if not result.printed.endswith(emulated.printed):
            result.printed = f"{result.printed}\n{emulated.printed}".lstrip("\n")

    def _compare(
        self,
        invocation: Invocation,
        result: RunResult,
        launch: Launch,
        first: VxRunResult,
        fill: int,
        limit: float,
    ) -> None:
        """Run again, in reverse order and with another fill; report differing outputs."""
        other = (fill + 0x82) % 256  # for the first of the usual fills: 0
        again = self._emulate(invocation, result, launch, other, True, limit)
        self._merge(result, again)
        if again.fault or not first_difference(first.outputs, again.outputs):
            return
        # A third run tells which of the two is the cause.
        forward = self._emulate(invocation, result, launch, other, False, limit)
        difference = first_difference(first.outputs, forward.outputs)
        cause = "values outside of the tensors, or on uninitialized memory"
        if difference is None:
            difference = first_difference(forward.outputs, again.outputs)
            cause = "the order in which the work items run; is a barrier missing?"
        element, count = difference or ("", 0)
        more = f" (and {count - 1} more)" if count > 1 else ""
        lines = [f"output element {element}{more} depends on {cause}", *map(str, first.events)]
        result.fault = "\n".join(lines)

    def gdb_command(self, invocation: Invocation, folder: Path) -> list[str]:
        """Return the gdb command that stops at the kernel's first line.

        Args:
            invocation: the kernel's inputs, params and outputs.
            folder: the folder for gdb's script and input.

        Raises:
            OpkitError: the kernel does not compile, its initializer fails, or the launch is wrong.
        """
        result = self.initializer.run(invocation)
        launch = launch_of(result)
        if result.status != 0 or result.fault or launch is None:
            lines = result.log or [result.fault or f"{result.stage} fails"]
            raise OpkitError("the kernel is not launched: " + "; ".join(lines))
        program = compiled(self.root, self.spec, debug=True)
        function = self.function(kernel_name_of(result))
        kernel = emulator(program, function, self.runtime)
        border = border_of(result) or self.border
        tensors, params = self._arguments(invocation)
        arguments = kernel.arguments(
            launch, tensors, params, uniforms_of(result), border, board=self.board
        )
        options = RunOptions(border.fill & 0xFF, limit=_DEBUG_TIMEOUT)
        parts = request(tensors, *arguments, options)
        requested = b"".join([batch(1), *parts])
        # With its file's name, because a kernel may have the name of a function of the C library.
        location = f"{program.source.name}:{function}"
        return gdb_command(kernel.harness.executor.command, requested, location, folder)

    def _arguments(self, invocation: Invocation) -> tuple[Invocation, list[Value]]:
        tensors = marshal_tensors(self.spec, invocation, self.convention.tensor_types)
        return tensors, self.convention.marshal(self.spec.params, invocation.params)

    def _emulate(
        self,
        invocation: Invocation,
        initialized: RunResult,
        launch: Launch,
        fill: int,
        reverse: bool,
        limit: float,
    ) -> VxRunResult:
        function = self.function(kernel_name_of(initialized))
        if function not in self._emulators:  # the .vx file is compiled for this kernel alone
            program = compiled(self.root, self.spec, kernels=(function,))
            self._emulators[function] = emulator(program, function, self.runtime)
        tensors, params = self._arguments(invocation)
        return self._emulators[function].run(
            launch,
            tensors.inputs,
            tensors.outputs,
            params,
            uniforms=uniforms_of(initialized),
            border=replace(border_of(initialized) or self.border, fill=fill * 0x01010101),
            reverse=reverse,
            limit=limit,
            board=self.board,
        )

    def function(self, kernel_name: str) -> str:
        """Return the function that the board would run for the kernel.

        Args:
            kernel_name: the name in the .c file's vx_kernel_description.

        Raises:
            OpkitError: there is no such function, or the board would run another one.
        """
        name = function_of(kernel_name)
        names = list(self.program.kernels)
        # The board takes the first kernel whose name begins with this one.
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
    """Return the function that a kernel's name in the .c file refers to."""
    _, dot, rest = name.rpartition(".")
    function, colon, _ = rest.partition(":")
    return function if dot and colon else name


def problems(result: VxRunResult, harmless: Set[str] = HARMLESS) -> list[str]:
    """Return the errors of a run in the emulator, except for its fault and wrong outputs."""
    found = []
    for name, (count, first) in result.unwritten.items():
        element = f"{name}[{', '.join(map(str, first))}]"
        more = f", nor were {count - 1} more: does the launch reach them?" if count > 1 else ""
        found.append(f"output {element} was never written{more}")
    events = [str(event) for event in result.events if event.kind not in harmless]
    return [*found, *result.undefined, *events]


def notes(result: VxRunResult, harmless: Set[str] = HARMLESS) -> list[str]:
    """Return informational messages about a run: accesses that a board drops or allows."""
    remarks = {
        kind: remark
        for kinds, remark in (
            ((PADDING_WRITE, WRITE_OUTSIDE), "a board drops it"),
            (PADDED, "a board has memory there, which the elements do not fill"),
        )
        for kind in kinds
        if kind in harmless
    }
    events = [f"{each}; {remarks[each.kind]}" for each in result.events if each.kind in remarks]
    return [*events, *filter(None, [result.rounded])]


@cache
def variables(library: Path) -> Mapping[str, int]:
    """Return the global variables of a compiled kernel and their sizes in bytes.

    The initializer can set them. They are the _viv_uniform variables, including the ones that only
    a function of the kernel uses.
    """
    from elftools.elf.elffile import ELFFile

    with library.open("rb") as file:
        section: Any = ELFFile(file).get_section_by_name(".dynsym")
        return {
            symbol.name: symbol["st_size"]
            for symbol in section.iter_symbols()
            if symbol["st_info"]["type"] == "STT_OBJECT" and symbol["st_shndx"] != "SHN_UNDEF"
        }
