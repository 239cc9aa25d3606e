"""Worker processes, one on each processor."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from threading import Thread
from typing import TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def parallel(
    function: Callable[[_Item], _Result], items: Sequence[_Item], at_once: int = 1
) -> Iterator[_Result]:
    """Call a function with each item, in parallel on all processors.

    Args:
        function: of a module, or a partial one; its results are pickled.
        items: its arguments.
        at_once: the count of items that a worker takes at once.

    Yields:
        The results in the order of the items.
    """
    # Forked workers need no time for imports.
    workers = ProcessPoolExecutor(
        min(os.cpu_count() or 1, len(items)),
        multiprocessing.get_context("fork"),
        initializer=_begin,
    )
    try:
        # Delayed until each worker ignores it: processes that begin meanwhile never get it.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            results = workers.map(function, items, chunksize=at_once)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        yield from results
    finally:
        workers.shutdown(cancel_futures=True)


def _begin() -> None:
    """Ignore SIGINT, which the parent handles; exit when the parent dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
