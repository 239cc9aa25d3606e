"""Runs a VX kernel over the work items of a launch, in the harness."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from opkit.check.executors import on_this_pc
from opkit.check.harness_client import Harness
from opkit.common.errors import OpkitError
from opkit.opencl.events import Event, read_log, read_unwritten
from opkit.opencl.pc_compiler import Program
from opkit.opencl.signatures import VxKernel
from opkit.runtimes.invocation import Array, Invocation, RunOptions, RunResult, Value
from opkit.runtimes.rknn.vx.launch import LENIENT, PADDING, STRICT, Border, Launch

TYPES = (
    *("float32", "float16", "int32", "int16", "int8", "uint32", "uint16", "uint8"),
    *("int64", "uint64", "float64"),
)
"""The element types of a kernel's tensors."""

_BITS, _EDGE, _CONSTANT = range(3)  # as in runtime/runtime.h

PAST_END = ("read past the row's end", "write past the row's end")
"""Events that are normal if a row's length is not a multiple of a work item's elements."""

WRITE_OUTSIDE = "write outside"
PADDING_WRITE = "write outside by a padding work item"
"""A write by a work item that exists only because the launch is rounded up."""


@dataclass
class VxRunResult:
    """The result of a run.

    Attributes:
        outputs: name -> array; elements that were never written hold the fill. Empty after a fault.
        unwritten: output -> number of elements that were never written, and index of the first.
        events: see Event; unordered.
        undefined: undefined behavior: sentences that begin with file:line:column.
        fault: a sentence if the kernel crashed or did not end; otherwise empty.
        timed_out: whether it did not end.
        printed: the kernel's printed text; of a long text the beginning and the end.
        rounded: a note about a launch that was rounded up to whole groups; otherwise empty.
    """

    outputs: dict[str, Array] = field(default_factory=dict)
    unwritten: dict[str, tuple[int, tuple[int, ...]]] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    undefined: list[str] = field(default_factory=list)
    fault: str = ""
    timed_out: bool = False
    printed: str = ""
    rounded: str = ""


@dataclass
class Emulator:
    """A kernel of a compiled source, in the harness; see emulator.

    Attributes:
        program: the compiled source.
        kernel: the kernel to run.
        harness: the harness, with the emulator as its runtime.
    """

    program: Program
    kernel: VxKernel
    harness: Harness

    def run(
        self,
        launch: Launch,
        inputs: Mapping[str, Array],
        outputs: Mapping[str, tuple[tuple[int, ...], DTypeLike]],
        params: Sequence[Value] = (),
        *,
        uniforms: Mapping[str, bytes] | None = None,
        border: Border | None = None,
        reverse: bool = False,
        limit: float = 10,
        board: str = STRICT,
    ) -> VxRunResult:
        """Run the kernel.

        Args:
            launch: the work items.
            inputs: name -> array, in the order of the kernel's parameters.
            outputs: name -> shape and dtype; they follow the inputs.
            params: the values as the board delivers them; they follow the outputs.
            uniforms: the bytes of each _viv_uniform.
            border: the values outside of the tensors; poison by default.
            reverse: run the last work item first.
            limit: seconds after which the kernel is stopped.
            board: one of BOARDS.

        Raises:
            OpkitError: the kernel has other parameters, a uniform is missing, or the board would
                refuse the launch.
        """
        border = border or Border()
        tensors = Invocation(inputs, {}, outputs)
        arguments = self.arguments(launch, tensors, params, uniforms or {}, border, reverse, board)
        try:
            options = RunOptions(border.fill & 0xFF, limit=limit)
            result = self.harness.run(tensors, *arguments, options)
        except OpkitError as error:
            missing = re.search(r"undefined symbol: (\w+)", str(error))
            problem = f"'{missing[1]}' is declared, but defined nowhere" if missing else str(error)
            raise OpkitError(f"{self.program.source}: {problem}") from None
        emulated = _vx_result(self.program, result)
        size = tuple(launch.global_size[: launch.work_dim])
        ran = checked(launch, self.kernel, "", board).global_size[: launch.work_dim]
        if ran != size:
            emulated.rounded = (
                f"globalWorkSize {size} is rounded up to {ran}, whole groups of "
                "reqd_work_group_size; it is unknown whether a board does so"
            )
        return emulated

    def arguments(
        self,
        launch: Launch,
        tensors: Invocation,
        params: Sequence[Value],
        uniforms: Mapping[str, bytes],
        border: Border,
        reverse: bool = False,
        board: str = STRICT,
    ) -> tuple[list[Value], dict[str, bytes]]:
        """Return the values and attachments for the harness, besides the tensors; see run.

        Raises:
            OpkitError: see run.
        """
        where = f"{self.program.source}: kernel '{self.kernel.name}'"
        names = [*tensors.inputs, *tensors.outputs]
        _check_arguments(self.kernel, tensors, params, uniforms, where)
        launch = checked(launch, self.kernel, where, board)
        given = [(name, array.shape, array.dtype) for name, array in tensors.inputs.items()]
        given += [
            (name, shape, np.dtype(dtype)) for name, (shape, dtype) in tensors.outputs.items()
        ]
        for name, shape, dtype in given:
            if dtype.name not in TYPES:
                raise OpkitError(f"tensor '{name}': invalid dtype {dtype} for a VX kernel")
            if not shape or math.prod(shape) == 0:
                raise OpkitError(f"tensor '{name}': the shape {shape} has no elements")
        numbers = (
            *(launch.work_dim, int(reverse), int(self.kernel.barrier), *launch.global_size),
            *(*launch.global_scale, *launch.global_offset, *launch.local_size),
        )
        outside: tuple[int, int, float]  # the kind of the border, a pattern of bits, a constant
        if border.policy == "edge":
            outside = (_EDGE, 0, 0)
        elif border.policy == "poison":
            outside = (_BITS, border.fill, 0)
        elif isinstance(border.value, bytes):
            outside = (_BITS, int.from_bytes(border.value[:4], "little"), 0)
        else:
            outside = (_CONSTANT, 0, border.value)
        attachments = {
            "launch": " ".join(map(str, numbers)).encode(),
            "border": " ".join(map(str, outside)).encode(),
            "padding": str(PADDING[board]).encode(),
            **{f"uniform:{name}": value for name, value in uniforms.items()},
        }
        parameters = self.kernel.parameters[len(names) :]
        values = [
            replace(param, name=parameter.name)
            for parameter, param in zip(parameters, params, strict=True)
        ]
        return values, attachments


