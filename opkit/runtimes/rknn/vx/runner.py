"""Runs a VX kernel over the work items of a launch, in a process of its own."""

from __future__ import annotations

import math
import os
import re
import signal
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from opkit.check import processes
from opkit.check.debug_info import line_of
from opkit.errors import OpkitError
from opkit.runtimes.invocation import Array, Value
from opkit.runtimes.rknn.vx.compiler import Program
from opkit.runtimes.rknn.vx.launch import Border, Launch
from opkit.runtimes.rknn.vx.signatures import VxKernel

TYPES = (
    *("float32", "float16", "int32", "int16", "int8", "uint32", "uint16", "uint8"),
    *("int64", "uint64", "float64"),
)
"""The element types that a kernel can get, in the order of their numbers in shared.h."""

_NUMBERS = {np.dtype(name): number for number, name in enumerate(TYPES)}
_BITS, _EDGE, _CONSTANT = range(3)
_ALIGNMENT = 64
GRACE = 1.0  # seconds that the program has to stop a kernel by itself, and to report

PAST_END = ("read past the row's end", "write past the row's end")
"""The kinds of event that are normal where a row is not a multiple of what a work item handles."""

WRITE_OUTSIDE = "write outside"
PADDING_WRITE = "write outside by a padding work item"
"""A write of a work item that is there only because the launch is rounded up."""


@dataclass(frozen=True)
class Event:
    """What a kernel did that a board may do differently, or nobody can mean.

    Attributes:
        kind: what, for instance `write outside`.
        tensor: of which tensor, or empty.
        count: how many elements, or how often.
        at: x, y, z of the first.
        item: the work item (its global id) of the first.
        line: the source's line of the first, or None.
    """

    kind: str
    tensor: str
    count: int
    at: tuple[int, ...]
    item: tuple[int, ...]
    line: str | None

    def __str__(self) -> str:
        tensor = f" '{self.tensor}'" if self.tensor else ""
        place = f"{self.line}: " if self.line else ""
        return (
            f"{place}{self.kind}{tensor}, {self.count} times; first at "
            f"(x, y, z) = {self.at} by work item {self.item}"
        )


@dataclass
class VxRunResult:
    """What came of a run.

    Attributes:
        outputs: name -> array; what was never written holds the fill. Empty after a fault.
        unwritten: output -> how many elements were never written, and the index of the first.
        events: see Event; not in any order.
        undefined: undefined behaviour: sentences that begin with file:line:column.
        fault: a sentence, when the kernel crashed or did not end; otherwise empty.
        timed_out: whether it did not end.
        seconds: how long all work items took.
        printed: what the kernel printed; of a long text the beginning and the end.
    """

    outputs: dict[str, Array] = field(default_factory=dict)
    unwritten: dict[str, tuple[int, tuple[int, ...]]] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    undefined: list[str] = field(default_factory=list)
    fault: str = ""
    timed_out: bool = False
    seconds: float = math.inf
    printed: str = ""


def run_vx(
    program: Program,
    kernel: str,
    launch: Launch,
    inputs: Mapping[str, Array],
    outputs: Mapping[str, tuple[tuple[int, ...], DTypeLike]],
    params: Sequence[Value] = (),
    *,
    runtime: Path,
    uniforms: Mapping[str, bytes] | None = None,
    border: Border | None = None,
    reverse: bool = False,
    limit: float = 10,
) -> VxRunResult:
    """Run a kernel.

    Args:
        program: the compiled source.
        kernel: which of its kernels.
        launch: over which work items.
        inputs: name -> array, in the order of the kernel's parameters.
        outputs: name -> shape and dtype; they follow the inputs.
        params: as the board delivers them; they follow the outputs.
        runtime: the program that runs it, `build/host/vx_runtime`.
        uniforms: the bytes of each _viv_uniform.
        border: what lies outside of the tensors; poison by default.
        reverse: run the last work item first.
        limit: seconds after which the kernel is stopped.

    Raises:
        OpkitError: the kernel cannot be called so: it is not there, its parameters are others, a
            uniform is missing, or the board would refuse the launch. Or the runtime is not there.
    """
    # Without a name of its own, it goes with the last process that has it, however that ends.
    with tempfile.TemporaryFile(dir=_memory_folder()) as file:
        path = Path(f"/proc/{os.getpid()}/fd/{file.fileno()}")
        job = write_job(
            program,
            kernel,
            launch,
            inputs,
            outputs,
            params,
            path,
            uniforms=uniforms,
            border=border,
            reverse=reverse,
            limit=limit,
        )
        try:
            finished = processes.run([runtime], job.text, limit + GRACE)
        except FileNotFoundError:
            raise OpkitError(f"{runtime} is not there; run `scons target=x64`") from None
        result = _result(program, finished, limit)
        if not result.fault:
            memory = np.fromfile(path, np.uint8)
            for name, (shape, dtype) in outputs.items():
                _take(result, name, memory, job.places[name], shape, np.dtype(dtype))
    return result


