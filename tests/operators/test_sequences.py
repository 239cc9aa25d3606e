"""Recurrences along time: the nodes of models, and operators that ONNX lacks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import helper, numpy_helper

from opkit.check.cases import Case
from opkit.runtimes.invocation import Array
from rknn_op.cli import main
from tests.models.models import model, saved, value
from tests.operators.calls.sequences import uniform
from tests.operators.conftest import Library
from tests.operators.oracle import Call, run_by_onnxruntime
from tests.repositories import EXAMPLES

pytestmark = pytest.mark.slow

LEFT_OUT = [  # node, inputs, outputs, opset, the constants that graft adds
    (
        helper.make_node(
            "LinearAttention",
            ["q", "k", "v"],
            ["y", "s"],
            name="n",
            q_num_heads=6,
            kv_num_heads=2,
            update_rule="linear",
        ),
        {"q": [3, 5, 24], "k": [3, 5, 8], "v": [3, 5, 14]},
        {
            "n_past_state": np.zeros((3, 2, 4, 7), np.float32),
            "n_decay": np.zeros((3, 5, 2), np.float32),
            "n_beta": np.ones((3, 5, 1), np.float32),
        },
    ),
    (
        helper.make_node("CausalConvWithState", ["q", "k"], ["y", "s"], name="n"),
        {"q": [2, 3, 9], "k": [3, 1, 5]},
        {"n_bias": np.zeros(3, np.float32), "n_past_state": np.zeros((2, 3, 4), np.float32)},
    ),
    (
        helper.make_node(
            "RNN",
            ["q", "k", "v"],
            ["y", "s"],
            name="n",
            hidden_size=4,
            direction="bidirectional",
            activations=["Relu", "Sigmoid"],
        ),
        {"q": [5, 3, 9], "k": [2, 4, 9], "v": [2, 4, 4]},
        {
            "n_b": np.zeros((2, 8), np.float32),
            "n_sequence_lens": np.array([-1], np.int32),
            "n_initial_h": np.zeros((2, 3, 4), np.float32),
        },
    ),
]


@pytest.mark.nightly
@pytest.mark.parametrize(("node", "inputs", "added"), LEFT_OUT, ids=lambda each: str(each)[:20])
def test_graft_adds_inputs(
    library_operator: Library, tmp_path: Path, node: Any, inputs: Any, added: Any
) -> None:
    tensors = [value(name, shape) for name, shape in inputs.items()]
    proto = model([node], tensors, [value("y", None), value("s", None)], opset=27)
    root = library_operator(node.op_type).operator.root
    arguments = ["graft", saved(proto, tmp_path), "-p", root, "-o", tmp_path / "out.onnx"]
    result = CliRunner().invoke(main, [*map(str, arguments)])
    assert result.exit_code == 0, result.output
    graph = onnx.load(tmp_path / "out.onnx").graph
    assert {*graph.node[0].input} == {*inputs, *added}
    texts = {each.name: each.s for each in graph.node[0].attribute}
    assert texts.get("activations", b"Relu,Sigmoid") == b"Relu,Sigmoid"  # RNN's list is one text
    found = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    for name, array in added.items():
        np.testing.assert_array_equal(found[name], array)


@pytest.mark.nightly
def test_library_has_a_recurrent_layer_of_a_model(tmp_path: Path) -> None:
    """PyTorch exports a list with one function, which is not ONNX's default."""
    node = helper.make_node("RNN", ["x", "w", "r"], ["y", "s"], hidden_size=4, activations=["Relu"])
    weights = [
        numpy_helper.from_array(np.ones((1, 4, size), np.float32), name)
        for name, size in (("w", 9), ("r", 4))
    ]
    proto = model([node], [value("x", [5, 3, 9])], [value("y", None), value("s", None)], weights)
    arguments = ["create", "--from", saved(proto, tmp_path), "--op", "RNN", "-p", tmp_path / "made"]
    result = CliRunner().invoke(main, [*map(str, arguments)])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "made/rnn_compute.h").read_text() == (
        EXAMPLES / "rnn/rnn_compute.h"
    ).read_text()


