"""The library's operators, built once for all tests of this folder in a process."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from opkit.check.operators import Operator
from tests.operators.oracle import Built, built
from tests.repositories import ONNX_OPERATORS, generate_example

FOLDERS = {op_type: folder for folder, op_type in ONNX_OPERATORS.items()}
"""Operator of ONNX -> its folder in the library."""


@pytest.fixture(scope="session")
def library_operator(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Built]:
    """Return the operator of a name of ONNX; its repository is made and built once."""
    made: dict[str, Built] = {}

    def get(op_type: str) -> Built:
        if op_type not in made:
            folder = FOLDERS[op_type]
            repository = generate_example(tmp_path_factory.mktemp(folder), folder)
            repository.scons("-s", "target=x64")
            made[op_type] = built(Operator(repository.path))
        return made[op_type]

    return get
