"""A limit on the processor time of Python code."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


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