def emulator(program: Program, name: str, runtime: Path) -> Emulator:
    """Return a kernel of a compiled source, ready to run.

    Args:
        program: the compiled source.
        name: the name of the kernel.
        runtime: the emulator's part of the harness, in the same folder as the harness.

    Raises:
        OpkitError: the kernel or one of the files does not exist.
    """
    kernel = program.kernels.get(name)
    if kernel is None:
        names = ", ".join(program.kernels)
        raise OpkitError(f"{program.source}: no kernel '{name}' (expected {names})")
    executor = on_this_pc(
        runtime.with_name("harness"), runtime, program.library, f"__opkit_entry_{name}"
    )
    return Emulator(program, kernel, Harness(executor, program.source.parent, program.library))


# ---- Errors of the board -------------------------------------------------------------------------


def _check_arguments(
    kernel: VxKernel,
    tensors: Invocation,
    params: Sequence[Value],
    uniforms: Mapping[str, bytes],
    where: str,
) -> None:
    """Refuse arguments that are not those of the kernel."""
    expected = ["tensor"] * (len(tensors.inputs) + len(tensors.outputs))
    expected += ["array" if param.shape else "scalar" for param in params]
    if [parameter.passed_as for parameter in kernel.parameters] != expected:
        signature = ", ".join(f"{each.type} {each.name}" for each in kernel.parameters)
        raise OpkitError(
            f"{where} has the parameters ({signature}), but gets {', '.join(expected)}: inputs, "
            "outputs and params in the order of op.yml"
        )
    for name in kernel.uniforms:
        if name not in uniforms:
            raise OpkitError(
                f"{where} uses the _viv_uniform '{name}', which is never set; call "
                f'opkit_set_uniform(call, "{name}", ...) in initialize_vx_kernel, or '
                "vxSetNodeUniform"
            )


def checked(launch: Launch, kernel: VxKernel, where: str, board: str = STRICT) -> Launch:
    """Return the launch with all three dimensions, and groups as the driver would choose them.

    On a lenient board a launch without a local size is rounded up to whole groups of
    reqd_work_group_size.

    Raises:
        OpkitError: the board would refuse it.
    """
    used = launch.work_dim
    if not 1 <= used <= 3:
        raise OpkitError(f"{where}: workDim is {used} (expected 1, 2 or 3)")
    filled = {
        name: (*getattr(launch, name)[:used], *[default] * (3 - used))
        for name, default in (
            ("global_size", 1),
            ("global_scale", 1),
            ("global_offset", 0),
            ("local_size", 0),
        )
    }
    size, scale, local = filled["global_size"], filled["global_scale"], filled["local_size"]
    for dimension in range(used):
        if size[dimension] == 0:
            raise OpkitError(f"{where}: globalWorkSize[{dimension}] is 0, so it never runs")
        if scale[dimension] == 0:
            raise OpkitError(
                f"{where}: globalWorkScale[{dimension}] is 0, so all work items are the same one"
            )
    if any(local[:used]) and not all(local[:used]):
        raise OpkitError(
            f"{where}: localWorkSize is {local[:used]}: either all of it is 0, and the driver "
            "chooses, or nothing"
        )
    if not any(local):
        if kernel.barrier and kernel.group is None:
            raise OpkitError(
                f"{where} waits at a barrier, but localWorkSize is 0: which work items wait for "
                "each other is left to the driver; set localWorkSize or reqd_work_group_size"
            )
        local = kernel.group or (1, 1, 1)
        if board == LENIENT:
            size = tuple(-(-items // each) * each for items, each in zip(size, local, strict=True))
    local = (*local[:used], *[1] * (3 - used))
    if kernel.group is not None and local != kernel.group:
        raise OpkitError(
            f"{where}: localWorkSize is {local}, but reqd_work_group_size asks for {kernel.group}"
        )
    for dimension in range(used):
        if size[dimension] % local[dimension] != 0:
            raise OpkitError(
                f"{where}: globalWorkSize[{dimension}] = {size[dimension]} is not a multiple of "
                f"localWorkSize[{dimension}] = {local[dimension]}"
            )
    return Launch(used, filled["global_offset"], scale, local, size)


# ---- Results -------------------------------------------------------------------------------------


def _vx_result(program: Program, run: RunResult) -> VxRunResult:
    result = VxRunResult(run.outputs, fault=run.fault, timed_out=run.timed_out, printed=run.printed)
    result.unwritten = read_unwritten(run.attachments, run.outputs)
    log = read_log(run.log, program)
    result.events, result.undefined = log.events, log.undefined
    return result
