"""An output's dtype in op.yml: the check, the class and a new repository agree on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from opkit.check import checking
from opkit.description.reader import DescriptionError
from opkit.runtimes import parse
from opkit.runtimes.invocation import LeftOutError
from opkit.runtimes.rknn.deliveries import INPUT_TYPES, OUTPUT_TYPES, TENSOR_TYPES
from opkit.testing import CheckError, Operator, cases, uniform
from tests.repositories import Repository, generate

DESCRIPTION = """\
name: Largest
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {index: {type: VX_TYPE_TENSOR, dtype: int16}, value: {type: VX_TYPE_TENSOR}}
"""
REFERENCE = """\
def output_shapes(input_shapes, params):
    return {name: input_shapes["x"][:-1] for name in ("index", "value")}


def reference(inputs, params):
    return {"index": inputs["x"].argmax(-1), "value": inputs["x"].max(-1)}
"""


def expected_dtypes(folder: Path, dtype: str | dict[str, str]) -> dict[str, str]:
    """Return the outputs' dtypes that the check expects."""
    (folder / "op.yml").write_text(DESCRIPTION)
    (folder / "largest_reference.py").write_text(REFERENCE)
    (case,) = cases([{"x": (3, 9)}], [uniform(0, 9)], dtype=dtype)
    expected = Operator(folder).prepare(case).expected
    return {name: str(array.dtype) for name, array in expected.items()}


@pytest.mark.parametrize("dtype", OUTPUT_TYPES)
def test_all_dtypes(dtype: str) -> None:
    index, value = parse(DESCRIPTION.replace("int16", dtype)).outputs
    assert (index.dtype, value.dtype) == (dtype, None)


@pytest.mark.parametrize(
    ("dtype", "index", "value"),
    [
        ("float16", "int16", "float16"),
        ("int8", "int16", "int8"),
        ({"index": "int16"}, "int16", "float16"),
        ({"x": "float32", "value": "float16"}, "int16", "float16"),
    ],
)
def test_output_dtype_from_op_yml(
    dtype: str | dict[str, str], index: str, value: str, tmp_path: Path
) -> None:
    assert expected_dtypes(tmp_path, dtype) == {"index": index, "value": value}


@pytest.mark.parametrize(
    ("dtype", "message"),
    [
        (
            {"index": "int8"},
            "output 'index' is int8 in the case, but int16 in the class that RKNN-Toolkit calls, "
            "as op.yml says; write `dtype: int8` in op.yml at outputs.index, or leave the dtype "
            "out of the case",
        ),
        ({"index": "float16"}, "output 'index' is float16 in the case, but int16 in the class"),
        ({"value": "int16"}, "output 'value' is int16 in the case, but float16 in the class that"),
    ],
)
def test_conflicting_case_dtype_is_refused(
    dtype: dict[str, str], message: str, tmp_path: Path
) -> None:
    with pytest.raises(CheckError) as caught:
        expected_dtypes(tmp_path, dtype)
    assert message in str(caught.value)


