"""`rknn-op scan`: the operators of a model that a chip lacks, through the command."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from click.testing import Result
from onnx import TensorProto, helper

from tests.models.models import (
    constant,
    detection_head,
    frozen_graph,
    large,
    model,
    saved,
    saved_graph,
    value,
)
from tests.rknn_op.command import rknn_op


def scan(*arguments: object) -> Result:
    """Run the command."""
    return rknn_op("scan", *arguments)


def scanned(*arguments: object) -> dict[str, Any]:
    """Return the command's JSON."""
    result = scan(*arguments, "--json")
    assert result.exit_code in (0, 1), result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def types(found: dict[str, Any], key: str = "missing") -> list[str]:
    return [each["op_type"] for each in found[key]]


def unary(op_type: str, opset: int = 17, **attributes: Any) -> Any:
    """Return a model of one node with one input and one output."""
    node = helper.make_node(op_type, ["x"], ["y"], **attributes)
    return model([node], [value("x", [1, 4])], [value("y", None)], opset=opset)


# ---- What is missing -----------------------------------------------------------------------------


def test_missing_operators_of_a_detection_head(tmp_path: Path) -> None:
    found = scanned(saved(detection_head(), tmp_path))
    assert found["target"] == "rk3588"
    assert types(found) == ["GridSample"]
    [missing] = found["missing"]
    assert missing["domain"] == ""
    assert missing["ways"] == ["rename", "keep"]
    assert missing["nodes"] == [
        {
            "name": "/head/grid",
            "inputs": [
                {
                    "name": "features",
                    "shape": [1, 16, 6, 6],
                    "dtype": "float32",
                    "constant": False,
                },
                {"name": "grid", "shape": [1, 4, 4, 2], "dtype": "float32", "constant": False},
            ],
            "outputs": [
                {"name": "sampled", "shape": [1, 16, 4, 4], "dtype": "float32", "constant": False}
            ],
            "attributes": {"align_corners": 1},
        }
    ]


def test_ways_to_name_an_operator(tmp_path: Path) -> None:
    text = scan(saved(detection_head(), tmp_path)).stdout
    assert (
        "name in the model: cstGridSample by renamed nodes (default), or as it is by "
        "`op_type: GridSample` in op.yml (librknnrt 2.x only)"
    ) in " ".join(text.split())
    own = unary("Window", domain="our.domain")
    own.opset_import.append(helper.make_opsetid("our.domain", 1))
    text = " ".join(scan(saved(own, tmp_path)).stdout.split())
    assert "`op_type: Window` in op.yml" in text
    assert "2.x only" not in text


def test_operators_on_the_cpu_with_their_bytes(tmp_path: Path) -> None:
    found = scanned(saved(detection_head(), tmp_path))
    # TopK reads 1x16x4x4 floats, and writes 1x16x4x2 floats and int64 indices; k is constant.
    assert found["cpu"] == [
        {"op_type": "TopK", "nodes": ["top"], "bytes": 16 * 4 * (4 * 4 + 2 * 4 + 2 * 8)}
    ]


@pytest.mark.parametrize(
    ("op_type", "is_missing"),
    [
        ("Selu", True),
        ("Ceil", True),
        ("Softsign", True),
        ("Relu", False),
        ("Sin", False),
        ("Mish", False),
        ("Abs", False),  # becomes LeakyRelu
        ("Neg", False),  # becomes Mul
        ("Acosh", True),
    ],
)
def test_operators_of_rk3588(tmp_path: Path, op_type: str, is_missing: bool) -> None:
    result = scan(saved(unary(op_type, 18), tmp_path))
    assert result.exit_code == int(is_missing), result.output
    assert (f"{op_type} (1 node)" in result.stdout) is is_missing


def test_chips_differ(tmp_path: Path) -> None:
    file = saved(unary("Hardmax"), tmp_path)
    assert types(scanned(file, "--target", "rk3588")) == []
    assert types(scanned(file, "--target", "rk3568")) == ["Hardmax"]


def test_nodes_of_a_type_are_together(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Selu", ["x"], ["a"], alpha=1.5),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Selu", ["b"], ["y"], gamma=2.0),
    ]
    proto = model(nodes, [value("x", [2])], [value("y", [2])])
    [missing] = scanned(saved(proto, tmp_path))["missing"]
    assert [each["attributes"] for each in missing["nodes"]] == [{"alpha": 1.5}, {"gamma": 2.0}]
    assert [each["name"] for each in missing["nodes"]] == ["Selu_0", "Selu_2"]


