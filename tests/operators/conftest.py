"""The library's operators, built once for all tests of this folder in a process."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from opkit.check.operators import Operator
from opkit.models import library
from tests.operators.oracle import Built, built
from tests.repositories import EXAMPLES, generate_example

Library = Callable[..., Built]
"""(operator, count of inputs where that varies) -> the operator, built."""


@pytest.fixture(scope="session")
def library_operator(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Return the operator of a name of ONNX; its repository is made and built once."""
    operators = {each.spec.name: each for each in library.operators(EXAMPLES)}
    made: dict[str, Built] = {}

    def get(op_type: str, count: int = 0) -> Built:
        operator = operators[op_type].with_inputs(count) if count else operators[op_type]
        if operator.text not in made:
            name = operator.folder.name
            folder = tmp_path_factory.mktemp(name)
            config = folder / f"{name}.yml"
            config.write_text(operator.text)
            repository = generate_example(folder, name, config)
            repository.scons("-s", "target=x64")
            made[operator.text] = built(Operator(repository.path))
        return made[operator.text]

    return get
