"""`rknn-op scan`: the operators of a model that a chip lacks, through the command."""

from __future__ import annotations

import json
import os
import struct
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from click.testing import Result
from onnx import TensorProto, helper

from rknn_op.creation.operator_library import operators
from rknn_op.models import costs, unsuitable
from rknn_op.models.model_graph import Node, Tensor
from rknn_op.template import EXAMPLES
from tests.models.models import (
    constant,
    detection_head,
    frozen_graph,
    large,
    model,
    saved,
    saved_graph,
    value,
    weights,
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
    [node] = missing["nodes"]
    assert node.pop("rewrite")["form"] == "grid_sample"
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
            "reads": 4 * (16 * 6 * 6 + 4 * 4 * 2),
            "writes": 4 * 16 * 4 * 4,
        }
    ]


def test_bytes_of_missing_operators(tmp_path: Path) -> None:
    """Of all nodes; the text leaves them out if a size is unknown."""
    nodes = [helper.make_node("Selu", ["x"], ["a"]), helper.make_node("Selu", ["a"], ["y"])]
    file = saved(model(nodes, [value("x", [2, 500])], [value("y", [2, 500])]), tmp_path)
    assert "reads 8.0 KB and writes 8.0 KB, each" in scan(file).stdout
    ports = [value("x", ["n", 500])], [value("y", ["n", 500])]
    file = saved(model(nodes, *ports), tmp_path)
    assert "reads" not in scan(file).stdout
    [missing] = scanned(file)["missing"]
    assert [(node["reads"], node["writes"]) for node in missing["nodes"]] == [(None, None)] * 2


