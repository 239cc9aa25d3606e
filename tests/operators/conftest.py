"""The library's operators, built once for all tests of this folder."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest

from opkit.check.operators import Operator
from tests.operators.oracle import Built, built
from tests.repositories import library_kernels


@pytest.fixture(scope="session")
def library_operator() -> Callable[[str], Built]:
    """Return the operator of a name of ONNX, with one process of each kernel."""

    @functools.cache
    def get(op_type: str) -> Built:
        return built(Operator(library_kernels(op_type).path))

    return get
