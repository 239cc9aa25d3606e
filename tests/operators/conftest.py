"""The library's operators, built once for all tests of this folder."""

from __future__ import annotations

import functools
import resource
from collections.abc import Callable

import pytest

from opkit.check.operators import Operator
from tests.operators.oracle import Built, built
from tests.repositories import library_kernels

Library = Callable[..., Built]
"""(operator, count of inputs where that varies, tensors and dtypes that op.yml declares, compiler
flags) -> the operator, with one process of each kernel."""


@pytest.fixture(scope="session")
def library_operator() -> Library:
    """Return the operators of the library, each with one process of each kernel."""
    # A process takes 3 file descriptors; systems allow 1024 by default, and more on request.
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(allowed, min(most, 4096)), most))

    @functools.cache
    def get(
        op_type: str,
        count: int = 0,
        dtypes: tuple[tuple[str, str], ...] = (),
        cflags: tuple[str, ...] = (),
    ) -> Built:
        return built(Operator(library_kernels(op_type, count, dtypes, cflags=cflags).path))

    return get