@dataclass(frozen=True)
class Job:
    """What the runtime reads from its standard input.

    Attributes:
        text: the job.
        places: output -> where in the job's file its elements are, and the map of what is written.
    """

    text: str
    places: dict[str, tuple[int, int]]


def write_job(
    program: Program,
    kernel: str,
    launch: Launch,
    inputs: Mapping[str, Array],
    outputs: Mapping[str, tuple[tuple[int, ...], DTypeLike]],
    params: Sequence[Value],
    file: Path,
    *,
    uniforms: Mapping[str, bytes] | None = None,
    border: Border | None = None,
    reverse: bool = False,
    limit: float = 10,
) -> Job:
    """Write the data of a run into a file; return the job that refers to it. See run_vx.

    Raises:
        OpkitError: the kernel cannot be called so.
    """
    described = _Description(program, kernel, launch, inputs, outputs, params, uniforms or {})
    described.data.write(file)
    return Job(described.text(file, border or Border(), reverse, limit), described.places)


class _Description:
    """One line for each argument of a kernel, and the data of all."""

    def __init__(
        self,
        program: Program,
        name: str,
        launch: Launch,
        inputs: Mapping[str, Array],
        outputs: Mapping[str, tuple[tuple[int, ...], DTypeLike]],
        params: Sequence[Value],
        uniforms: Mapping[str, bytes],
    ) -> None:
        kernel = program.kernels.get(name)
        if kernel is None:
            names = ", ".join(program.kernels)
            raise OpkitError(f"{program.source}: there is no kernel '{name}'; there is: {names}")
        where = f"{program.source}: kernel '{name}'"
        _check_parameters(kernel, [*inputs, *outputs], params, where)
        _check_uniforms(kernel, uniforms, where)
        self.library = program.library
        self.kernel = kernel
        self.launch = checked(launch, kernel, where)
        self.data = _Data()
        self.places: dict[str, tuple[int, int]] = {}
        self.lines: list[str] = []
        for each, array in inputs.items():
            geometry = _geometry(each, array.shape, array.dtype)
            self.lines.append(f"tensor {each} {geometry} {self.data.add(array)} -1")
        for each, (shape, dtype) in outputs.items():
            geometry, count = _geometry(each, shape, np.dtype(dtype)), math.prod(shape)
            place = self.data.reserve(count * np.dtype(dtype).itemsize), self.data.reserve(count)
            self.places[each] = place
            self.lines.append(f"tensor {each} {geometry} {place[0]} {place[1]}")
        parameters = kernel.parameters[len(self.lines) :]
        for parameter, param in zip(parameters, params, strict=True):
            self.lines.append(self._param(parameter.name, param))
        for each, value in uniforms.items():
            offset = self.data.add(np.frombuffer(value, np.uint8))
            self.lines.append(f"uniform {each} {offset} {len(value)}")

    def _param(self, name: str, param: Value) -> str:
        if not param.shape:
            return f"scalar {name} {int.from_bytes(param.data, 'little'):x}"
        items = np.frombuffer(param.data, param.type)
        return f"array {name} {self.data.add(items)} {items.size} {items.itemsize}"

    def text(self, data: Path, border: Border, reverse: bool, limit: float) -> str:
        launch = self.launch
        numbers = (
            *(launch.work_dim, int(reverse), int(self.kernel.barrier), *launch.global_size),
            *(*launch.global_scale, *launch.global_offset, *launch.local_size),
        )
        lines = [
            f"library {self.library}",
            f"data {data}",
            f"limit {limit}",
            f"fill {border.fill}",
            f"border {_border(border)}",
            f"launch {' '.join(map(str, numbers))}",
            *self.lines,
            f"run __opkit_entry_{self.kernel.name}",
        ]
        return "\n".join(lines) + "\n"


def _border(border: Border) -> str:
    """Return what a read outside gives: how it is found, a pattern of bits, a number."""
    if border.policy == "edge":
        return f"{_EDGE} 0 0"
    if border.policy == "poison":
        return f"{_BITS} {border.fill} 0"
    if isinstance(border.value, bytes):
        return f"{_BITS} {int.from_bytes(border.value[:4], 'little')} 0"
    return f"{_CONSTANT} 0 {border.value}"


