"""The memory of a node's tensors: calls after the first one take no new pages from the system."""

from __future__ import annotations

import resource
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from opkit.repository import load
from opkit.runtimes.invocation import Invocation, RunOptions
from opkit.runtimes.rknn.host_kernels import HOST, host_kernel
from tests.repositories import Repository, generate

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


DISTANCE = """\
name: Distance
runtimes: [rknn]
kernels: [cpu]
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR}}
"""
MATH = """\
#ifndef DISTANCE_COMPUTE_H
#define DISTANCE_COMPUTE_H
#include "generated/distance.h"

static const char *distance_compute(const struct distance_inputs *inputs,
                                    const struct distance_params *params,
                                    struct distance_outputs *outputs)
{
    (void)params;
    outputs->y.float32[0] = (float)((char *)outputs->y.data - (char *)inputs->x.data);
    return NULL;
}
#endif
"""


def test_tensors_begin_at_cache_lines(tmp_path: Path) -> None:
    repository = generate(tmp_path, DISTANCE)
    (repository.path / "distance_compute.h").write_text(MATH)
    repository.scons("build/host", "build/x64/libdistance.so")
    kernel = host_kernel(
        *(load(repository.path), repository.path / "build/x64/libdistance.so"),
        repository.path / HOST,
    )
    for elements, distance in ((16, 64), (17, 128), (33, 192)):
        tensors = {"x": np.ones(elements, np.float32)}
        result = kernel.run(Invocation(tensors, {}, {"y": ((1,), "float32")}))
        assert (result.status, result.outputs["y"].tolist()) == (0, [distance])
    kernel.close()
