"""The records of a run: the result of each kernel on each case, one file each, for `scons report`.

Processes may write into one folder at the same time.
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

from opkit import atomic_file
from opkit.check.comparison import Difference, ulp_distance
from opkit.check.mistakes import REPOSITORY
from opkit.check.session import Session
from opkit.runtimes.invocation import Array

SAMPLE = 2048  # elements of an output that are kept; a plot of a few hundred pixels shows no more
WORST = 64  # of them, those that are farthest from the reference

_BIN_EDGES = np.array([0, *(2**power for power in range(64))], np.uint64)


@dataclass(frozen=True)
class Errors:
    """A histogram of the errors of an output's elements.

    Attributes:
        bins: number of a bin -> how many elements are in it, without the empty bins. Bin 0 holds
            those that are equal, bin 1 an error of 1 ulp, bin 2 of 2, bin 3 of 3 and 4, bin k of
            more than 2**(k-2) and up to 2**(k-1); the bins of a kernel that is too low are
            negative.
        incomparable: how many elements are NaN on one side alone.
    """

    bins: Mapping[int, int]
    incomparable: int = 0

    @property
    def total(self) -> int:
        """How many elements there are."""
        return sum(self.bins.values()) + self.incomparable


def errors(kernel: Array, reference: Array) -> Errors:
    """Count the elements of an output, which both have in one shape and dtype, by their error."""
    return _errors(kernel, reference, ulp_distance(kernel, reference))


def _errors(kernel: Array, reference: Array, distance: Array) -> Errors:
    nan = np.isnan(kernel) != np.isnan(reference) if kernel.dtype.kind == "f" else None
    comparable = np.ones(kernel.shape, bool) if nan is None else ~nan
    magnitude = np.searchsorted(_BIN_EDGES, distance[comparable], side="left")
    sign = np.where(kernel[comparable] < reference[comparable], -1, 1)
    numbers, counts = np.unique(magnitude * sign, return_counts=True)
    bins = {int(number): int(count) for number, count in zip(numbers, counts, strict=True)}
    return Errors(bins, kernel.size - int(comparable.sum()))


@dataclass(frozen=True, eq=False)
class Output:
    """One output of a case.

    Attributes:
        name: as in op.yml.
        shape: slowest dimension first.
        errors: of all elements.
        kernel: what the kernel computed; at most SAMPLE elements, in one dimension.
        reference: the reference's elements at the same indices.
    """

    name: str
    shape: tuple[int, ...]
    errors: Errors
    kernel: Array
    reference: Array


def output(name: str, kernel: Array, reference: Array) -> Output:
    """Return a sample of an output; the same elements in every run.

    Args:
        name: as in op.yml.
        kernel: what the kernel computed.
        reference: what it should be; same shape and dtype.
    """
    distance = ulp_distance(kernel, reference)
    sample = _sample(distance.ravel())
    return Output(
        name,
        kernel.shape,
        _errors(kernel, reference, distance),
        kernel.ravel()[sample],
        reference.ravel()[sample],
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
        kernel: which kernel it was, for instance "CPU kernel".
        case: the case's name.
        problem: why it fails; empty if it does not.
        max_error: the largest absolute difference, of all outputs; None if none was computed.
        max_ulp: the same in representable values.
        seconds: how long the kernel function takes; None if it was not measured.
        note: a sentence below the table, which is shown once for equal notes.
        left_out: whether the kernel did not run, because its runtime has no such tensors.
    """

    kernel: str
    case: str
    problem: str = ""
    max_error: float | None = None
    max_ulp: int | None = None
    seconds: float | None = None
    note: str = ""
    left_out: bool = False

    def add(self, difference: Difference) -> None:
        """Take the difference of one more output into account."""
        self.max_error = max(self.max_error or 0, difference.max_error)
        self.max_ulp = max(self.max_ulp or 0, difference.max_ulp)


@dataclass(frozen=True, eq=False)
class Record:
    """A result with its inputs and outputs.

    Attributes:
        result: the result.
        test: the function of tests/ that ran the case; empty if none did.
        inputs: name of each input -> dtype and shape, for instance "float16 1x6x5x3".
        params: name of each param that the case sets -> value.
        outputs: what was computed; empty if the kernel did not get that far.
    """

    result: Result
    test: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)
    outputs: tuple[Output, ...] = ()


@dataclass
class RunningTest:
    """The test that pytest runs now, as the plugin has set it up.

    Attributes:
        session: where the cases run.
        root: the repository that it belongs to.
        function: the function of tests/, without its parameters.
        results: of its cases until now.
        integer_inputs: the inputs of its cases that are integers, as `name: dtype`, each with what
            a kernel gets in place of them.
    """

    session: Session = field(default_factory=Session)
    root: Path = REPOSITORY
    function: str = ""
    results: list[Result] = field(default_factory=list)
    integer_inputs: list[tuple[str, str]] = field(default_factory=list)


_RUNNING: ContextVar[RunningTest] = ContextVar("running test")


def running_test() -> RunningTest:
    """Return the test that runs now; without the plugin, a new one."""
    return _RUNNING.get(None) or RunningTest()


@contextmanager
def running(test: RunningTest) -> Iterator[None]:
    """Make this the running test inside of the context."""
    token = _RUNNING.set(test)
    try:
        yield
    finally:
        _RUNNING.reset(token)


def save(folder: Path, record: Record) -> None:
    """Write a record into the folder, which is created if needed."""
    about = asdict(record)
    arrays = {}
    for number, (kept, fields) in enumerate(zip(record.outputs, about["outputs"], strict=True)):
        for side in ("kernel", "reference"):
            del fields[side]
            arrays[f"{side}{number}"] = getattr(kept, side)
        fields["errors"]["bins"] = sorted(kept.errors.bins.items())
    folder.mkdir(parents=True, exist_ok=True)
    # Names sort by time, so that records are read in the order in which they were made.
    content = io.BytesIO()
    np.savez(content, about=np.array(json.dumps(about, default=_plain)), **arrays)
    name = f"{time.time_ns():020}-{os.getpid()}.npz"
    atomic_file.write(folder / name, content.getvalue())


def _plain(value: Any) -> Any:
    """Numpy's numbers and arrays, which a case may have as params, as JSON knows them."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def load(folder: Path) -> list[Record]:
    """Return the records in a folder in the order in which they were written."""
    return [_read(path) for path in sorted(folder.glob("*.npz"))]


def _read(path: Path) -> Record:
    with np.load(path, allow_pickle=False) as file:
        about = json.loads(str(file["about"]))
        about["outputs"] = tuple(
            Output(
                name=fields["name"],
                shape=tuple(fields["shape"]),
                errors=Errors(dict(fields["errors"]["bins"]), fields["errors"]["incomparable"]),
                kernel=file[f"kernel{number}"],
                reference=file[f"reference{number}"],
            )
            for number, fields in enumerate(about["outputs"])
        )
        about["result"] = Result(**about["result"])
    return Record(**about)


def error_text(error: float | None) -> str:
    """Return a largest difference as tables show it."""
    return "-" if error is None else f"{error:.3g}"


def ulp_text(ulp: int | None) -> str:
    """Return a number of representable values as tables show it."""
    if ulp is None:
        return "-"
    return str(ulp) if ulp < 10**6 else f"{ulp:.0e}"


def time_text(seconds: float | None) -> str:
    """Return a duration as tables show it."""
    if seconds is None:
        return "-"
    for factor, unit in ((1e6, "us"), (1e3, "ms")):
        if seconds * factor < 1000:
            return f"{seconds * factor:.1f} {unit}"
    return f"{seconds:.2f} s"
