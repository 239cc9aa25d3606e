"""The records of a run for `scons report`: one file for each kernel on each case.

Several processes may write into a folder at the same time.
"""

from __future__ import annotations

import io
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from opkit.check.cases import Case
from opkit.check.comparison import Difference, ulp_distance
from opkit.check.mistakes import REPOSITORY
from opkit.check.operators import Operator
from opkit.check.profile import Profile
from opkit.check.session import Session
from opkit.check.tolerance import Tolerance
from opkit.check.traits import CaseTraits
from opkit.common import file_io
from opkit.runtimes.invocation import Array, Invocation, StatefulKernel, Usage

SAMPLE = 2048  # recorded elements of an output, enough for a plot of a few hundred pixels
WORST = 64  # of these, the elements with the largest errors
MAP = 48  # rows and columns of an error map

_BIN_EDGES = np.array([0, *(2**power for power in range(64))], np.uint64)


@dataclass(frozen=True)
class Errors:
    """A histogram of the errors of an output's elements.

    Attributes:
        bins: index of a bin -> count of its elements, without empty bins. Bin 0 counts equal
            elements, bin 1 errors of 1 ulp, bin 2 of 2 ulp, bin 3 of 3 and 4 ulp, bin k of more
            than 2**(k-2) and up to 2**(k-1) ulp. An element below the reference has a negative
            index.
        incomparable: the count of elements with NaN on one side only.
    """

    bins: Mapping[int, int]
    incomparable: int = 0

    @property
    def total(self) -> int:
        """The number of elements."""
        return sum(self.bins.values()) + self.incomparable


def errors(kernel: Array, reference: Array, flushes: bool = False) -> Errors:
    """Count the elements of an output by their error.

    Args:
        kernel: the output of the kernel.
        reference: the output of the reference, with the same shape and dtype.
        flushes: as of ulp_distance.
    """
    distance = ulp_distance(kernel, reference, flushes)
    nan = np.isnan(kernel) != np.isnan(reference) if kernel.dtype.kind == "f" else None
    comparable = np.ones(kernel.shape, bool) if nan is None else ~nan
    magnitude = np.searchsorted(_BIN_EDGES, distance[comparable], side="left")
    sign = np.where(kernel[comparable] < reference[comparable], -1, 1)
    indices, counts = np.unique(magnitude * sign, return_counts=True)
    bins = {int(index): int(count) for index, count in zip(indices, counts, strict=True)}
    return Errors(bins, kernel.size - int(comparable.sum()))