def assert_like(library: Library, op_type: str, case: Case, expected: list[Array]) -> None:
    """Compare reference and kernels with another program, which computes in float32, too."""
    for name, outputs in library(op_type).results(case).items():
        for found, right in zip(outputs.values(), expected, strict=True):
            np.testing.assert_allclose(found, right, 1e-4, 1e-5, err_msg=name)


def attention(random: np.random.Generator) -> dict[str, Array]:
    """Return query, key and value of 3 heads of 8 x 40, and a past."""
    shapes = {"query": (2, 7, 24), "key": (2, 7, 24), "value": (2, 7, 120)}
    inputs = {name: uniform(random, *shape) / 2 for name, shape in shapes.items()}
    return {**inputs, "past_state": uniform(random, 2, 3, 8, 40)}


def test_wkv6_like_linear_attention(library_operator: Library) -> None:
    """Without decay, and with a bonus of 1, each position reads the state with its own key."""
    inputs = attention(np.random.default_rng(1))
    attributes = {"q_num_heads": 3, "kv_num_heads": 3, "scale": 1.0, "update_rule": "linear"}
    expected = run_by_onnxruntime("LinearAttention", Call(inputs, attributes), 27)
    query, key, value, past = inputs.values()
    mixed = {"r": query, "w": 0 * key, "k": key, "v": value, "u": np.ones((3, 8), np.float32)}
    assert_like(library_operator, "WKV6", Case("linear", {**mixed, "past_state": past}), expected)


@pytest.mark.nightly
def test_wkv7_like_linear_attention(library_operator: Library) -> None:
    """Without decay, and with the key as removal key, it is the delta rule."""
    random = np.random.default_rng(2)
    inputs = attention(random)
    beta = uniform(random, 2, 7, 3, low=0)
    attributes = {"q_num_heads": 3, "kv_num_heads": 3, "scale": 1.0, "update_rule": "delta"}
    expected = run_by_onnxruntime("LinearAttention", Call({**inputs, "beta": beta}, attributes), 27)
    query, key, value, past = inputs.values()
    rates = key * np.repeat(beta, 8, axis=2)
    mixed = {"r": query, "w": 0 * key, "k": rates, "v": value, "a": -key, "b": rates}
    assert_like(library_operator, "WKV7", Case("delta", {**mixed, "past_state": past}), expected)


@pytest.mark.nightly
def test_selective_scan_like_linear_attention(library_operator: Library) -> None:
    """A channel is a head with a value of one element, and keys of its own decay."""
    random = np.random.default_rng(3)
    count, length, channels, states = 2, 9, 21, 5
    inputs = {
        "u": uniform(random, count, length, channels),
        "delta": uniform(random, count, length, channels, low=0.1, high=1.5),
        "a": uniform(random, channels, states, low=-1, high=0),
        "b": uniform(random, count, length, states),
        "c": uniform(random, count, length, states),
        "d": uniform(random, channels),
        "delta_bias": uniform(random, channels, low=0),
        "past_state": uniform(random, count, channels, states),
    }
    step = inputs["delta"] + inputs["delta_bias"]
    call = {
        "query": np.tile(inputs["c"], channels),
        "key": np.tile(inputs["b"], channels),
        "value": step * inputs["u"],
        "past_state": inputs["past_state"][..., np.newaxis],
        "decay": (step[..., np.newaxis] * inputs["a"]).reshape(count, length, -1),
    }
    heads = {"q_num_heads": channels, "kv_num_heads": channels}
    attributes = {**heads, "scale": 1.0, "update_rule": "gated"}
    y, state = run_by_onnxruntime("LinearAttention", Call(call, attributes), 27)
    expected = [y + inputs["d"] * inputs["u"], state[..., 0]]
    assert_like(library_operator, "SelectiveScan", Case("gated", inputs), expected)