def test_other_domains_are_missing(tmp_path: Path) -> None:
    node = helper.make_node("Relu", ["x"], ["y"], domain="com.example")
    proto = model([node], [value("x", [2])], [value("y", [2])], domains=["com.example"])
    file = saved(proto, tmp_path)
    assert "com.example.Relu" in scan(file).stdout
    [missing] = scanned(file)["missing"]
    assert (missing["domain"], missing["ways"]) == ("com.example", ["rename", "keep"])


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (helper.make_node("Selu", ["c"], ["d"]), ("Add", ["x", "d"]), []),
        (helper.make_node("RandomNormal", [], ["r"], shape=[2]), ("Add", ["x", "r"]), [0]),
        (helper.make_node("Shape", ["x"], ["s"]), ("Expand", ["x", "s"]), []),
    ],
    ids=["of a constant", "random", "shape of a fixed input"],
)
def test_constant_nodes_are_left_out(
    tmp_path: Path, first: Any, second: tuple[str, list[str]], expected: list[int]
) -> None:
    nodes = [first, helper.make_node(*second, ["y"])]
    c = constant("c", np.array([1, 2], np.float32))
    found = scanned(saved(model(nodes, [value("x", [2])], [value("y", [2])], [c]), tmp_path))
    assert types(found) == [nodes[index].op_type for index in expected]
    assert found["refused"] == []


def test_subgraphs(tmp_path: Path) -> None:
    def branch(op_type: str) -> Any:
        node = helper.make_node(op_type, ["x"], [f"of_{op_type}"])
        return helper.make_graph([node], op_type, [], [value(f"of_{op_type}", [2])])

    node = helper.make_node(
        "If", ["c"], ["y"], then_branch=branch("Selu"), else_branch=branch("Relu")
    )
    inputs = [value("c", [], TensorProto.BOOL), value("x", [2])]
    found = scanned(saved(model([node], inputs, [value("y", [2])]), tmp_path))
    assert types(found) == ["If", "Selu"]
    assert found["missing"][1]["nodes"][0]["inputs"][0]["shape"] == [2]


def test_local_functions_are_inlined(tmp_path: Path) -> None:
    opset = [helper.make_opsetid("", 17)]
    body = [helper.make_node("Selu", ["a"], ["b"])]
    function = helper.make_function("mine", "Twice", ["a"], ["b"], body, opset)
    node = helper.make_node("Twice", ["x"], ["y"], domain="mine")
    proto = model([node], [value("x", [2])], [value("y", [2])], opset=17, domains=["mine"])
    proto.functions.append(function)
    assert types(scanned(saved(proto, tmp_path))) == ["Selu"]


# ---- What the converter refuses ------------------------------------------------------------------


def test_refusals_have_remedies(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("TopK", ["x", "k"], ["scores", "indices"], name="top"),
        helper.make_node("NonZero", ["scores"], ["y"], name="found"),
    ]
    inputs = [value("x", ["n", 4]), value("k", [1], TensorProto.INT64)]
    proto = model(nodes, inputs, [value("y", None, TensorProto.INT64)], opset=21, ir_version=11)
    refused = scanned(saved(proto, tmp_path))["refused"]
    assert [(each["problem"], each["nodes"]) for each in refused] == [
        ("opset 21 (expected at most 19)", []),
        ("ir_version 11 (expected at most 10)", []),
        ("input x has the dynamic shape [n, 4]", []),
        ("input 1 of TopK must be constant", ["top"]),
        ("NonZero: the shape of its output depends on values", ["found"]),
    ]
    assert all(each["remedy"] for each in refused)


# ---- Other runtimes ------------------------------------------------------------------------------


def test_frozen_graph_of_tensorflow(tmp_path: Path) -> None:
    found = scanned(saved_graph(frozen_graph(), tmp_path))
    assert found["target"] == "rk1808"
    [missing] = found["missing"]
    assert missing["op_type"] == "TruncateDiv"
    assert missing["ways"] == ["keep"]
    [node] = missing["nodes"]
    assert node["inputs"] == [
        {"name": "x", "shape": [1, 4], "dtype": "float32", "constant": False},
        {"name": "two", "shape": [], "dtype": "float32", "constant": True},
    ]


