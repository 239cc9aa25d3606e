"""`scons check` of operators with integers: declared in op.yml, and not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.check.target_repositories import counts
from tests.repositories import Repository, generate

DECLARED = """\
name: Take
runtimes: [rknn2]
inputs:
  rows: {type: VX_TYPE_TENSOR, dtype: int64}
  mask: {type: VX_TYPE_TENSOR, dtype: bool}
  x: {type: VX_TYPE_TENSOR}
outputs: {y: {type: VX_TYPE_TENSOR}, z: {type: VX_TYPE_TENSOR, dtype: int32}}
params: {scales: {type: floats, length: 300}}
"""
NOTE = (
    "note: cases have integer inputs (rows: int64), but librknnrt 1.6.0 hands them over as "
    "float32, and so does the check; to compute with integers, declare the input's `dtype`"
)


@pytest.fixture(scope="module")
def take(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return generate(tmp_path_factory.mktemp("take"), DECLARED)


@pytest.mark.slow
def test_new_repository_passes(take: Repository) -> None:
    math = (take.path / "take_compute.h").read_text()
    assert "outputs->y.int64[i] = inputs->rows.int64[i];" in math
    assert (
        '    dtype={"rows": "int64", "mask": "bool"},\n'
        in (take.path / "tests/test_take.py").read_text()
    )
    checked = take.scons("check").stdout
    # Three shapes, two kinds of values, three of scales.
    assert counts(checked) == {"CPU kernel": 18}
    assert "note: cases have integer inputs" not in checked


@pytest.mark.slow
def test_case_of_another_dtype(take: Repository) -> None:
    test = take.path / "tests/test_take.py"
    text = test.read_text()
    test.write_text(text.replace('"rows": "int64"', '"rows": "int32"'))
    failed = take.scons("check", check=False)
    test.write_text(text)
    assert failed.returncode != 0
    assert (
        "input 'rows' is int32 in the case, but int64 as op.yml says; write "
        'dtype={"rows": "int64"} in the case, or change inputs.rows.dtype in op.yml'
    ) in failed.stdout


@pytest.mark.slow
@pytest.mark.nightly
def test_undeclared_integers_fail_as_on_the_board(tmp_path: Path) -> None:
    repository = generate(tmp_path, DECLARED)
    description = repository.path / "op.yml"
    description.write_text(description.read_text().replace(", dtype: int64", ""))
    failed = repository.scons("check", check=False)
    assert failed.returncode != 0
    assert "Take: rows and y must be int64" in failed.stdout
    assert NOTE in " ".join(failed.stdout.split())
