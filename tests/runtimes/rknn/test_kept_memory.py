"""Calls after the first one take no new pages from the system."""

from __future__ import annotations

import resource
from collections.abc import Callable

import numpy as np
import pytest

from opkit.repository import load
from opkit.runtimes.invocation import Invocation, RunOptions
from opkit.runtimes.rknn.host_kernels import HOST, host_kernel
from tests.repositories import Repository

pytestmark = pytest.mark.slow

ELEMENTS = 1 << 22


def page_faults(repository: Repository, repeat: int) -> int:
    """Return the page faults of a process that calls the delivered kernel repeatedly."""
    halves = np.ones(ELEMENTS, np.float16)
    spec = load(repository.path)
    library = repository.path / f"build/x64/lib{spec.lower}.so"
    kernel = host_kernel(spec, library, repository.path / HOST)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
    invocation = Invocation({"input": halves}, {}, {"output": ((ELEMENTS,), "float16")})
    result = kernel.run(invocation, RunOptions(repeat=repeat, limit=100))
    kernel.close()
    assert result.status == 0, result
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt - before


def test_repeated_calls_use_the_same_pages(example: Callable[..., Repository]) -> None:
    repository = example("exp", "rknn")
    repository.scons("build/host")
    once, often = (page_faults(repository, repeat) for repeat in (1, 9))
    # Floats of input and output; with memory of its own, each call would need as many.
    pages = 2 * ELEMENTS * 4 // resource.getpagesize()
    assert once > pages
    assert often - once < pages