def test_times_of_missing_operators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all nodes; the text leaves them out without a count or a size, and for other runtimes."""
    monkeypatch.setattr(costs, "counts", lambda: {"Selu": costs.Count(12e3, "")})
    nodes = [helper.make_node("Selu", ["x"], ["a"]), helper.make_node("Selu", ["a"], ["y"])]
    file = saved(model(nodes, [value("x", [2, 500])], [value("y", [2, 500])]), tmp_path)
    # 2 nodes of 1,000 elements: 24 million instructions, at 1.91, 0.81 and 0.42 in a cycle.
    [missing] = scanned(file)["missing"]
    assert missing["milliseconds"] == {"A76": 5.2, "A55": 16, "A53": 32}
    assert (
        "about 5.2 ms on an A76 at 2.4 GHz, 16 on an A55 at 1.8, 32 on an A53 at 1.8: an estimate "
        "from instructions"
    ) in " ".join(scan(file).stdout.split())
    unknown = saved(model(nodes, [value("x", ["n"])], [value("y", ["n"])]), tmp_path, "n.onnx")
    for each in (unknown, saved(detection_head(), tmp_path)):
        [missing] = scanned(each)["missing"]
        assert missing["milliseconds"] is None
        assert " ms on " not in scan(each).stdout


def test_long_and_short_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for instructions, expected in ((5e9, "about 1100 ms"), (1, "about 0.001 ms")):
        monkeypatch.setattr(costs, "counts", lambda n=instructions: {"Selu": costs.Count(n, "")})
        node = helper.make_node("Selu", ["x"], ["y"])
        file = saved(model([node], [value("x", [1])], [value("y", [1])]), tmp_path)
        assert expected in scan(file).stdout


@pytest.mark.parametrize(
    ("op_type", "inputs", "output", "attributes", "expected"),
    [
        ("GridSample", [(1, 8, 9, 9), (1, 4, 4, 2)], (1, 8, 4, 4), {}, 128),
        ("TopK", [(2, 100), (1,)], (2, 5), {}, 200),
        ("Sum", [(4, 5), (5,)], (4, 5), {}, 25),
        ("DeformConv", [(1, 4, 9, 9), (6, 4, 3, 3)], (1, 6, 7, 7), {}, 6 * 49 * 36),
        ("Einsum", [(2, 3, 4), (2, 4, 5)], (2, 3, 5), {"equation": "bij, bjk -> bik"}, 120),
        ("Einsum", [(2, 3, 4), (4, 5)], (2, 3, 5), {"equation": "...ij,jk"}, None),
        ("LpPool", [(1, 2, 9, 9)], (1, 2, 7, 7), {"kernel_shape": (3, 3)}, 2 * 49 * 9),
        ("RoiAlign", [(1, 2, 9, 9)], (3, 2, 1, 1), {"sampling_ratio": 2}, 24),
        ("RoiAlign", [(1, 2, 9, 9)], (3, 2, 1, 1), {}, None),
        ("NonMaxSuppression", [(1, 9, 4), (1, 1, 9)], (5, 3), {}, None),
        ("Exp", [("n", 3)], ("n", 3), {}, None),
        ("Exp", [None], None, {}, None),
    ],
)
def test_work_of_a_node(
    op_type: str, inputs: list[Any], output: Any, attributes: dict[str, Any], expected: int | None
) -> None:
    tensors = tuple(Tensor("x", shape, "float32") for shape in inputs)
    node = Node("n", op_type, "", tensors, (Tensor("y", output, "float32"),), attributes)
    assert costs.work(node) == expected


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


@pytest.mark.parametrize(
    ("dtype", "size"), [("BOOL", 1), ("FLOAT16", 2), ("FLOAT", 4), ("INT64", 8), ("STRING", None)]
)
def test_bytes_of_dtypes(tmp_path: Path, dtype: str, size: int | None) -> None:
    node = helper.make_node("Mine", ["x"], ["y"], domain="m")
    ports = [value(name, [2, 500], getattr(TensorProto, dtype)) for name in "xy"]
    file = saved(model([node], ports[:1], ports[1:], domains=["m"]), tmp_path)
    [missing] = scanned(file)["missing"]
    assert missing["nodes"][0]["reads"] == (size and 1000 * size)


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


def test_operators_in_a_network(tmp_path: Path) -> None:
    """Quantized pairs and LayerNormalization are the toolkit's, whatever a node alone is."""
    constants = [
        constant("s", np.array(0.05, np.float32)),
        constant("z", np.array(0, np.int8)),
        constant("w", np.ones((4, 4, 1, 1), np.int8)),
        constant("scale", np.ones(8, np.float32)),
    ]
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
        helper.make_node("DequantizeLinear", ["w", "s", "z"], ["v"]),
        helper.make_node("Conv", ["d", "v"], ["c"]),
        helper.make_node("LayerNormalization", ["c", "scale"], ["y"], axis=-1, epsilon=1e-5),
    ]
    ports = [value("x", [1, 4, 8, 8])], [value("y", [1, 4, 8, 8])]
    result = scan(saved(model(nodes, *ports, constants, opset=17), tmp_path))
    assert result.exit_code == 0
    assert "no operators need a custom one" in result.stdout
    assert "refuses" not in result.stdout


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
    assert missing["reason"] == "com.example is not ONNX's own domain"


@pytest.mark.parametrize(
    ("op_type", "reason"),
    [
        ("BiasGelu", "onnxruntime's optimizer makes this operator of ONNX's own"),
        ("Attention", "onnxruntime's optimizer makes this operator of ONNX's own"),
        ("GroupQueryAttention", "the operator library has it: rknn-op create --library Group"),
    ],
)
def test_operators_of_onnxruntime_have_a_remedy(op_type: str, reason: str, tmp_path: Path) -> None:
    node = helper.make_node(op_type, ["x", "x"], ["y"], domain="com.microsoft")
    proto = model([node], [value("x", [2])], [value("y", [2])], domains=["com.microsoft"])
    [missing] = scanned(saved(proto, tmp_path))["missing"]
    assert f"is not ONNX's own domain; {reason}" in missing["reason"]


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
    assert types(found, "unsuitable") == [nodes[index].op_type for index in expected]
    assert (found["missing"], found["refused"]) == ([], [])


