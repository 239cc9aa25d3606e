"""Recorded calls of a model's nodes: their tensors, and the reasons for nodes without any."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

from rknn_op.models import onnx_model
from rknn_op.models.running.recording import Limits, Recording, record
from tests.models.models import constant, detection_head, model, saved, value

HALF, INT64 = TensorProto.FLOAT16, TensorProto.INT64
Record = Callable[..., Recording]


@pytest.fixture
def recorded(tmp_path: Path) -> Record:
    """Return a function that records the calls of operators in a model."""

    def run(proto: Any, operators: str, **options: Any) -> Recording:
        file = proto if isinstance(proto, Path) else saved(proto, tmp_path)
        found = onnx_model.read(file)
        names = operators.split()
        return record(found, [node for node in found.nodes if node.op_type in names], **options)

    return run


def tensors(recording: Recording) -> list[tuple[str, dict[int, Any], dict[int, Any]]]:
    """Return the node, and the dtypes and shapes of inputs and outputs, of each call."""

    def described(arrays: Any) -> dict[int, Any]:
        return {position: f"{each.dtype} {list(each.shape)}" for position, each in arrays.items()}

    return [(c.node.name, described(c.inputs), described(c.outputs)) for c in recording.calls]


def chain(*operators: tuple[str, str], dtype: int = TensorProto.FLOAT, **options: Any) -> Any:
    """Return a model of operators in a row, each `domain` and `name`, named after themselves."""
    nodes = [
        helper.make_node(name, [f"t{i}"], [f"t{i + 1}"], name=name.lower(), domain=domain)
        for i, (domain, name) in enumerate(operators)
    ]
    domains = sorted({domain for domain, _ in operators} - {""})
    last = value(f"t{len(nodes)}", None, dtype)
    return model(nodes, [value("t0", [2, 3], dtype)], [last], domains=domains, **options)


# ---- Tensors -------------------------------------------------------------------------------------


def test_tensors_are_those_of_the_whole_model(recorded: Record, tmp_path: Path) -> None:
    proto = detection_head()
    proto.graph.initializer[0].CopyFrom(
        constant("w", np.random.default_rng(1).normal(size=(16, 3, 3, 3)).astype("float32"))
    )
    rng = np.random.default_rng(2)
    feeds: dict[str, Any] = {
        "x": rng.normal(size=(1, 3, 8, 8)).astype("float32"),
        "grid": rng.uniform(-1, 1, (1, 4, 4, 2)).astype("float32"),
    }
    np.savez(tmp_path / "inputs.npz", **feeds)
    found = recorded(proto, "GridSample TopK", inputs=tmp_path / "inputs.npz")
    assert found.notes == ()
    assert tensors(found) == [
        (
            "/head/grid",
            {0: "float32 [1, 16, 6, 6]", 1: "float32 [1, 4, 4, 2]"},
            {0: "float32 [1, 16, 4, 4]"},
        ),
        (
            "top",
            {0: "float32 [1, 16, 4, 4]", 1: "int64 [1]"},
            {0: "float32 [1, 16, 4, 2]", 1: "int64 [1, 16, 4, 2]"},
        ),
    ]
    names = ["features", "sampled", "scores", "indices"]
    del proto.graph.output[:]
    proto.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    session = onnxruntime.InferenceSession(proto.SerializeToString())
    features, sampled, scores, indices = session.run(names, feeds)
    grid, top = found.calls
    np.testing.assert_array_equal(grid.inputs[1], feeds["grid"])
    np.testing.assert_allclose(grid.inputs[0], features, rtol=1e-5)
    np.testing.assert_allclose(grid.outputs[0], sampled, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(top.outputs[0], scores, rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(top.outputs[1], indices)
    assert [call for call in found.calls if call.node is top.node] == [top]


def test_same_calls_in_every_run(recorded: Record) -> None:
    first, second = (recorded(detection_head(), "GridSample") for _ in range(2))
    np.testing.assert_array_equal(first.calls[0].inputs[1], second.calls[0].inputs[1])


def test_dtypes_stay(recorded: Record) -> None:
    nodes = [
        helper.make_node("Less", ["x", "x2"], ["mask"], name="less"),
        helper.make_node("Where", ["mask", "x", "x2"], ["y"], name="where"),
        helper.make_node("ArgMax", ["y"], ["i"], name="argmax", keepdims=0),
    ]
    inputs = [value("x", [3, 4], HALF), value("x2", [3, 4], HALF)]
    found = recorded(model(nodes, inputs, [value("i", None, INT64)]), "Less Where ArgMax")
    assert [(inputs, outputs) for _, inputs, outputs in tensors(found)] == [
        ({0: "float16 [3, 4]", 1: "float16 [3, 4]"}, {0: "bool [3, 4]"}),
        ({0: "bool [3, 4]", 1: "float16 [3, 4]", 2: "float16 [3, 4]"}, {0: "float16 [3, 4]"}),
        ({0: "float16 [3, 4]"}, {0: "int64 [4]"}),
    ]


def test_optional_inputs_and_outputs_keep_positions(recorded: Record) -> None:
    nodes = [
        helper.make_node("Clip", ["x", "", "high"], ["a"], name="clip"),
        helper.make_node("GRU", ["a", "w", "r"], ["", "h"], name="gru", hidden_size=5),
    ]
    constants = [
        constant("high", np.float32(0.5)),
        constant("w", np.ones((1, 15, 3), "float32")),
        constant("r", np.ones((1, 15, 5), "float32")),
    ]
    proto = model(nodes, [value("x", [1, 2, 3])], [value("h", None)], constants)
    assert tensors(recorded(proto, "Clip GRU")) == [
        ("clip", {0: "float32 [1, 2, 3]", 2: "float32 []"}, {0: "float32 [1, 2, 3]"}),
        (
            "gru",
            {0: "float32 [1, 2, 3]", 1: "float32 [1, 15, 3]", 2: "float32 [1, 15, 5]"},
            {1: "float32 [1, 2, 5]"},
        ),
    ]


def test_nodes_in_subgraphs(recorded: Record) -> None:
    """The body of an If and of a Loop; a node of the other branch did not run."""

    def body(name: str, operator: str) -> Any:
        node = helper.make_node(operator, ["x"], [name], name=name)
        return helper.make_graph([node], name, [], [value(name, None)])

    step = helper.make_graph(
        [
            helper.make_node("Identity", ["going"], ["again"]),
            helper.make_node("Selu", ["state"], ["next"], name="in loop"),
        ],
        "step",
        [value("i", [], INT64), value("going", [], TensorProto.BOOL), value("state", None)],
        [value("again", [], TensorProto.BOOL), value("next", None)],
    )
    nodes = [
        helper.make_node(
            "If",
            ["yes"],
            ["a"],
            then_branch=body("then", "Selu"),
            else_branch=body("else", "Selu"),
        ),
        helper.make_node("Loop", ["count", "", "a"], ["y"], body=step),
    ]
    constants = [constant("yes", np.array(True)), constant("count", np.array(5))]
    found = recorded(model(nodes, [value("x", [2])], [value("y", None)], constants), "Selu")
    assert [call.node.name for call in found.calls] == ["then", "in loop", "in loop", "in loop"]
    np.testing.assert_array_equal(found.calls[1].inputs[0], found.calls[0].outputs[0])
    np.testing.assert_array_equal(found.calls[2].inputs[0], found.calls[1].outputs[0])
    assert found.notes == ("node 'else': no recorded case: not run on these inputs of the model",)


def test_local_functions(recorded: Record) -> None:
    function = helper.make_function(
        "local",
        "Twice",
        ["a"],
        ["b"],
        [helper.make_node("Selu", ["a"], ["c"]), helper.make_node("Selu", ["c"], ["b"])],
        [helper.make_opsetid("", 19)],
    )
    node = helper.make_node("Twice", ["x"], ["y"], domain="local", name="twice")
    proto = model([node], [value("x", [3])], [value("y", [3])], domains=["local"])
    proto.functions.append(function)
    assert len(recorded(proto, "Selu").calls) == 2


# ---- Operators that onnxruntime lacks ------------------------------------------------------------


def test_operator_without_implementation_has_inputs(recorded: Record) -> None:
    proto = chain(("", "Relu"), ("com.acme", "Foo"), ("", "Selu"), ("rknn_cst", "Bar"))
    found = recorded(proto, "Relu Foo Selu Bar")
    assert tensors(found) == [
        ("relu", {0: "float32 [2, 3]"}, {0: "float32 [2, 3]"}),
        ("foo", {0: "float32 [2, 3]"}, {}),
    ]
    assert found.notes == (
        "nodes 'selu', 'bar': no recorded case: behind com.acme:Foo, which onnxruntime does not "
        "implement",
    )


@pytest.mark.parametrize("domain", ["", "com.microsoft"])
@pytest.mark.parametrize("others", ["", "Relu Abs"])
def test_lack_that_onnxruntime_reports(recorded: Record, domain: str, others: str) -> None:
    """Only its message says which operator of a known domain it does not implement."""
    proto = chain(("", "Relu"), (domain, "NoSuchOp"), ("", "Abs"))
    found = recorded(proto, f"{others} NoSuchOp")
    assert [call.node.name for call in found.calls if not call.outputs] == ["nosuchop"]
    assert [call.node.name for call in found.calls if call.outputs] == others.lower().split()[:1]
    title = f"{domain}:NoSuchOp" if domain else "NoSuchOp"
    assert found.notes == (
        (f"node 'abs': no recorded case: behind {title}, which onnxruntime does not implement",)
        if others
        else ()
    )


@pytest.mark.parametrize("operator", ["Erf", "HardSwish"])  # the second one by ONNX's definition
def test_lack_of_float64(recorded: Record, operator: str) -> None:
    """A node whose operator onnxruntime has for float32 alone runs in it, and stays float64."""
    dtype = TensorProto.DOUBLE
    proto = chain(("", "Relu"), ("", operator), ("", "Abs"), dtype=dtype)
    found = recorded(proto, f"{operator} Abs")
    assert [call.node.op_type for call in found.calls] == [operator, "Abs"]
    [y], [x] = found.calls[0].outputs.values(), found.calls[0].inputs.values()
    assert (x.dtype, y.dtype) == (np.float64, np.float64)
    expected = [math.erf(float(each)) for each in x.ravel()]
    if operator == "HardSwish":
        expected = [each * max(0, min(1, each / 6 + 0.5)) for each in x.ravel()]
    np.testing.assert_allclose(y.ravel(), expected, rtol=1e-6)


def test_lack_beside_the_chosen_nodes(recorded: Record) -> None:
    found = recorded(chain(("", "Erf"), ("", "Abs"), dtype=TensorProto.DOUBLE), "Abs")
    assert found.notes == (
        "node 'abs': no recorded case: behind Erf, which onnxruntime does not implement",
    )


def test_graph_inputs_and_constants_of_an_unknown_operator(recorded: Record) -> None:
    weights = constant("w", np.arange(50_000, dtype="float32"))
    nodes = [
        helper.make_node("Constant", [], ["c"], value_ints=[3, 4]),
        helper.make_node("Foo", ["x", "", "w", "c", "x"], ["y"], domain="com.acme", name="foo"),
    ]
    inputs, outputs = [value("x", [2, 3])], [value("y", None)]
    found = recorded(model(nodes, inputs, outputs, [weights], domains=["com.acme"]), "Foo")
    assert tensors(found) == [
        (
            "foo",
            {0: "float32 [2, 3]", 2: "float32 [50000]", 3: "int64 [2]", 4: "float32 [2, 3]"},
            {},
        )
    ]
    np.testing.assert_array_equal(found.calls[0].inputs[2], np.arange(50_000))
    np.testing.assert_array_equal(found.calls[0].inputs[3], [3, 4])


def test_unknown_operator_in_a_subgraph(recorded: Record) -> None:
    bodies = [
        helper.make_graph(
            [
                helper.make_node("Selu", ["x"], [f"{name}1"], name=name),
                helper.make_node("Foo", [f"{name}1"], [f"{name}2"], domain="com.acme"),
            ],
            name,
            [],
            [value(f"{name}2", None)],
        )
        for name in ("a", "b")
    ]
    node = helper.make_node("If", ["yes"], ["y"], then_branch=bodies[0], else_branch=bodies[1])
    proto = model(
        [node],
        [value("x", [2]), value("yes", [], TensorProto.BOOL)],
        [value("y", None)],
        domains=["com.acme"],
    )
    found = recorded(proto, "Selu")
    assert found.calls == ()
    assert found.notes == (
        "nodes 'b', 'a': no recorded case: in a subgraph with com.acme:Foo, which onnxruntime does "
        "not implement",
    )


@pytest.mark.parametrize(
    ("options", "reason"), [({"opset": 99}, "opset"), ({"ir_version": 99}, "IR version: 99")]
)
def test_versions_that_onnxruntime_lacks(
    recorded: Record, options: dict[str, int], reason: str
) -> None:
    found = recorded(chain(("", "Relu"), **options), "Relu")
    assert found.calls == ()
    (note,) = found.notes
    assert note.startswith("node 'relu': no recorded case: onnxruntime: ")
    assert reason in note
    assert "onnxruntime_src" not in note


def test_failure_of_a_run(recorded: Record, tmp_path: Path) -> None:
    """Nodes before it have recorded calls."""
    nodes = [
        helper.make_node("Relu", ["x"], ["a"], name="relu"),
        helper.make_node("Gather", ["a", "i"], ["y"], name="gather"),
    ]
    proto = model(nodes, [value("x", [3]), value("i", [1], INT64)], [value("y", None)])
    np.savez(tmp_path / "inputs.npz", x=np.arange(3, dtype="float32"), i=np.array([7]))
    found = recorded(proto, "Relu Gather", inputs=tmp_path / "inputs.npz")
    assert [call.node.name for call in found.calls] == ["relu"]
    (note,) = found.notes
    assert note.startswith("node 'gather': no recorded case: onnxruntime: ")
    assert "7" in note


# ---- Inputs --------------------------------------------------------------------------------------


def test_batch_is_one(recorded: Record) -> None:
    proto = model(
        [helper.make_node("Relu", ["x"], ["y"])], [value("x", ["batch", 3])], [value("y", None)]
    )
    found = recorded(proto, "Relu")
    assert found.calls[0].inputs[0].shape == (1, 3)
    assert found.notes == (
        "input 'x' has the shape [batch, 3]: the size of the batch is assumed to be 1",
    )


def test_other_dynamic_sizes_need_inputs(recorded: Record, tmp_path: Path) -> None:
    proto = model(
        [helper.make_node("Relu", ["x"], ["y"])], [value("x", [1, "time"])], [value("y", None)]
    )
    found = recorded(proto, "Relu")
    assert found.calls == ()
    (note,) = found.notes
    assert "'x' has the dynamic shape [1, time]; pass its array with --inputs FILE.npz" in note
    np.savez(tmp_path / "inputs.npz", x=np.zeros((1, 5), "float32"))
    found = recorded(proto, "Relu", inputs=tmp_path / "inputs.npz")
    assert found.calls[0].inputs[0].shape == (1, 5)


# ---- Cases ---------------------------------------------------------------------------------------


def relus(shapes: Iterable[list[int]], opset: int = 19) -> Any:
    """Return a model with a Relu of each shape, on an input of its own."""
    shapes = list(shapes)
    return model(
        [helper.make_node("Relu", [f"x{i}"], [f"y{i}"], name=f"n{i}") for i in range(len(shapes))],
        [value(f"x{i}", shape) for i, shape in enumerate(shapes)],
        [value(f"y{i}", None) for i in range(len(shapes))],
        opset=opset,
    )


def test_limits_of_sizes(recorded: Record) -> None:
    found = recorded(relus([[10], [100], [12], [20]]), "Relu", limits=Limits(200, 200))
    assert [call.node.name for call in found.calls] == ["n0", "n2"]
    assert found.notes == (
        "node 'n1': no recorded case: 800 bytes (expected at most 200 for a case)",
        "node 'n3': no recorded case: 160 bytes more (expected at most 200 for all cases of Relu)",
    )


def test_default_limits(recorded: Record) -> None:
    found = recorded(relus([[125_000]] * 9 + [[125_001]]), "Relu")
    assert [call.node.name for call in found.calls] == [f"n{i}" for i in range(8)]
    assert "1,000,008 bytes (expected at most 1,000,000 for a case)" in found.notes[1]


def test_tensors_that_are_no_case(recorded: Record) -> None:
    found = recorded(relus([[], [2, 0], [1]]), "Relu")
    assert [call.node.name for call in found.calls] == ["n2"]
    assert found.notes == (
        "node 'n0': no recorded case: 'x0' has no dimension; operators take tensors of 1 dimension "
        "or more, none 0",
        "node 'n1': no recorded case: 'x1' is empty, 2x0; operators take tensors of 1 dimension or "
        "more, none 0",
    )


def test_sequence_and_text_are_no_case(recorded: Record) -> None:
    nodes = [
        helper.make_node("SplitToSequence", ["x"], ["s"], name="split"),
        helper.make_node("SequenceAt", ["s", "i"], ["a"], name="at"),
        helper.make_node("Cast", ["a"], ["y"], to=TensorProto.STRING, name="cast"),
    ]
    proto = model(
        nodes,
        [value("x", [2, 3])],
        [value("y", None, TensorProto.STRING)],
        [constant("i", np.array(0))],
    )
    found = recorded(proto, "SplitToSequence SequenceAt Cast")
    assert found.calls == ()
    assert [note.partition("no recorded case: ")[2] for note in found.notes] == [
        "'s' is a sequence",
        "'y' is string (expected numbers of numpy)",
    ]


def test_identical_cases_once(recorded: Record) -> None:
    nodes = [
        helper.make_node("LeakyRelu", ["x"], ["a"], name="a", alpha=0.5),
        helper.make_node("LeakyRelu", ["x"], ["b"], name="b", alpha=0.5),
        helper.make_node("LeakyRelu", ["x"], ["c"], name="c", alpha=0.25),
    ]
    proto = model(nodes, [value("x", [5])], [value(name, None) for name in "abc"])
    found = recorded(proto, "LeakyRelu")
    assert [call.node.name for call in found.calls] == ["a", "c"]
    assert found.notes == ()


# ---- Files ---------------------------------------------------------------------------------------


def with_external_data(folder: Path) -> Path:
    weights = constant("w", np.arange(3000, dtype="float32"))
    proto = model(
        [helper.make_node("Add", ["x", "w"], ["a"]), helper.make_node("Selu", ["a"], ["y"])],
        [value("x", [3000])],
        [value("y", [3000])],
        [weights],
    )
    folder.mkdir()
    onnx.save(proto, folder / "m.onnx", save_as_external_data=True, location="w", size_threshold=9)
    return folder / "m.onnx"


def test_external_data(recorded: Record, tmp_path: Path) -> None:
    file = with_external_data(tmp_path / "m")
    before = {path: path.read_bytes() for path in file.parent.iterdir()}
    (call,) = recorded(file, "Selu").calls
    assert call.inputs[0].max() > 2997
    assert {path: path.read_bytes() for path in file.parent.iterdir()} == before


def test_constants_outlive_the_model(recorded: Record, tmp_path: Path) -> None:
    file = with_external_data(tmp_path / "m")
    (call,) = recorded(file, "Add").calls
    (file.parent / "w").write_bytes(bytes(12000))
    np.testing.assert_array_equal(call.inputs[1], np.arange(3000))


def test_names_are_escaped(recorded: Record) -> None:
    node = helper.make_node("Foo", ["x"], ["a"], domain="com\x1b[2Jacme", name="f")
    after = helper.make_node("Selu", ["a"], ["y"], name="e\x1b[2J")
    proto = model([node, after], [value("x", [2])], [value("y", None)], domains=["com\x1b[2Jacme"])
    (note,) = recorded(proto, "Selu").notes
    assert note == (
        "node 'e\\\\x1b[2J': no recorded case: behind com\\x1b[2Jacme:Foo, which onnxruntime does "
        "not implement"
    )
