"""The example TruncateDiv: its math on int32, which its cases on RKNN-Toolkit 1.x do not cover."""

from __future__ import annotations

import numpy as np
import pytest

from opkit.runtimes import parse
from opkit.runtimes.invocation import Array, Invocation, RunOptions
from opkit.runtimes.rknn.host_kernels import HOST, host_kernel
from tests.repositories import library_kernels


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.int16, np.int32])
def test_integers(dtype: type) -> None:
    repository = library_kernels("TruncateDiv")
    spec = parse((repository.path / "op.yml").read_text())
    library = repository.path / "build/x64/libtruncatediv.so"
    kernel = host_kernel(spec, library, repository.path / HOST)
    limits = np.iinfo(dtype)
    x: Array = np.array([limits.min, limits.max, limits.min, 7, -7, -1], dtype)
    y: Array = np.array([-1, -1, 1, -2, 2, 2], dtype)
    call = Invocation({"x": x, "y": y}, {}, {"output": (x.shape, dtype)})

    result = kernel.run(call, RunOptions(limit=60))
    assert (result.status, result.fault) == (0, ""), (result.printed, result.log)
    expected = [limits.min, -limits.max, limits.min, -3, -3, 0]
    assert result.outputs["output"].tolist() == expected
    call.inputs["y"][3] = 0
    assert (
        kernel.run(call, RunOptions(limit=60))
        .log[0]
        .endswith("y must not hold 0 if the tensors are integers")
    )