def test_subgraphs(tmp_path: Path) -> None:
    def branch(op_type: str) -> Any:
        node = helper.make_node(op_type, ["x"], [f"of_{op_type}"])
        return helper.make_graph([node], op_type, [], [value(f"of_{op_type}", [2])])

    node = helper.make_node(
        "If", ["c"], ["y"], then_branch=branch("Selu"), else_branch=branch("Relu")
    )
    inputs = [value("c", [], TensorProto.BOOL), value("x", [2])]
    found = scanned(saved(model([node], inputs, [value("y", [2])]), tmp_path))
    assert (types(found), types(found, "unsuitable")) == (["Selu"], ["If"])
    assert found["missing"][0]["nodes"][0]["inputs"][0]["shape"] == [2]


def test_local_functions_are_inlined(tmp_path: Path) -> None:
    opset = [helper.make_opsetid("", 17)]
    body = [helper.make_node("Selu", ["a"], ["b"])]
    function = helper.make_function("mine", "Twice", ["a"], ["b"], body, opset)
    node = helper.make_node("Twice", ["x"], ["y"], domain="mine")
    proto = model([node], [value("x", [2])], [value("y", [2])], opset=17, domains=["mine"])
    proto.functions.append(function)
    assert types(scanned(saved(proto, tmp_path))) == ["Selu"]


# ---- What a custom operator cannot replace -------------------------------------------------------


@pytest.mark.parametrize(
    ("op_type", "remedy"),
    [
        ("Shape", "fixed sizes"),
        ("NonZero", "cut the model before it"),
        ("RandomNormalLike", "make the noise an input"),
        ("Bernoulli", "make random numbers an input"),
    ],
)
def test_unsuitable_operators_have_remedies(tmp_path: Path, op_type: str, remedy: str) -> None:
    node = helper.make_node(op_type, ["x"], ["y"], name="it")
    dtype = TensorProto.INT64 if op_type in ("Shape", "NonZero") else TensorProto.FLOAT
    file = saved(model([node], [value("x", ["n", 4])], [value("y", None, dtype)]), tmp_path)
    found = scanned(file)
    assert found["missing"] == []
    [entry] = found["unsuitable"]
    assert (entry["op_type"], entry["nodes"]) == (op_type, ["it"])
    assert remedy in entry["remedy"]
    result = scan(file)
    assert result.exit_code == 1
    text = " ".join(result.stdout.split())
    assert f"Missing, but not to be replaced by a custom operator: {op_type} (it) " in text
    assert entry["remedy"] in text
    assert entry["remedy"] in scan(file, "--format", "github").stdout


def test_unsuitable_operators_are_of_onnx_and_not_of_the_library() -> None:
    listed = unsuitable.remedies()
    domains = ("", unsuitable.TRAINING)
    has = onnx.defs.has
    others = [each for each in listed if not any(has(each, domain) for domain in domains)]
    assert others == ["InverseMelScale"]  # of torchaudio
    library = {each.spec.name for each in operators(EXAMPLES) if "rknn2" in each.spec.runtimes}
    assert library
    assert library & {*listed} == set()


def test_operators_that_the_converter_refuses_are_renamed(tmp_path: Path) -> None:
    constants = [constant("count", np.array([3])), constant("limit", np.array([0.5], np.float32))]
    node = helper.make_node("NonMaxSuppression", ["boxes", "scores", "count", "limit"], ["y"])
    inputs = [value("boxes", [1, 6, 4]), value("scores", [1, 1, 6])]
    output = value("y", None, TensorProto.INT64)
    file = saved(model([node], inputs, [output], constants), tmp_path)
    [missing] = scanned(file)["missing"]
    assert missing["reason"].startswith("the converter refuses it: ")
    assert missing["ways"] == ["rename"]
    assert "or as it is by" not in " ".join(scan(file).stdout.split())


# ---- What the converter refuses ------------------------------------------------------------------


