"""The example Exp: the accuracy of its math."""

from __future__ import annotations

import numpy as np
import pytest

from opkit.check.comparison import ulp_distance
from opkit.runtimes import parse
from opkit.runtimes.invocation import Invocation
from opkit.runtimes.rknn.host_kernels import HOST, host_kernel
from tests.repositories import library_kernels


@pytest.mark.slow
def test_all_halves_are_correctly_rounded() -> None:
    repository = library_kernels("Exp")
    spec = parse((repository.path / "op.yml").read_text())
    kernel = host_kernel(spec, repository.path / "build/x64/libexp.so", repository.path / HOST)
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    call = Invocation({"input": halves}, {}, {"output": (halves.shape, np.float16)})

    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        expected = np.exp(halves.astype(np.float64)).astype(np.float16)
    distance = ulp_distance(kernel.run(call).outputs["output"], expected)

    assert distance.max() <= 1
    assert (distance == 0).mean() >= 0.999
