"""MultiscaleDeformableAttention, which ONNX lacks: against the same formula by its GridSample."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from onnx import helper

from opkit.check.cases import Case
from opkit.runtimes.invocation import Array
from rknn_op.cli import main
from tests.models.models import constant, model, saved, value
from tests.operators.calls.attention import deformable_attention_cases
from tests.operators.oracle import Built, Call, run_by_onnxruntime

pytestmark = [pytest.mark.slow, pytest.mark.nightly]

SAMPLING = {"mode": "linear", "padding_mode": "zeros", "align_corners": 0}


def by_grid_sample(case: Case) -> Array:
    """Return the output by onnxruntime's GridSample, of each level as images of N * heads."""
    value = case.inputs["value"]
    images, _, heads, channels = value.shape
    sizes = np.reshape(case.params["value_spatial_shapes"], (-1, 2))
    sums: Array = np.zeros((), np.float32)
    for level, (rows, columns) in enumerate(sizes):
        start = case.params["value_level_start_index"][level]
        pixels = value[:, start : start + rows * columns].transpose(0, 2, 3, 1)
        locations = case.inputs["sampling_locations"][:, :, :, level].transpose(0, 2, 1, 3, 4)
        weights = case.inputs["attention_weights"][:, :, :, level].transpose(0, 2, 1, 3)
        inputs = {
            "X": pixels.reshape(images * heads, channels, rows, columns),
            "grid": 2 * locations.reshape(images * heads, *locations.shape[2:]) - 1,
        }
        [samples] = run_by_onnxruntime("GridSample", Call(inputs, SAMPLING), 20)
        samples = samples.reshape(images, heads, channels, *weights.shape[2:])
        sums = sums + (samples * weights[:, :, np.newaxis]).sum(axis=-1)
    found: Array = sums.transpose(0, 3, 1, 2).reshape(images, -1, heads * channels)
    return found


# Sums of up to 40 products of numbers up to 1. A location of up to 20 pixels differs by 2^-19
# pixels, which the slope of a sample, up to 4, multiplies.
@given(case=deformable_attention_cases())
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_like_grid_sample(library_operator: Callable[[str], Built], case: Case) -> None:
    expected = by_grid_sample(case)
    for name, outputs in library_operator("MultiscaleDeformableAttention").results(case).items():
        np.testing.assert_allclose(outputs["output"], expected, 0, 3e-5, err_msg=name)


def test_graft_takes_nodes_of_mmdeploy(
    library_operator: Callable[[str], Built], tmp_path: Path
) -> None:
    node = helper.make_node(
        "MMCVMultiScaleDeformableAttention",
        ["value", "shapes", "starts", "locations", "weights"],
        ["y"],
        domain="mmdeploy",
        im2col_step=64,
    )
    inputs = {"value": [1, 10, 2, 4], "locations": [1, 3, 2, 2, 5, 2], "weights": [1, 3, 2, 2, 5]}
    constants = {"shapes": [[2, 3], [2, 2]], "starts": [0, 6]}
    proto = model(
        [node],
        [value(name, shape) for name, shape in inputs.items()],
        [value("y", [1, 3, 8])],
        [constant(name, np.array(each)) for name, each in constants.items()],
        domains=["mmdeploy"],
    )
    root = library_operator("MultiscaleDeformableAttention").operator.root
    arguments = ["graft", saved(proto, tmp_path), "-p", root, "-o", tmp_path / "out.onnx"]
    result = CliRunner().invoke(main, [*map(str, arguments)])
    assert result.exit_code == 0, result.output
    [found] = onnx.load(tmp_path / "out.onnx").graph.node
    assert found.op_type == "cstMMCVMultiScaleDeformableAttention"
    assert [*found.input] == ["value", "locations", "weights"]
    assert {each.name: helper.get_attribute_value(each) for each in found.attribute} == {
        "value_spatial_shapes": [2, 3, 2, 2],
        "value_level_start_index": [0, 6],
        "im2col_step": 64,
    }