def test_refusals_have_remedies(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("TopK", ["x", "k"], ["scores", "indices"], name="top"),
        helper.make_node("Relu", ["scores"], ["y"]),
    ]
    inputs = [value("x", ["n", 4]), value("k", [1], TensorProto.INT64)]
    proto = model(nodes, inputs, [value("y", None)], opset=21, ir_version=11)
    refused = scanned(saved(proto, tmp_path))["refused"]
    assert [(each["problem"], each["nodes"]) for each in refused] == [
        ("opset 21 (expected at most 19)", []),
        ("ir_version 11 (expected at most 10)", []),
        ("input x has the dynamic shape [n, 4]", []),
        ("input 1 of TopK must be constant", ["top"]),
    ]
    assert all(each["remedy"] for each in refused)
    assert refused[0]["remedy"].startswith("export with opset_version=19; graft and rewrite ")


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
    monkeypatch.setenv("PPLNN_SRC", str(tmp_path / "src"))
    message = f"PPLNN_SRC={tmp_path}/src: not a checkout of ppl.nn v0.9.0 or later: {tmp_path}/src/"
    assert message in scan(file, "--target", "riscv64").stderr
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


def toolkit_of(folder: Path, left: Sequence[str], refusal: str = "", rule: str = "") -> Path:
    """Return a program that answers as a Python with the toolkit.

    Args:
        folder: where to write it.
        left: the types of the nodes in its packages.
        refusal: the last line of its output; empty: it builds all models.
        rule: the rule of its optimizer without which alone it builds a model; empty: none.
    """
    nodes = [f"{each}:node".encode() for each in left]
    texts = [*nodes, b"onnx::Tensor_1", b"p:"]  # the last is in the NPU's instructions
    package = b"".join(struct.pack("<I", len(each)) + each + b"\0" for each in texts)
    file = folder / "python"
    file.write_text(
        f"#!{sys.executable}\n"
        "import json, pathlib, sys\n"
        "work = json.loads(pathlib.Path(sys.argv[2]).read_text())\n"
        "for each in work['models']:\n"
        f"    fails = {rule!r} and each['rules'] != [{rule!r}]\n"
        f"    advice = \"You can add disable_rules=['{rule}'] in its config()!\\nfailed\"\n"
        f"    pathlib.Path(each['log']).write_text(advice if fails else {refusal!r})\n"
        f"    each['status'] = int(bool(fails or {refusal!r}))\n"
        f"    pathlib.Path(each['package']).write_bytes({package!r})\n"
        "statuses = [each['status'] for each in work['models']]\n"
        "print(json.dumps({'version': '9.9', 'statuses': statuses}))\n"
    )
    file.chmod(0o755)
    return file


def chain(*op_types: str, opset: int = 17) -> Any:
    """Return a model of operators with one input, one behind the other."""
    names = ["x", *(f"t{index}" for index in range(1, len(op_types))), "y"]
    nodes = [
        helper.make_node(op_type, [names[index]], [names[index + 1]], name=f"of_{op_type}")
        for index, op_type in enumerate(op_types)
    ]
    return model(nodes, [value("x", [1, 4])], [value("y", None)], opset=opset)


@pytest.mark.parametrize(
    ("op_types", "left", "missing", "difference"),
    [
        (["Selu", "Relu"], ["Selu", "Conv"], ["Selu"], None),
        (
            ["Selu"],
            [],
            [],
            "Selu is missing by the lists, but the toolkit leaves none",
        ),
        (
            ["Relu", "Sign"],
            ["Sign", "Relu", "exNew"],
            ["Sign"],
            "exNew is left by the toolkit, and is neither on a list nor in the model",
        ),
        (
            ["Neg", "Relu"],
            ["Neg"],
            ["Neg"],
            "Neg is left by the toolkit, and is on no list: it needs a custom operator",
        ),
    ],
)
def test_the_toolkit_decides(
    tmp_path: Path, op_types: list[str], left: list[str], missing: list[str], difference: str | None
) -> None:
    file = saved(chain(*op_types), tmp_path)
    toolkit = toolkit_of(tmp_path, left)
    found = scanned(file, "--toolkit", toolkit)
    assert types(found) == missing
    assert [node["name"] for each in found["missing"] for node in each["nodes"]] == [
        f"of_{each}" for each in missing
    ]
    assert found["toolkit"] == {
        "version": "9.9",
        "differences": [] if difference is None else [difference],
    }
    result = scan(file, "--toolkit", toolkit)
    assert result.exit_code == int(bool(missing))
    count = f"{len(missing) or 'no'} operator"
    assert count in result.stdout
    assert difference is None or difference in " ".join(result.stdout.split())


