"""Workers: processes that answer requests."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from opkit.check.child_processes import start_worker
from tests.processes import marked

NEEDED = 1040
"""The files that a process must be allowed to open: those up to 1023, and a worker's pipes."""


@pytest.fixture
def many_open_files() -> Iterator[None]:
    """Hold all file descriptors up to 1023, as a check of many operators does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < NEEDED:  # no worker can have descriptors above 1023 here
        pytest.skip(f"this process may not open {NEEDED} files (ulimit -Hn)")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, NEEDED), hard))
    with ExitStack() as files:
        while (file := os.open(os.devnull, os.O_RDONLY)) < 1024:
            files.callback(os.close, file)
        files.callback(os.close, file)
        yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_open_files")
def test_file_descriptors_above_1023() -> None:
    worker = start_worker(["cat"])
    worker.send(b"a line\n", 20)
    assert worker.line() == b"a line\n"
    assert worker.close() == ""
    assert worker.process.returncode == 0


def test_worker_without_an_answer_times_out() -> None:
    worker = start_worker(["sleep", "60"])
    worker.send(b"a line\n", 0.1)
    with pytest.raises(TimeoutError):
        worker.line()
    worker.kill()


def test_request_waits_for_a_slow_worker() -> None:
    """A request may be larger than a pipe."""
    request = b"x" * (1 << 20) + b"\n"
    worker = start_worker(["sh", "-c", "sleep 0.3; exec cat >/dev/null"])
    worker.send(request, 20)
    worker.close()
    worker = start_worker(["sleep", "60"])
    with pytest.raises(TimeoutError):
        worker.send(request, 0.1)
    worker.kill()


def test_descendants_are_killed_but_not_the_worker() -> None:
    worker = start_worker(["sh", "-c", "setsid sleep 60 & echo started; exec cat"])
    worker.send(b"a line\n", 20)
    assert worker.line() == b"started\n"
    assert len(marked(worker.mark)) == 2
    worker.kill_strays()
    assert worker.line() == b"a line\n"
    deadline = time.monotonic() + 20
    while len(marked(worker.mark)) > 1 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert marked(worker.mark) == [worker.process.pid]
    worker.close()