@pytest.mark.parametrize("dtype", sorted(TENSOR_TYPES.keys() - set(OUTPUT_TYPES)))
def test_output_that_leaves_model_empty_is_refused(dtype: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        parse(DESCRIPTION.replace("int16", dtype), "some.yml")
    assert str(caught.value) == (
        f"some.yml:3: outputs.index.dtype: invalid '{dtype}': rknn cannot return it, a model's "
        "output of it has the size 0 and no call fails; write `dtype: float16`, in which integers "
        "are exact up to 2048, or `dtype: int16` (expected float16, float32, int8, uint8, int16)"
    )


INPUT, OUTPUT = "input 'x'", "output 'value'"


@pytest.mark.parametrize(
    ("dtype", "tensor"),
    [("uint16", INPUT), ("int64", INPUT), ("int32", OUTPUT), ("uint32", OUTPUT)],
)
def test_case_with_lost_tensor_is_refused(dtype: str, tensor: str, tmp_path: Path) -> None:
    taken = {INPUT: INPUT_TYPES, OUTPUT: OUTPUT_TYPES}[tensor]
    with pytest.raises(CheckError) as caught:
        expected_dtypes(tmp_path, dtype)
    assert str(caught.value).endswith(
        f": {tensor} is {dtype}; RKNN-Toolkit has no such {tensor.split()[0]}s, librknn_runtime "
        f"leaves them empty and no call fails (expected {', '.join(taken)})"
    )


def test_integer_input_of_float_output_passes(tmp_path: Path) -> None:
    value = "value: {type: VX_TYPE_TENSOR"
    (tmp_path / "op.yml").write_text(DESCRIPTION.replace(value, f"{value}, dtype: float16"))
    (case,) = cases([{"x": (3, 9)}], [uniform(-9, 9)], dtype={"x": "int32"})
    Operator(tmp_path).check(case)


def test_runtime_with_other_tensors_keeps_case(tmp_path: Path) -> None:
    """Of two runtimes only the one without the dtype skips the case."""
    (tmp_path / "op.yml").write_text(f"{DESCRIPTION}runtimes: [rknn, pplnn]\n")
    (tmp_path / "largest_reference.py").write_text(REFERENCE)
    (case,) = cases([{"x": (3, 9)}], [uniform(-9, 9)], dtype={"x": "int64"})
    operator = Operator(tmp_path)
    prepared = operator.prepare(case)
    rknn, pplnn = operator.runtimes
    with pytest.raises(LeftOutError, match="cases with int64: its runtime has no such inputs"):
        checking.refuse_unsupported(rknn.check.convention, prepared)
    checking.refuse_unsupported(pplnn.check.convention, prepared)


def test_inexact_result_error_names_dtype_key(tmp_path: Path) -> None:
    (tmp_path / "op.yml").write_text(DESCRIPTION)
    (tmp_path / "largest_reference.py").write_text(REFERENCE.replace("argmax(-1)", "max(-1)"))
    (case,) = cases([{"x": (3, 9)}], [uniform(0.1, 0.9)])
    with pytest.raises(CheckError, match=r"op\.yml: outputs\.index\.dtype"):
        Operator(tmp_path).prepare(case)


@pytest.mark.slow
def test_new_repository_with_integer_output_passes(tmp_path: Path) -> None:
    repository = generate(tmp_path, DESCRIPTION)
    root = repository.path
    run = repository.scons("check")
    assert "6 passed" in run.stdout  # three shapes, two kinds of values
    assert "VX kernel" not in run.stdout
    notes = [line for line in run.stdout.splitlines() if line.startswith("note:")]
    assert notes == ["note: not run on aarch64: no qemu (apt install qemu-user-static)"]
    text = (root / "rknn_op_largest.py").read_text()
    assert "dtypes = [tf.int16, inputs_tensor[0].dtype]" in text
    # The CPU kernel writes int16: nonzero elements differ from the reference by whole numbers.
    path = root / "largest_compute.h"
    path.write_text(
        path.read_text().replace(
            "return NULL;", "outputs->index.int16[0] = 12345;\n    return NULL;"
        )
    )
    run = repository.scons("check", check=False)
    assert run.returncode != 0
    assert "12345" in run.stdout, run.stdout


@pytest.mark.slow
@pytest.mark.nightly
def test_integer_inputs_are_noted_once(copy_of_fresh: Repository) -> None:
    (path,) = copy_of_fresh.path.glob("*_compute.h")
    text = path.read_text().replace("FLOAT32", "INT16").replace("float32[", "int16[")
    path.write_text(text)
    (path,) = (copy_of_fresh.path / "tests").glob("test_*.py")
    text, _, _ = path.read_text().rpartition("@pytest.mark")  # without the VX kernel's test
    text = text.replace("uniform(-1, 1), special()", "uniform(-9, 9)")
    path.write_text(text.replace('"float16"', '"int16"'))
    run = copy_of_fresh.scons("check")
    note = (
        "note: cases have integer inputs (input: int16), but RKNN-Toolkit hands custom operators "
        "float16, in which integers are exact up to 2048"
    )
    assert " ".join(run.stdout.split()).count(note) == run.stdout.count("float16") == 1
