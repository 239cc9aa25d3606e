"""ppl.nn's own x86 engine, if the tester has it.

PPLNN_BUILD is the build folder of a ppl.nn with the operators of built_operators.py.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from tests.check.target_repositories import counts
from tests.repositories import generate_example
from tests.runtimes.pplnn.built_operators import ELEMENTWISE, EXAMPLES

if not os.environ.get("PPLNN_BUILD"):
    pytest.skip(
        "set PPLNN_BUILD to a build of ppl.nn with the operators of built_operators.py",
        allow_module_level=True,
    )
BUILD = Path(os.environ["PPLNN_BUILD"]).absolute()


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_cases(name: str, tmp_path: Path) -> None:
    example = generate_example(tmp_path, name, "pplnn")
    checked = example.scons("check", "quick=1", f"pplnn={BUILD}").stdout
    assert any(kernel.endswith(" x86") for kernel in counts(checked))


def conv(source: str, result: str) -> onnx.NodeProto:
    """Return a convolution; ppl.nn requires kernel_shape, which ONNX infers from the weights."""
    inputs = [source, f"{result}.weights"]
    return helper.make_node("Conv", inputs, [result], pads=[1, 1, 1, 1], kernel_shape=[3, 3])


def convolved(x: Any, weights: Any) -> Any:
    """Return the result of a convolution."""
    padded = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    return np.einsum("nchwij,ocij->nohw", windows, weights)


@pytest.mark.parametrize("channels", [6, 32])
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_between_convolutions(name: str, channels: int, tmp_path: Path) -> None:
    """Conv gives N16CX; the padding of 6 channels has no effect behind the operator."""
    random = np.random.default_rng(0)
    inputs = ELEMENTWISE[name][0].split()
    image, weights = (
        random.uniform(1, 2, shape).astype(np.float32)
        for shape in [(1, 3, 7, 9), (len(inputs), channels, 3, 3, 3)]
    )
    last = random.uniform(1, 2, (5, channels, 3, 3)).astype(np.float32)
    graph = helper.make_graph(
        [
            *(conv("image", each) for each in inputs),
            helper.make_node(name, inputs, ["result"], domain="custom"),
            conv("result", "y"),
        ],
        "graph",
        [helper.make_tensor_value_info("image", onnx.TensorProto.FLOAT, image.shape)],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)],
        [
            numpy_helper.from_array(array, f"{each}.weights")
            for each, array in zip([*inputs, "y"], [*weights, last], strict=True)
        ],
    )
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("custom", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=7), tmp_path / "model.onnx")
    image.tofile(tmp_path / "image.dat")
    options = "--use-x86 --onnx-model model.onnx --inputs image.dat --save-outputs".split()
    subprocess.run([BUILD / "tools/pplnn", *options], cwd=tmp_path, check=True, capture_output=True)
    x, *others = (convolved(image, each) for each in weights)
    expected = convolved(x * others[0] if others else 1 / x, last)
    found = np.fromfile(tmp_path / "pplnn_output-y.dat", np.float32).reshape(expected.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