def test_what_the_toolkit_builds_is_not_refused(tmp_path: Path) -> None:
    file = saved(chain("NonZero", "Relu", opset=20), tmp_path)
    assert types(scanned(file), "unsuitable") == ["NonZero"]
    found = scanned(file, "--toolkit", toolkit_of(tmp_path, ["Relu"]))
    assert (found["missing"], found["unsuitable"], found["refused"]) == ([], [], [])
    assert (
        found["toolkit"]["differences"][-1]
        == "opset 20 (expected at most 19): the toolkit builds it"
    )


def test_a_rule_of_the_toolkit_that_fails(tmp_path: Path) -> None:
    file = saved(chain("Relu"), tmp_path)
    report = scanned(file, "--toolkit", toolkit_of(tmp_path, ["Relu"], rule="fuse_a"))["toolkit"]
    assert report["differences"] == [
        "a rule of its optimizer fails: it builds the model with disable_rules=['fuse_a'], an "
        "argument of its config()"
    ]


@pytest.mark.parametrize("opset", [17, 20])
def test_the_reason_of_the_toolkit_is_a_refusal(tmp_path: Path, opset: int) -> None:
    file = saved(chain("Selu", opset=opset), tmp_path)
    by_lists = scanned(file)
    found = scanned(file, "--toolkit", toolkit_of(tmp_path, [], "build: no such rank"))
    assert found["missing"] == by_lists["missing"]
    assert found["refused"][0]["problem"] == "RKNN-Toolkit2: build: no such rank"
    assert found["refused"][1:] == by_lists["refused"]
    differs = ["it refuses the model, the lists do not"] if opset == 17 else []
    assert found["toolkit"] == {"version": "", "differences": differs}


TOOLKIT = os.environ.get("RKNN_OP_RKNN2_PYTHON", "")


@pytest.mark.slow
@pytest.mark.skipif(not TOOLKIT, reason="RKNN_OP_RKNN2_PYTHON names no Python")
def test_the_toolkit_is_asked(tmp_path: Path) -> None:
    file = saved(detection_head(), tmp_path)
    report = scanned(file, "--toolkit", TOOLKIT)["toolkit"]
    assert report["version"]
    assert report["differences"] == []
    # It leaves an Einsum with blanks in its equation, which cleaning removes.
    node = helper.make_node("Einsum", ["x", "z"], ["y"], equation="bij, bjk -> bik")
    inputs = [value("x", [1, 4, 8]), value("z", [1, 8, 4])]
    other = saved(model([node], inputs, [value("y", None)]), tmp_path, "einsum.onnx")
    found = scanned(other, "--toolkit", TOOLKIT)
    assert types(found) == types(scanned(other)) == []
    assert found["toolkit"]["differences"] == []
    found = scanned(other, "--toolkit", TOOLKIT, "--as-is")
    assert types(found) == ["Einsum"]
    assert found["toolkit"]["differences"] == [
        "Einsum is left by the toolkit, and is on no list: it needs a custom operator"
    ]


