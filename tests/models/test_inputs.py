"""The inputs of a model to run: random ones, and those of a file."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from opkit.common.errors import OpkitError
from rknn_op.models import onnx_model
from rknn_op.models.model_graph import Model
from rknn_op.models.running.model_inputs import assumptions, random_inputs, read_inputs
from tests.models.models import constant, model, saved, value
from tests.mutation import mutants

INT64 = TensorProto.INT64


def read(folder: Path, *inputs: Any) -> Model:
    """Return a model with a table of 7 rows that `ids` selects from, and the inputs."""
    nodes = [
        helper.make_node("Cast", ["ids"], ["wide"], to=TensorProto.INT64),
        helper.make_node("Gather", ["table", "wide"], ["y"]),
    ]
    ids = value("ids", [2, 500], TensorProto.INT32)
    table = constant("table", np.zeros((7, 2), np.float32))
    return onnx_model.read(saved(model(nodes, [ids, *inputs], [value("y", None)], [table]), folder))


def test_ranges(tmp_path: Path) -> None:
    inputs = [
        value("x", [100], TensorProto.FLOAT16),
        value("image", [1000], TensorProto.UINT8),
        value("b", [50], TensorProto.BOOL),
        value("i", [], TensorProto.INT64),
    ]
    found = random_inputs(read(tmp_path, *inputs))
    assert {name: array.dtype.name for name, array in found.items()} == {
        "ids": "int32",
        "x": "float16",
        "image": "uint8",
        "b": "bool",
        "i": "int64",
    }
    assert (found["ids"].min(), found["ids"].max(), found["ids"].shape) == (0, 6, (2, 500))
    assert -1 <= found["x"].min() < -0.5 < 0.5 < found["x"].max() <= 1
    assert found["image"].max() > 200
    assert {*found["b"]} == {True, False}
    assert found["i"].shape == ()
    again = random_inputs(read(tmp_path, *inputs))
    assert all((again[name] == array).all() for name, array in found.items())


INDICES: dict[str, Any] = {
    "Gather": ([9, 5, 3], [40], ["table", "i"], {"axis": -1}, 3),
    "GatherElements": ([9, 5, 3], [9, 40, 3], ["table", "i"], {"axis": 1}, 5),
    "GatherND": ([9, 5, 3], [40, 2], ["table", "i"], {}, 3),
    "ScatterElements": ([9, 5], [9, 5], ["table", "i", "table"], {"axis": 1}, 5),
    "ScatterND": ([9, 5], [40, 1], ["table", "i", "updates"], {}, 5),
}


@pytest.mark.parametrize("operator", INDICES)
def test_indices_are_in_the_range_of_their_axis(tmp_path: Path, operator: str) -> None:
    shape, indices, inputs, attributes, size = INDICES[operator]
    nodes = [
        helper.make_node("Transpose", ["ids"], ["turned"], perm=range(len(indices))[::-1]),
        helper.make_node("Transpose", ["turned"], ["i"], perm=range(len(indices))[::-1]),
        helper.make_node(operator, inputs, ["y"], **attributes),
    ]
    values = [value("ids", indices, TensorProto.INT64), value("updates", [40, 5])]
    table = constant("table", np.zeros(shape, np.float32))
    found = onnx_model.read(saved(model(nodes, values, [value("y", None)], [table]), tmp_path))
    ids = random_inputs(found)["ids"]
    assert (ids.min(), ids.max()) == (0, size - 1)


@pytest.mark.parametrize("sizes", [(3, 9), (9, 3)])
def test_indices_of_several_tables_are_in_the_smallest(
    tmp_path: Path, sizes: tuple[int, int]
) -> None:
    nodes = [helper.make_node("Gather", [f"t{size}", "ids"], [f"y{size}"]) for size in sizes]
    tables = [constant(f"t{size}", np.zeros((size, 2), np.float32)) for size in sizes]
    outputs = [value(f"y{size}", None) for size in sizes]
    ids = value("ids", [500], INT64)
    found = onnx_model.read(saved(model(nodes, [ids], outputs, tables), tmp_path))
    assert random_inputs(found)["ids"].max() == 2


@pytest.mark.parametrize(
    ("shape", "expected"),
    [(["batch", 3], (1, 3)), ([4, "N", 2], (4, 1, 2)), ([None, 3], (1, 3)), ([2, 3], None)],
)
def test_batch_is_one(tmp_path: Path, shape: list[Any], expected: tuple[int, ...] | None) -> None:
    found = read(tmp_path, value("x", shape))
    assert random_inputs(found)["x"].shape == (expected or tuple(shape))
    sentences = [*assumptions(found)]
    assert len(sentences) == (1 if expected else 0)
    for sentence in sentences:
        text = str(shape).replace("None", "?").replace("'", "")
        assert sentence == (
            f"input 'x' has the shape {text}: the size of the batch is assumed to be 1"
        )


def test_assumed_integers(tmp_path: Path) -> None:
    inputs = [value("mask", [2], INT64), value("image", [2], TensorProto.UINT8)]
    assert [*assumptions(read(tmp_path, *inputs))] == [
        "input 'mask' has random int64 from 0 to 3: their range is unknown",
        "input 'image' has random uint8 from 0 to 255: their range is unknown",
    ]


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (
            value("x", [1, None]),
            r"'x' has the dynamic shape \[1, \?\]; pass its array with --inputs",
        ),
        (value("x", None), r"'x' has the dynamic shape \[unknown\]; pass"),
        (value("x", ["n\x1b", 3]), r"'x' has the dynamic shape \[n\\x1b, 3\]; pass its array with"),
        (value("x", [1], TensorProto.STRING), "'x' is string, for which there are no random"),
        (value("x", [1], TensorProto.BFLOAT16), "'x' is bfloat16, for which"),
    ],
)
def test_inputs_without_random_values(tmp_path: Path, tensor: Any, message: str) -> None:
    with pytest.raises(OpkitError, match=message):
        random_inputs(read(tmp_path, tensor))


def test_inputs_of_a_file(tmp_path: Path) -> None:
    found = read(tmp_path, value("x/é", ["n", 3]))
    arrays: dict[str, Any] = {
        "ids": np.ones((2, 500), np.int32),
        "x/é": np.ones((5, 3), np.float32),
    }
    file = tmp_path / "inputs.npz"
    np.savez(file, **arrays)
    result = read_inputs(file, found)
    assert {name: array.shape for name, array in result.items()} == {
        "ids": (2, 500),
        "x/é": (5, 3),
    }


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({}, r"has no arrays \(expected 'ids'\)"),
        ({"id": np.zeros(1)}, r"has 'id' \(expected 'ids'\)"),
        ({"ids": np.zeros((2, 500))}, r"'ids': is float64 \(expected int32\)"),
        ({"ids": np.zeros((2, 5), np.int32)}, r"has shape \[2, 5\] \(expected \[2, 500\]\)"),
        ({"ids": np.zeros(2, np.int32)}, r"has shape \[2\] \(expected \[2, 500\]\)"),
        ({"ids": np.array([{}], object)}, "is not an .npz file of numpy arrays"),
    ],
)
def test_invalid_arrays(tmp_path: Path, arrays: dict[str, Any], message: str) -> None:
    file = tmp_path / "inputs.npz"
    np.savez(file, **arrays)
    with pytest.raises(OpkitError, match=message):
        read_inputs(file, read(tmp_path))


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"\x80\x04.", None])
def test_invalid_files(tmp_path: Path, data: bytes | None) -> None:
    file = tmp_path / "inputs.npz"
    if data is not None:
        file.write_bytes(data)
    with pytest.raises(OpkitError, match=r"inputs\.npz: (is not an|cannot be read)"):
        read_inputs(file, read(tmp_path))
    np.save(tmp_path / "one.npy", np.zeros(3))
    with pytest.raises(OpkitError, match=r"one\.npy: is not an"):
        read_inputs(tmp_path / "one.npy", read(tmp_path))


def test_damaged_files(tmp_path: Path) -> None:
    found = read(tmp_path)
    file = tmp_path / "inputs.npz"
    np.savez_compressed(file, ids=np.ones((2, 500), np.int32))
    for damaged in mutants([file.read_bytes()], 200):
        file.write_bytes(damaged)
        with suppress(OpkitError):
            read_inputs(file, found)
