"""The models of the tests are valid, run, and lack the operators that tests expect."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnxruntime.transformers.float16 import convert_float_to_float16

from tests.models import models
from tests.models.models import STANDARD, saved
from tests.rknn_op.command import rknn_op

MISSING = {
    "detection_head": ["GridSample"],
    "text_encoder": [],
    "audio": ["STFT"],
    "spectrum": ["DFT"],
    "two_missing": ["GridSample", "Selu"],
    "two_variants": ["GridSample"],
    "branches": ["Selu"],
    "half": ["Selu"],
    "opset_11": ["Selu"],
    "opset_19": ["Selu"],
}
"""Model -> the operators that rk3588 lacks. RKNN-Toolkit2 2.5.0 rewrites CumSum."""

_DTYPES = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(bool)": np.bool_,
}


def missing(file: Path, *options: str) -> list[str]:
    """Return the operators that the command finds missing."""
    found = json.loads(rknn_op("scan", file, "--json", *options).stdout)
    return [each["op_type"] for each in found["missing"]]


def run(file: Path) -> list[Any]:
    """Return the outputs of onnxruntime for small inputs."""
    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    random = np.random.default_rng(0)
    inputs = {
        each.name: random.integers(0, 2, each.shape).astype(_DTYPES[each.type])
        for each in session.get_inputs()
    }
    outputs: list[Any] = session.run(None, inputs)
    return outputs


@pytest.mark.parametrize("name", STANDARD)
def test_standard_models_run(tmp_path: Path, name: str) -> None:
    proto = STANDARD[name]()
    onnx.checker.check_model(proto, full_check=True)
    file = saved(proto, tmp_path)
    for output, info in zip(run(file), proto.graph.output, strict=True):
        assert output.shape == tuple(size.dim_value for size in info.type.tensor_type.shape.dim)
        assert np.isfinite(output).all()
    assert missing(file) == MISSING[name]
    assert file.stat().st_size < 100_000


@pytest.mark.parametrize("opset", [16, 19])
def test_detection_head_has_both_opsets(tmp_path: Path, opset: int) -> None:
    assert run(saved(models.detection_head(opset), tmp_path))[0].shape == (1, 16, 4, 2)


def test_external_data_beside_the_model(tmp_path: Path) -> None:
    inside = saved(models.detection_head(), tmp_path, "inside.onnx")
    outside = models.saved_externally(models.detection_head(), tmp_path)
    assert outside.stat().st_size < inside.stat().st_size
    for expected, found in zip(run(inside), run(outside), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert missing(outside) == ["GridSample"]
    (tmp_path / "model.onnx.data").unlink()
    assert missing(outside) == ["GridSample"]


def test_other_models(tmp_path: Path) -> None:
    onnx.checker.check_model(models.custom_domain())
    assert missing(saved(models.custom_domain(), tmp_path)) == ["Affine"]
    assert missing(models.saved_graph(models.frozen_graph(), tmp_path)) == ["TruncateDiv"]


# ---- Models of onnxruntime's tools ---------------------------------------------------------------


def test_model_that_onnxruntime_optimized(tmp_path: Path) -> None:
    """Its fused operators are in the domain com.microsoft, which converters do not know."""
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "optimized.onnx")
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    onnxruntime.InferenceSession(
        str(saved(fusible(), tmp_path)), options, providers=["CPUExecutionProvider"]
    )
    assert missing(tmp_path / "optimized.onnx") == ["FusedConv"]
    assert missing(tmp_path / "model.onnx") == []


def fusible() -> Any:
    """Return a model that onnxruntime fuses: Conv, then Relu."""
    nodes = [
        onnx.helper.make_node("Conv", ["x", "w"], ["features"]),
        onnx.helper.make_node("Relu", ["features"], ["y"]),
    ]
    inputs, outputs = [models.value("x", [1, 3, 8, 8])], [models.value("y", [1, 4, 6, 6])]
    return models.model(nodes, inputs, outputs, [models.weights("w", 4, 3, 3, 3)])


def test_model_that_onnxruntime_made_float16(tmp_path: Path) -> None:
    proto = convert_float_to_float16(models.classifier(17))
    file = saved(proto, tmp_path)
    assert missing(file) == ["Selu"]
    assert [output.dtype for output in run(file)] == [np.float16]