class _Data:
    """The file that both processes map: arrays one after the other."""

    def __init__(self) -> None:
        self.size = 0
        self.arrays: list[tuple[int, Array]] = []

    def reserve(self, size: int) -> int:
        offset = self.size
        self.size = -(-(offset + size) // _ALIGNMENT) * _ALIGNMENT
        return offset

    def add(self, array: Array) -> int:
        offset = self.reserve(array.nbytes)
        self.arrays.append((offset, np.ascontiguousarray(array)))
        return offset

    def write(self, path: Path) -> None:
        with path.open("r+b") as file:
            file.truncate(max(self.size, 1))
            for offset, array in self.arrays:
                file.seek(offset)
                file.write(array.tobytes())


def _memory_folder() -> str | None:
    """Return where files are memory, if there is such a place."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


def _geometry(name: str, shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> str:
    """Return a tensor's type, width, height and depth: as an image array sees it."""
    if dtype not in _NUMBERS:
        raise OpkitError(f"tensor '{name}': a VX kernel takes no {dtype}")
    if not shape or math.prod(shape) == 0:
        raise OpkitError(f"tensor '{name}': the shape {shape} has no elements")
    width, height = shape[-1], shape[-2] if len(shape) > 1 else 1
    return f"{_NUMBERS[dtype]} {width} {height} {math.prod(shape[:-2])}"


# ---- What the board refuses ----------------------------------------------------------------------


def _check_parameters(
    kernel: VxKernel, tensors: list[str], params: Sequence[Value], where: str
) -> None:
    expected = ["tensor"] * len(tensors) + [
        "array" if param.shape else "scalar" for param in params
    ]
    declared = [
        "scalar" if parameter.kind == "pointer" else parameter.kind
        for parameter in kernel.parameters
    ]
    if declared != expected:
        signature = ", ".join(f"{each.type} {each.name}" for each in kernel.parameters)
        raise OpkitError(
            f"{where} has the parameters ({signature}), but gets {', '.join(expected)}: inputs, "
            "outputs and params in the order of op.yml"
        )


def _check_uniforms(kernel: VxKernel, uniforms: Mapping[str, bytes], where: str) -> None:
    for name in kernel.uniforms:
        if name not in uniforms:
            raise OpkitError(
                f"{where} uses the _viv_uniform '{name}', which nobody sets; call "
                f'opkit_set_uniform(call, "{name}", ...) in initialize_vx_kernel, or '
                "vxSetNodeUniform"
            )


def checked(launch: Launch, kernel: VxKernel, where: str) -> Launch:
    """Return the launch with all three dimensions, and groups as the driver would choose them.

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


# ---- What came back ------------------------------------------------------------------------------


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


def _result(program: Program, finished: processes.ProcessResult, limit: float) -> VxRunResult:
    result = VxRunResult(printed=finished.stderr, timed_out=finished.timed_out)
    for line in finished.stdout.splitlines():
        word, *rest = line.split("\t")
        if word == "error":
            raise OpkitError(f"{program.source}: {_understandable(rest[0])}")
        if word == "event":
            kind, tensor, count, at, item, address = rest
            place = line_of(program.library, int(address))
            result.events.append(
                Event(kind, tensor, int(count), _numbers(at), _numbers(item), place)
            )
        elif word == "undefined":
            file, number, column, what, item = rest
            result.undefined.append(f"{file}:{number}:{column}: {what}; work item {_numbers(item)}")
        elif word == "overrun":
            what, item, address = rest
            place = line_of(program.library, int(address)) or str(program.source)
            result.undefined.append(f"{place}: {what}; work item {_numbers(item)}")
        elif word == "fault":
            number, memory, item, address, does = rest
            place = line_of(program.library, int(address))
            result.fault = _fault(int(number), memory, _numbers(item), place, limit, does)
            result.timed_out = int(number) == signal.SIGALRM
        elif word == "seconds":
            result.seconds = float(rest[0])
    if math.isinf(result.seconds) and not result.fault:
        result.fault = _died(finished, limit)
    return result


def _understandable(message: str) -> str:
    missing = re.search(r"undefined symbol: (\w+)", message)
    return f"'{missing[1]}' is declared, but defined nowhere" if missing else message


def _fault(
    number: int,
    memory: str,
    item: tuple[int, ...],
    place: str | None,
    limit: float,
    does: str,
) -> str:
    at = f"{place}: " if place else ""
    if number == signal.SIGALRM:
        return f"{at}the kernel did not end within {limit:g} s; it was in work item {item}"
    name = signal.Signals(number).name
    if does:
        return f"{at}the kernel {does}; work item {item} ({name} at address {memory})"
    return f"{at}the kernel crashed with {name} at address {memory}, in work item {item}"


def _died(finished: processes.ProcessResult, limit: float) -> str:
    if finished.timed_out:
        return f"the kernel did not end within {limit:g} s"
    if finished.status < 0:
        return f"the kernel crashed with {signal.Signals(-finished.status).name}"
    return f"the kernel's process ended by itself, with status {finished.status}"


def _take(
    result: VxRunResult,
    name: str,
    memory: Array,
    place: tuple[int, int],
    shape: tuple[int, ...],
    dtype: np.dtype[np.generic],
) -> None:
    """Copy an output, and find what was never written, in the file's bytes."""
    count = math.prod(shape)
    offset, written = place
    data = memory[offset : offset + count * dtype.itemsize]
    result.outputs[name] = data.view(dtype).reshape(shape).copy()
    missing = np.flatnonzero(memory[written : written + count] == 0)
    if missing.size:
        first = tuple(int(index) for index in np.unravel_index(int(missing[0]), shape))
        result.unwritten[name] = (int(missing.size), first)
