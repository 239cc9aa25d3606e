"""Trial runs of a reference: an operator without a repository, time limits, tolerated errors."""

from __future__ import annotations

import math
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from opkit.check.operators import Operator
from opkit.common.scratch import temporary_folder
from opkit.description.spec import OpSpec
from opkit.runtimes.invocation import Array


@contextmanager
def trial_operator(spec: OpSpec, description: str, reference: bytes) -> Iterator[Operator]:
    """Yield an operator in a temporary folder, for `prepare`; it has no kernels.

    Args:
        spec: the operator.
        description: the text of op.yml.
        reference: the content of `<op>_reference.py`.
    """
    with temporary_folder() as folder:
        (folder / "op.yml").write_text(description, encoding="utf-8")
        (folder / f"{spec.lower}_reference.py").write_bytes(reference)
        try:
            yield Operator(folder)
        finally:
            sys.modules.pop(f"{spec.lower}_reference", None)


class TimeLimitError(BaseException):
    """The time is over; not an Exception, which the code may handle itself."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Stop Python code after some processor time, which does not depend on the machine's load.

    Without effect outside of the main thread, which alone gets signals.

    Args:
        seconds: the limit, in seconds.

    Raises:
        TimeLimitError: the time is over.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        raise TimeLimitError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


_RELATIVE = {"float16": 2e-3, "float32": 1e-5}
"""dtype -> the tolerated error, relative to the largest output."""


def tolerated_error(outputs: Mapping[str, Array]) -> float:
    """Return the tolerated absolute error of a case: a power of ten; 0 without floats."""
    errors = [
        _RELATIVE.get(array.dtype.name, 1e-5) * float(np.abs(finite.astype("f8")).max())
        for array in outputs.values()
        if array.dtype.kind == "f" and (finite := array[np.isfinite(array)]).size
    ]
    largest = max(errors, default=0.0)
    return float(f"1e{math.ceil(math.log10(largest))}") if largest else 0.0


def tolerance_text(error: float) -> str:
    """Return the arguments of a check with a tolerated error."""
    return f"max_ulp=4, max_error={error:g}" if error else "max_ulp=4"
