"""Finds state that a kernel keeps between invocations: cases that pass alone share a process."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from opkit.check.checking import FILLS, TIME_LIMIT, kernel_problem
from opkit.check.results import PassedRun
from opkit.common.errors import OpkitError
from opkit.runtimes.invocation import RunResult

MAX_BYTES = 1 << 26  # of the tensors of a batch; larger cases only run alone
MAX_NAMES = 3  # of cases, in a message


@dataclass(frozen=True)
class _Failure:
    """A run that passes alone, and fails in a batch.

    Attributes:
        run: the run.
        others: the runs before it in the process, in order; with nodes that alternate, the next
            one, too.
        alternates: whether nodes alternate.
        problem: the reason.
    """

    run: PassedRun
    others: Sequence[PassedRun]
    alternates: bool
    problem: str


def check_shared_process(runs: Sequence[PassedRun]) -> list[str]:
    """Run the cases of each kernel again in one process; compare bits with their own runs.

    They run twice: in their order, each with a node of its own; and in another order, which depends
    only on their names, with two nodes alive that alternate.

    Args:
        runs: the passed runs of one test function.

    Returns:
        A message for each kernel with a failure.
    """
    kernels: dict[tuple[str, str], list[PassedRun]] = {}
    for run in runs:
        kernels.setdefault((run.operator, run.name), []).append(run)
    messages: list[str] = []
    for batch in kernels.values():
        kept, size = list[PassedRun](), 0  # up to MAX_BYTES, in their order
        for run in batch:
            arrays = [*run.invocation.inputs.values(), *run.outputs.values()]
            bytes_ = sum(array.nbytes for array in arrays)
            if size + bytes_ <= MAX_BYTES:
                kept.append(run)
                size += bytes_
        if len(kept) < 2:
            continue
        shuffled = list(kept)
        random.Random("\n".join(run.case for run in kept)).shuffle(shuffled)
        try:
            for order, alternates in ((kept, False), (shuffled, True)):
                if failures := list(_failures(order, alternates)):
                    messages.append(_message(_smallest(failures[0]), len(failures) - 1))
                    break
        except OpkitError as error:
            messages.append(f"{batch[0].name} of {batch[0].operator}, in one process: {error}")
    return messages


def _failures(runs: Sequence[PassedRun], alternates: bool) -> Iterator[_Failure]:
    """Run a batch; yield its failures."""
    invocations = [run.invocation for run in runs]
    results = runs[0].kernel.run_batch(invocations, FILLS[0], alternates, TIME_LIMIT)
    for index, run in enumerate(runs):
        result = results.get(index)
        problem = result and (kernel_problem(result, run.kernel) or _difference(run, result))
        if problem:
            others = [each for each in runs[: index + 1 + alternates] if each is not run]
            yield _Failure(run, others, alternates, problem)


def _difference(run: PassedRun, result: RunResult) -> str:
    """Return the first output with other bits than in the run alone, with its first element."""
    for name, alone in run.outputs.items():
        if (shared := result.outputs.get(name)) is not None and shared.tobytes() != alone.tobytes():
            size = shared.dtype.itemsize
            bytes_ = (
                np.frombuffer(each.tobytes(), np.uint8).reshape(-1, size)
                for each in (shared, alone)
            )
            differs = np.not_equal(*bytes_).any(axis=1)
            index = tuple(map(int, np.unravel_index(int(differs.argmax()), shared.shape)))
            place = ", ".join(map(str, index))
            return f"{name}[{place}] is {shared[index]}, alone {alone[index]}"
    return ""


def _smallest(failure: _Failure) -> _Failure:
    """Return a failure of two runs in a process, if one of the others alone causes one."""
    run, others, alternates = failure.run, failure.others, failure.alternates
    if "timed out" in failure.problem:  # each try would take as long
        return failure
    # A table that is filled once is that of the first case.
    for other in dict.fromkeys([others[0], others[-1], *others] if others else []):
        for pair in ((other, run), (run, other)) if alternates else ((other, run),):
            for found in _failures(pair, alternates):
                if found.run is run:
                    return replace(found, others=[other])
    return failure


def _message(failure: _Failure, more_failures: int) -> str:
    """Return the message of a failure, with the number of other failures in its batch."""
    run, others = failure.run, failure.others
    names = ", ".join(other.case for other in others[:MAX_NAMES])
    more = f" and {len(others) - MAX_NAMES} more" if len(others) > MAX_NAMES else ""
    where = "with the node of" if failure.alternates else "after"
    cases = "one more case fails" if more_failures == 1 else f"{more_failures} more cases fail"
    also = f"{cases} like it; " if more_failures else ""
    lines = [
        f"{run.name} of {run.operator}, case {run.case}:",
        f"  passes alone, but not {where} {names}{more} in the same process:",
        *(f"  {line}" for line in failure.problem.splitlines()),
        f"  {also}look for a static variable that keeps something between calls",
    ]
    return "\n".join(lines)