def error_map(kernel: Array, reference: Array, flushes: bool = False) -> Array:
    """Return where an output's errors are: the largest bin of each place of the last two axes.

    Args:
        kernel: the output of the kernel; of one axis: a single row.
        reference: the output of the reference, with the same shape and dtype.
        flushes: as of ulp_distance.

    Returns:
        The bins as in Errors, without signs, of at most MAP rows and columns; a place of a larger
        output is a block of elements. NaN on one side is the largest bin.
    """
    distance = ulp_distance(kernel, reference, flushes)
    bins = np.atleast_2d(np.searchsorted(_BIN_EDGES, distance, side="left"))
    places = bins.reshape(-1, *bins.shape[-2:]).max(axis=0)
    for axis, size in enumerate(places.shape):
        block = -(-size // MAP)
        places = np.maximum.reduceat(places, np.arange(0, size, block), axis=axis)
    found: Array = places.astype(np.uint8)
    return found


@dataclass(frozen=True, eq=False)
class Output:
    """One output of a case.

    Attributes:
        name: as in op.yml.
        shape: slowest dimension first.
        errors: of all elements.
        kernel: the kernel's elements, at most SAMPLE, in one dimension.
        reference: the reference's elements at the same indices.
        map: see error_map.
    """

    name: str
    shape: tuple[int, ...]
    errors: Errors
    kernel: Array
    reference: Array
    map: Array


def output(name: str, kernel: Array, reference: Array, flushes: bool = False) -> Output:
    """Return a sample of an output, with the same elements in every run.

    Args:
        name: as in op.yml.
        kernel: the output of the kernel.
        reference: the output of the reference, with the same shape and dtype.
        flushes: as of ulp_distance.
    """
    sample = _sample(ulp_distance(kernel, reference, flushes).ravel())
    return Output(
        name,
        kernel.shape,
        errors(kernel, reference, flushes),
        kernel.ravel()[sample],
        reference.ravel()[sample],
        error_map(kernel, reference, flushes),
    )


def _sample(distance: Array) -> Array:
    if distance.size <= SAMPLE:
        return np.arange(distance.size)
    evenly = np.linspace(0, distance.size - 1, SAMPLE - WORST).astype(np.int64)
    worst = np.argpartition(distance, distance.size - WORST)[-WORST:]
    return np.union1d(evenly, worst)


@dataclass
class Result:
    """The result of a kernel on a case.

    Attributes:
        kernel: the kernel's name, for instance "CPU kernel".
        case: the case's name.
        problem: the reason of a failure; empty if the case passes.
        cause: the same for a group of failures, without what differs from case to case; empty: the
            problem.
        appearance: what the wrong outputs look like; empty: unknown.
        before_run: whether the problem is of the case, the reference or the build, not of the
            kernel.
        max_error: the largest absolute difference of all outputs, an int for integers; None if not
            compared.
        max_ulp: the largest difference in representable values; None if not compared.
        seconds: the time of the kernel function; None if not measured.
        note: a sentence below the table; equal notes are printed once.
        left_out: the cases that the kernel's runtime cannot run, and why, if it did not run; empty:
            it ran.
        traits: the traits of the case.
        profile: the time by phase; None if not measured.
        coverage: a note on a gap of the cases -> whether this case fills the gap.
        strengths: see weak_cases.strengths.
        usage: the resources of the kernel; None: not measured.
    """

    kernel: str
    case: str
    problem: str = ""
    max_error: float | None = None
    max_ulp: int | None = None
    seconds: float | None = None
    note: str = ""
    left_out: str = ""
    coverage: dict[str, bool] = field(default_factory=dict)
    cause: str = ""
    appearance: str = ""
    before_run: bool = False
    traits: CaseTraits = field(default_factory=CaseTraits)
    profile: Profile | None = None
    strengths: dict[str, tuple[str, str]] = field(default_factory=dict)
    usage: Usage | None = None

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> Result:
        """Return the result in the fields of dataclasses.asdict, also after JSON."""
        read = {
            "traits": CaseTraits.read(fields["traits"]),
            "profile": Profile.read(fields.get("profile")),  # older records have none
            "usage": Usage(**usage) if (usage := fields.get("usage")) else None,
        }
        return cls(**{**fields, **read})

    def add(self, difference: Difference) -> None:
        """Add the difference of another output."""
        self.max_error = max(self.max_error or 0, difference.max_error)
        self.max_ulp = max(self.max_ulp or 0, difference.max_ulp)


@dataclass(frozen=True, eq=False)
class Record:
    """A result with its inputs and outputs.

    Attributes:
        result: the result.
        test: the function of tests/ that ran the case; empty if unknown.
        inputs: name of each input -> dtype and shape, for instance "float16 1x6x5x3".
        params: name of each param set in the case -> value.
        outputs: samples of the outputs; empty if the kernel failed before.
    """

    result: Result
    test: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)
    outputs: tuple[Output, ...] = ()


@dataclass(frozen=True, eq=False)
class PassedRun:
    """A kernel's run of a case in a process of its own, which passed.

    Attributes:
        name: the kernel's name.
        operator: the name of the operator.
        kernel: the kernel.
        case: the name of the case.
        invocation: the arguments.
        outputs: name -> array of the kernel.
    """

    name: str
    operator: str
    kernel: StatefulKernel
    case: str
    invocation: Invocation
    outputs: Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class CheckedCase:
    """A case that passed.

    Attributes:
        operator: the operator.
        kernels: name -> CPU kernel on this PC.
        tolerance: the tolerance of the test.
        case: the case.
    """

    operator: Operator
    kernels: Mapping[str, StatefulKernel]
    tolerance: Tolerance
    case: Case