def test_targets_take_models_of_their_framework(tmp_path: Path) -> None:
    result = scan(saved(detection_head(), tmp_path), "--target", "rv1126")
    assert result.exit_code == 2
    assert "a model of onnx; custom operators of rv1126 are for models of tensorflow" in (
        result.stderr
    )


def test_pplnn_asks_a_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = saved(detection_head(), tmp_path)
    folder = tmp_path / "src/ppl/nn/engines/riscv/optimizer"
    folder.mkdir(parents=True)
    registrations = [("Conv", 1, 16), ("TopK", 11, 16)]
    (folder / "riscv_ops.cc").write_text(
        "".join(
            f'    RegisterOptKernelCreator<{name}Op>("", "{name}", {first}, {last});\n'
            for name, first, last in registrations
        )
    )
    monkeypatch.setenv("PPLNN_SRC", str(tmp_path))
    found = scanned(file, "--target", "riscv64")
    # The model has opset 19.
    assert types(found) == ["Conv", "GridSample", "TopK"]
    assert found["missing"][0]["reason"].endswith("(expected 1 to 16)")
    monkeypatch.delenv("PPLNN_SRC")
    assert "set PPLNN_SRC" in scan(file, "--target", "riscv64").stderr


@pytest.mark.skipif("PPLNN_SRC" not in os.environ, reason="PPLNN_SRC names no checkout")
def test_pplnn_with_a_real_checkout(tmp_path: Path) -> None:
    node = helper.make_node("GridSample", ["x", "g"], ["y"])
    inputs = [value("x", [1, 1, 4, 4]), value("g", [1, 2, 2, 2])]
    file = saved(model([node], inputs, [value("y", None)], opset=16), tmp_path)
    assert types(scanned(file, "--target", "x64-pplnn")) == ["GridSample"]
    relu = saved(unary("Relu", 13), tmp_path, "relu.onnx")
    assert types(scanned(relu, "--target", "x64-pplnn")) == []


# ---- What users read -----------------------------------------------------------------------------


def test_text_has_80_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    saved(detection_head(), tmp_path)
    result = scan("model.onnx")
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "1 operator needs a custom one" in result.stdout
    assert "TopK      1      2.6 KB" in result.stdout


def test_annotations_for_github(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    saved(detection_head(), tmp_path)
    result = scan("model.onnx", "--format", "github")
    assert result.stdout.startswith("::error file=model.onnx::GridSample: 1 node; ")


@pytest.mark.parametrize("target", ["rk358", "rv1103", "\x1b[31m"])
def test_unknown_targets(tmp_path: Path, target: str) -> None:
    result = scan(saved(detection_head(), tmp_path), "--target", target)
    assert result.exit_code == 2
    assert "rk3588" in result.stderr
    assert "\x1b" not in result.stderr


# ---- Time ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_large_models(tmp_path: Path) -> None:
    """500 nodes and 100 MB take at most 2 s besides the loading by onnx."""
    file = saved(large(), tmp_path)
    assert file.stat().st_size > 100_000_000
    start = time.process_time()
    onnx.load(file)
    loading = time.process_time() - start
    start = time.process_time()
    assert types(scanned(file)) == ["Selu"]
    assert time.process_time() - start < 2 + loading


# ---- The toolkit itself --------------------------------------------------------------------------

TOOLKIT = os.environ.get("RKNN_OP_RKNN2_PYTHON", "")


@pytest.mark.slow
@pytest.mark.skipif(not TOOLKIT, reason="RKNN_OP_RKNN2_PYTHON names no Python")
def test_the_toolkit_is_asked(tmp_path: Path) -> None:
    file = saved(detection_head(), tmp_path)
    report = scanned(file, "--toolkit", TOOLKIT)["toolkit"]
    assert report["version"]
    assert report["differences"] == []
    # The lists know that a sum may be left; one of two inputs is not.
    node = helper.make_node("Sum", ["x", "z"], ["y"])
    proto = model([node], [value("x", [1, 4]), value("z", [1, 4])], [value("y", [1, 4])])
    other = saved(proto, tmp_path, "sum.onnx")
    [difference] = scanned(other, "--toolkit", TOOLKIT)["toolkit"]["differences"]
    assert difference == "Sum needs a custom operator by the lists, but the toolkit leaves none"


def test_a_python_without_the_toolkit(tmp_path: Path) -> None:
    result = scan(saved(detection_head(), tmp_path), "--toolkit", sys.executable)
    assert result.exit_code == 2
    assert "RKNN-Toolkit2 is not installed for this Python" in result.stderr