def gather_nd(data: list[int], indices: Any, computed: bool, **attributes: Any) -> Any:
    """Return a model with a GatherND between two convolutions; its indices may be computed."""
    values = np.asarray(indices, np.int64)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"]),
        helper.make_node("Reshape", ["a", "sizes"], ["data"]),
        helper.make_node("Cast", ["z"], ["i"], to=TensorProto.INT64),
        helper.make_node("GatherND", ["data", "i" if computed else "c"], ["g"], **attributes),
        helper.make_node("Relu", ["g"], ["y"]),
    ]
    inputs = [value("x", [1, 4, 4, 4])]
    if computed:
        inputs.append(value("z", values.shape))
    else:
        del nodes[2]
    constants = [weights("w", 4, 4, 1, 1), constant("c", values), constant("sizes", data)]
    return model(nodes, inputs, [value("y", None)], constants)


@pytest.mark.parametrize(
    "toolkit",
    [
        False,
        pytest.param(
            True,
            marks=[
                pytest.mark.slow,
                pytest.mark.skipif(not TOOLKIT, reason="RKNN_OP_RKNN2_PYTHON names no Python"),
            ],
        ),
    ],
)
@pytest.mark.parametrize(
    ("data", "indices", "is_computed", "attributes", "missing"),
    [
        ([4, 16], [[3], [1], [2]], True, {}, []),
        ([4, 4, 4], [[[3], [1]], [[0], [1]]], True, {}, []),
        ([4, 16], [[3], [1], [2]], False, {}, ["GatherND"]),
        ([4, 16], [3], True, {}, ["GatherND"]),
        ([4, 16], [[3, 1], [0, 2]], True, {}, ["GatherND"]),
        ([2, 4, 8], [[[3], [1]], [[2], [0]]], True, {"batch_dims": 1}, ["GatherND"]),
        ([4, 16], [[row] for row in range(4)], False, {}, []),
        ([1, 8, 8], [[0, row] for row in range(8)], False, {}, []),
        ([1, 8, 8], [[0, row] for row in range(7)], False, {}, ["GatherND"]),
    ],
)
def test_some_nodes_of_an_operator_are_missing(
    tmp_path: Path,
    data: list[int],
    indices: Any,
    is_computed: bool,
    attributes: dict[str, int],
    missing: list[str],
    toolkit: bool,
) -> None:
    """The toolkit makes a Gather of some GatherND; others only copy."""
    file = saved(gather_nd(data, indices, is_computed, **attributes), tmp_path)
    found = scanned(file, *(["--toolkit", TOOLKIT] if toolkit else []))
    assert types(found) == missing
    if toolkit:
        differences = found["toolkit"]["differences"]
        assert [each for each in differences if "GatherND" in each] == []


def test_missing_nodes_are_those_of_the_operator(tmp_path: Path) -> None:
    """The Gather of a GatherND is not on the CPU; only the other GatherND is missing."""
    proto = gather_nd([4, 16], [[3], [1], [2]], True)
    more = [
        helper.make_node("GatherND", ["data", "pairs"], ["h"], "by_pairs"),
        helper.make_node("Relu", ["h"], ["more"]),
    ]
    proto.graph.node.extend(more)
    proto.graph.initializer.append(constant("pairs", np.array([[3, 1], [0, 2]])))
    proto.graph.output.append(value("more", None))
    file = saved(proto, tmp_path)
    found = scanned(file)
    [missing] = found["missing"]
    assert [each["name"] for each in missing["nodes"]] == ["by_pairs"]
    assert "Gather" not in types(found, "cpu")
    # The toolkit does not tell which node it leaves.
    found = scanned(file, "--toolkit", toolkit_of(tmp_path, ["Conv", "Gather", "GatherND"]))
    [missing] = found["missing"]
    assert len(missing["nodes"]) == 2
    found = scanned(file, "--toolkit", toolkit_of(tmp_path, ["Conv", "Gather"]))
    assert found["missing"] == []


def test_a_python_without_the_toolkit(tmp_path: Path) -> None:
    result = scan(saved(detection_head(), tmp_path), "--toolkit", sys.executable)
    assert result.exit_code == 2
    assert "RKNN-Toolkit2 is not installed for this Python" in result.stderr