@dataclass
class RunningTest:
    """The running pytest test, set up by the plugin.

    Attributes:
        session: the executors and the folder of records.
        root: the repository of the test.
        function: the function of tests/, without its parameters.
        results: the results of its cases so far.
        params: name of each param -> formatted value, of each of its cases.
        integer_inputs: (`name: dtype`, note on the type in the kernel) for each integer input of
            its cases.
        passed: the runs of its cases that passed.
        checked: its cases that passed, for shapes of the check's own.
    """

    session: Session = field(default_factory=Session)
    root: Path = REPOSITORY
    function: str = ""
    results: list[Result] = field(default_factory=list)
    params: list[dict[str, str]] = field(default_factory=list)
    integer_inputs: list[tuple[str, str]] = field(default_factory=list)
    passed: list[PassedRun] = field(default_factory=list)
    checked: list[CheckedCase] = field(default_factory=list)


_RUNNING: ContextVar[RunningTest] = ContextVar("running test")


def running_test() -> RunningTest:
    """Return the running test; without the plugin, a new one."""
    return _RUNNING.get(None) or RunningTest()


@contextmanager
def running(test: RunningTest) -> Iterator[None]:
    """Make this the running test in the context."""
    token = _RUNNING.set(test)
    try:
        yield
    finally:
        _RUNNING.reset(token)


def save(folder: Path, record: Record) -> None:
    """Write a record into a folder; create the folder if absent."""
    about = asdict(record)
    arrays = {}
    for index, (kept, fields) in enumerate(zip(record.outputs, about["outputs"], strict=True)):
        for side in ("kernel", "reference", "map"):
            del fields[side]
            arrays[f"{side}{index}"] = getattr(kept, side)
        fields["errors"]["bins"] = sorted(kept.errors.bins.items())
    folder.mkdir(parents=True, exist_ok=True)
    # Names sort by time, so that records are read in the order of writing.
    content = io.BytesIO()
    np.savez(content, about=np.array(json.dumps(about, default=_plain)), **arrays)
    name = f"{time.time_ns():020}-{os.getpid()}.npz"
    file_io.write_atomically(folder / name, content.getvalue())


def _plain(value: Any) -> Any:
    """Return a JSON value for numpy's numbers and arrays, which a case may have as params."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def load(folder: Path) -> list[Record]:
    """Return the records in a folder, in the order of writing."""
    return [_read(path) for path in sorted(folder.glob("*.npz"))]


def _read(path: Path) -> Record:
    with np.load(path, allow_pickle=False) as file:
        about = json.loads(str(file["about"]))
        about["outputs"] = tuple(
            Output(
                name=fields["name"],
                shape=tuple(fields["shape"]),
                errors=Errors(dict(fields["errors"]["bins"]), fields["errors"]["incomparable"]),
                kernel=file[f"kernel{index}"],
                reference=file[f"reference{index}"],
                map=file[f"map{index}"],
            )
            for index, fields in enumerate(about["outputs"])
        )
        about["result"] = Result.read(about["result"])
    return Record(**about)


def error_text(error: float | None) -> str:
    """Return a largest difference, formatted for tables; an int exactly."""
    if error is None:
        return "-"
    return str(error) if isinstance(error, int) else f"{error:.3g}"


def ulp_text(ulp: int | None) -> str:
    """Return a number of representable values, formatted for tables."""
    if ulp is None:
        return "-"
    return str(ulp) if ulp < 10**6 else f"{ulp:.0e}"


def time_text(seconds: float | None) -> str:
    """Return a duration, formatted for tables."""
    if seconds is None:
        return "-"
    for factor, unit in ((1e6, "us"), (1e3, "ms")):
        if seconds * factor < 1000:
            return f"{seconds * factor:.1f} {unit}"
    return f"{seconds:.2f} s"
