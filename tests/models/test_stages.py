"""Models in stages: onnxruntime runs them, but for chosen nodes, which Python calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from opkit.common.errors import OpkitError
from rknn_op.models.running.stages import Call, Staged, original, staged, tensor_types
from rknn_op.models.running.weights import OpenModel, location, opened
from tests.models.models import constant, model, saved, value

INT64 = TensorProto.INT64
BOOL = TensorProto.BOOL


def floats(values: Any) -> Any:
    return np.array(values, np.float32)


def expected(file: Path, inputs: Mapping[str, Any]) -> list[Any]:
    """Return the outputs of a model by onnxruntime alone."""
    results: list[Any] = onnxruntime.InferenceSession(str(file)).run(None, dict(inputs))
    return results


class Calls:
    """The functions in place of all nodes of a type; onnxruntime computes them one by one."""

    def __init__(self, opened: OpenModel, op_type: str) -> None:
        self.opened = opened
        self.op_type = op_type
        self.made: list[str] = []

    def choose(self, node: Any, name: str) -> Call | None:
        if node.op_type != self.op_type:
            return None
        function = original(self.opened, node)

        def call(inputs: Sequence[Any]) -> Sequence[Any]:
            self.made.append(name)
            return function(inputs)

        return call


@contextmanager
def cut(file: Path, op_type: str, **options: Any) -> Iterator[tuple[Staged, Calls]]:
    with opened(file, **options) as model:
        calls = Calls(model, op_type)
        yield staged(model, calls.choose, tensor_types(model.proto)), calls


def check(file: Path, op_type: str, inputs: Mapping[str, Any], **options: Any) -> list[str]:
    """Compare a model in stages with onnxruntime's outputs, twice; return the first calls."""
    with cut(file, op_type, **options) as (stages, calls):
        for _ in range(2):
            made = [*calls.made]
            calls.made.clear()
            results = stages.run(inputs)
            for name, array in zip(stages.outputs, expected(file, inputs), strict=True):
                np.testing.assert_array_equal(results[name], array, strict=True)
        assert made == calls.made
        return made


# ---- The cut -------------------------------------------------------------------------------------


def series() -> Any:
    """Return x -> Neg -> (Abs, Relu) -> Neg -> y: two calls in a row, and one beside."""
    nodes = [
        helper.make_node("Add", ["x", "c"], ["a"]),
        helper.make_node("Neg", ["a"], ["b"], name="first"),
        helper.make_node("Abs", ["b"], ["d"]),
        helper.make_node("Relu", ["b"], ["e"]),
        helper.make_node("Sub", ["d", "e"], ["f"]),
        helper.make_node("Neg", ["f"], ["g"], name="second"),
        helper.make_node("Neg", ["x"], ["h"], name="beside"),
        helper.make_node("Add", ["g", "h"], ["i"]),
        helper.make_node("Add", ["i", "c"], ["y"]),
        helper.make_node("Neg", ["c"], ["unused"]),
    ]
    constants = [constant("c", floats([1, -2, 3]))]
    return model(nodes, [value("x", [3])], [value("y", [3]), value("d", [3])], constants)


def test_nodes_in_series(tmp_path: Path) -> None:
    file = saved(series(), tmp_path)
    x = {"x": floats([0.5, -1, 2])}
    assert check(file, "Neg", x) == ["first", "beside", "second"]
    with cut(file, "Neg") as (stages, _):
        assert stages.stages == 3
    with cut(file, "Nothing") as (stages, _):
        assert stages.stages == 1
        assert [len(step.nodes) for step in stages.steps] == [9]  # type: ignore[union-attr]  # a stage


def test_call_with_constants_alone(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Constant", [], ["k"], value_ints=[2]),
        helper.make_node("Mul", ["k", "two"], ["twice"]),
        helper.make_node("TopK", ["x", "twice"], ["unused", "indices"], name="top"),
        helper.make_node("TopK", ["c", "k"], ["largest", "other"]),
    ]
    outputs = [value("indices", None, INT64), value("largest", None), value("twice", [1], INT64)]
    constants = [constant("two", [2]), constant("c", floats([3, 1, 4]))]
    file = saved(model(nodes, [value("x", [5])], outputs, constants), tmp_path)
    assert check(file, "TopK", {"x": floats([1, 5, 2, 4, 3])}) == ["top", "TopK_3"]


def test_left_out_inputs(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Clip", ["x", "", "high"], ["a"]),
        helper.make_node("Clip", ["a", "low"], ["y"]),
    ]
    constants = [constant("high", np.float32(2)), constant("low", np.float32(-1))]
    file = saved(model(nodes, [value("x", [3])], [value("y", [3])], constants), tmp_path)
    assert check(file, "Clip", {"x": floats([-5, 0, 5])}) == ["Clip_0", "Clip_1"]


def test_float16(tmp_path: Path) -> None:
    half = TensorProto.FLOAT16
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"]),
        helper.make_node("Selu", ["a"], ["b"]),
        helper.make_node("Cast", ["b"], ["y"], to=TensorProto.FLOAT),
    ]
    constants = [constant("w", np.arange(12).reshape(3, 4).astype(np.float16))]
    proto = model(nodes, [value("x", [2, 3], half)], [value("y", [2, 4])], constants)
    file = saved(proto, tmp_path)
    inputs = {"x": np.ones((2, 3), np.float16)}
    with cut(file, "Selu") as (stages, calls):
        y = stages.run(inputs)["y"]
        assert calls.made == ["Selu_1"]
    # onnxruntime alone rounds to float16 only at the end.
    np.testing.assert_allclose(y, expected(file, inputs)[0], rtol=1e-3)


def test_left_out_outputs(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("MaxPool", ["x"], ["a", ""], kernel_shape=[2]),
        helper.make_node("MaxPool", ["a"], ["y", "i"], kernel_shape=[2]),
    ]
    outputs = [value("y", None), value("i", None, INT64)]
    file = saved(model(nodes, [value("x", [1, 1, 5])], outputs), tmp_path)
    inputs = {"x": floats([[[1, 5, 2, 4, 3]]])}
    assert check(file, "MaxPool", inputs) == ["MaxPool_0", "MaxPool_1"]


def test_texts_and_sequences(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Split", ["x"], ["a", "b"], num_outputs=2),
        helper.make_node("SequenceConstruct", ["a", "b"], ["s"]),
        helper.make_node("Neg", ["a"], ["c"]),
        helper.make_node("SequenceInsert", ["s", "c"], ["t"]),
        helper.make_node("ConcatFromSequence", ["t"], ["y"], axis=0),
        helper.make_node("Identity", ["text"], ["z"]),
    ]
    inputs = [value("x", [4]), value("text", [1], TensorProto.STRING)]
    outputs = [value("y", None), value("z", [1], TensorProto.STRING)]
    file = saved(model(nodes, inputs, outputs, opset=18), tmp_path)
    arrays = {"x": floats([1, 2, 3, 4]), "text": np.array(["häuser"], object)}
    assert check(file, "SequenceConstruct", arrays) == ["SequenceConstruct_1"]
    assert check(file, "Identity", arrays) == ["Identity_5"]


def test_unknown_types_behind_a_call(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Mine", ["x"], ["a"], domain="mine"),
        helper.make_node("Shape", ["a"], ["s"]),
        helper.make_node("Add", ["s", "s"], ["y"]),
    ]
    proto = model(nodes, [value("x", [3])], [value("y", None, INT64)], domains=["mine"])
    with opened(saved(proto, tmp_path)) as found:
        stages = staged(found, lambda node, _: _doubled if node.domain else None)
        np.testing.assert_array_equal(stages.run({"x": np.zeros(3, "f")})["y"], [12])


def _doubled(inputs: Sequence[Any]) -> list[Any]:
    return [np.concatenate([inputs[0], inputs[0]]).astype(np.int8)]


@pytest.mark.parametrize("problem", ["a call", "onnxruntime"])
def test_errors_are_one_message(tmp_path: Path, problem: str) -> None:
    file = saved(series(), tmp_path)
    with opened(file) as found:
        if problem == "a call":
            stages = staged(found, lambda node, _: (lambda _: []) if node.name == "first" else None)
            message = "node 'first': 0 outputs"
        else:
            stages = staged(found, lambda *_: None)
            message = "onnxruntime: "
        with pytest.raises(OpkitError, match=message) as raised:
            stages.run({"x": np.zeros((3,) if problem == "a call" else (7,), "f")})
    assert "\n" not in str(raised.value)


UNARY = ["Neg", "Abs", "Relu", "Identity"]
BINARY = ["Add", "Sub", "Max"]


@st.composite
def graphs(draw: st.DrawFn) -> Any:
    """Return a random graph; its values are integers, so that no order of operations matters."""
    names = ["x", "z", "c"]
    nodes = []
    for index in range(draw(st.integers(1, 12))):
        reads = [draw(st.sampled_from(names)) for _ in range(draw(st.integers(1, 2)))]
        op_type = draw(st.sampled_from(UNARY if len(reads) == 1 else BINARY))
        nodes.append(helper.make_node(op_type, reads, [f"t{index}"]))
        names.append(f"t{index}")
    outputs = draw(st.lists(st.sampled_from(names[3:]), min_size=1, max_size=3, unique=True))
    constants = [constant("c", floats([1, -2, 3]))]
    inputs = [value("x", [3]), value("z", [3])]
    return model(nodes, inputs, [value(name, [3]) for name in outputs], constants)


@settings(max_examples=60, deadline=None)
@given(graphs(), st.sampled_from([*UNARY, *BINARY]))
def test_random_graphs(tmp_path_factory: pytest.TempPathFactory, proto: Any, chosen: str) -> None:
    file = saved(proto, tmp_path_factory.mktemp("graph"))
    inputs = {"x": floats([5, -6, 7]), "z": floats([-8, 9, 10])}
    with cut(file, chosen) as (stages, calls):
        results = stages.run(inputs)
        assert len(calls.made) == len({*calls.made})
        ran = [id(node) for step in stages.steps for node in getattr(step, "nodes", ())]
    for name, array in zip(stages.outputs, expected(file, inputs), strict=True):
        np.testing.assert_array_equal(results[name], array)
    constants = [node for node in proto.graph.node if {*node.input} == {"c"}]
    assert constants or len(ran) == len({*ran})


# ---- Weights -------------------------------------------------------------------------------------


def shared_weights() -> Any:
    """Return a model with a matrix that two stages read."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"]),
        helper.make_node("Neg", ["a"], ["b"]),
        helper.make_node("MatMul", ["b", "w"], ["y"]),
    ]
    weights = [constant("w", np.arange(64 * 64, dtype=np.float32).reshape(64, 64) % 7)]
    return model(nodes, [value("x", [2, 64])], [value("y", [2, 64])], weights)


X64 = {"x": np.ones((2, 64), np.float32)}


@pytest.mark.parametrize("max_inline", [0, 10**9])
def test_large_weights_are_files(tmp_path: Path, max_inline: int) -> None:
    """A model over protobuf's limit is one with a lower limit: its weights are never inline."""
    file = saved(shared_weights(), tmp_path)
    check(file, "Neg", X64, max_inline=max_inline)
    with opened(file, max_inline) as found:
        folder = found.folder
        assert bool(found.proto.ByteSize() > 64 * 64) is bool(max_inline)
        assert bool((folder / "weights.bin").stat().st_size) is not bool(max_inline)
    assert not folder.exists()


def test_weights_begin_on_pages(tmp_path: Path) -> None:
    proto = shared_weights()
    proto.graph.initializer.insert(0, constant("few", np.ones(3, np.float32)))
    with opened(saved(proto, tmp_path), 0) as found:
        places = {each.name: location(each)[1] for each in found.proto.graph.initializer}
    assert places == {"few": 0, "w": 4096}


def test_external_data(tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    onnx.save(
        shared_weights(), file, save_as_external_data=True, location="w.bin", size_threshold=0
    )
    check(file, "Neg", X64)
    check(file, "MatMul", X64)  # the call reads the weights


def test_external_data_of_a_subgraph(tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    onnx.save(branches(), file, save_as_external_data=True, location="w.bin", size_threshold=0)
    for op_type in ("Neg", "Abs"):
        check(file, op_type, {"x": floats([1, -2]), "c": np.array(True)})


def test_external_data_in_a_cache_of_links(tmp_path: Path) -> None:
    """The model and its data are links to files of other names, as in the cache of a hub."""
    files, links = tmp_path / "blobs", tmp_path / "snapshot"
    files.mkdir()
    links.mkdir()
    onnx.save(shared_weights(), files / "1", save_as_external_data=True, location="w.bin")
    (files / "w.bin").rename(files / "2")
    (links / "model.onnx").symlink_to(files / "1")
    (links / "w.bin").symlink_to(files / "2")
    check(links / "model.onnx", "Neg", X64, max_inline=0)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("../secret.bin", "outside of the model's folder"),
        ("gone\x1b[31m.bin", "is missing: 'gone"),
        ("short.bin", "the file is truncated"),
    ],
)
def test_invalid_external_data(tmp_path: Path, where: str, message: str) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    (tmp_path / "secret.bin").write_bytes(bytes(64 * 64 * 4))
    (folder / "short.bin").write_bytes(bytes(10))
    proto = shared_weights()
    tensor = proto.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=where)
    tensor.external_data.add(key="length", value=str(64 * 64 * 4))
    (folder / "model.onnx").write_bytes(proto.SerializeToString())
    with pytest.raises(OpkitError) as raised, opened(folder / "model.onnx"):
        pass
    assert message in str(raised.value)
    assert "\x1b" not in str(raised.value)


# ---- Control flow --------------------------------------------------------------------------------


def body(nodes: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any], *more: Any) -> Any:
    return helper.make_graph([*nodes], "body", [*inputs], [*outputs], [*more])


def branches() -> Any:
    """Return an If inside of an If, with Neg in one branch that reads outer tensors."""
    inner_then = body([helper.make_node("Neg", ["d"], ["p"], name="inner")], [], [value("p", [2])])
    inner_else = body([helper.make_node("Add", ["d", "w"], ["q"])], [], [value("q", [2])])
    then = body(
        [
            helper.make_node("Add", ["a", "v"], ["d"]),
            helper.make_node("If", ["c"], ["r"], then_branch=inner_then, else_branch=inner_else),
        ],
        [],
        [value("r", [2])],
        constant("v", floats([10, 20])),
    )
    other = body([helper.make_node("Neg", ["x"], ["s"], name="other")], [], [value("s", [2])])
    nodes = [
        helper.make_node("Abs", ["x"], ["a"]),
        helper.make_node("If", ["c"], ["e"], then_branch=then, else_branch=other),
        helper.make_node("Add", ["e", "w"], ["y"]),
    ]
    constants = [constant("w", floats([0.5, 0.25]))]
    return model(nodes, [value("x", [2]), value("c", [], BOOL)], [value("y", [2])], constants)


@pytest.mark.parametrize(("condition", "called"), [(True, ["inner"]), (False, ["other"])])
def test_if(tmp_path: Path, condition: bool, called: list[str]) -> None:
    inputs = {"x": floats([1, -2]), "c": np.array(condition)}
    assert check(saved(branches(), tmp_path), "Neg", inputs) == called


def loop(limit: str, condition: str) -> Any:
    """Return a Loop that grows a tensor and collects it; the bodies read an outer tensor."""
    inside = body(
        [
            helper.make_node("Add", ["v", "x"], ["plus"]),
            helper.make_node("Neg", ["plus"], ["next"], name="inside"),
            helper.make_node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
            helper.make_node("Mul", ["f", "plus"], ["item"]),
            helper.make_node("Less", ["i", "two"], ["again"]),
        ],
        [value("i", [], INT64), value("going", [], BOOL), value("v", [2])],
        [value("again", [], BOOL), value("next", [2]), value("item", [2])],
    )
    nodes = [
        helper.make_node("Loop", [limit, condition, "start"], ["last", "items"], body=inside),
        helper.make_node("Identity", ["last"], ["y"]),
    ]
    inputs = [value("x", [2]), value("m", [], INT64), value("c", [], BOOL)]
    constants = [constant("start", floats([1, 2])), constant("two", np.int64(2))]
    return model(nodes, inputs, [value("y", [2]), value("items", None)], constants)


@pytest.mark.parametrize("limit", ["m", ""])
@pytest.mark.parametrize("condition", ["c", ""])
@pytest.mark.parametrize(("count", "going"), [(0, True), (2, True), (9, True), (3, False)])
def test_loop(tmp_path: Path, limit: str, condition: str, count: int, going: bool) -> None:
    inputs = {"x": floats([3, -4]), "m": np.array(count), "c": np.array(going)}
    made = check(saved(loop(limit, condition), tmp_path), "Neg", inputs)
    iterations = min(count if limit else 9, 3) if going or not condition else 0
    assert made == ["inside"] * iterations


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"scan_input_axes": [1, 0], "scan_output_axes": [-1]},
        {"scan_input_directions": [1, 0], "scan_output_directions": [1]},
    ],
)
def test_scan(tmp_path: Path, attributes: dict[str, Any]) -> None:
    inside = body(
        [
            helper.make_node("Add", ["state", "a"], ["sum"]),
            helper.make_node("Neg", ["sum"], ["next"]),
            helper.make_node("Mul", ["next", "b"], ["item"]),
        ],
        [value("state", [3]), value("a", [3]), value("b", [3])],
        [value("next", [3]), value("item", [3])],
    )
    node = helper.make_node(
        "Scan", ["start", "p", "q"], ["y", "items"], body=inside, num_scan_inputs=2, **attributes
    )
    inputs = [value("p", [3, 3]), value("q", [3, 3])]
    constants = [constant("start", floats([1, 2, 3]))]
    proto = model([node], inputs, [value("y", [3]), value("items", None)], constants)
    arrays = {
        "p": np.arange(9, dtype=np.float32).reshape(3, 3),
        "q": np.arange(9, 18, dtype=np.float32).reshape(3, 3),
    }
    assert check(saved(proto, tmp_path), "Neg", arrays) == ["Neg_1"] * 3


def test_other_operators_with_subgraphs(tmp_path: Path) -> None:
    inside = body([helper.make_node("Neg", ["e"], ["f"])], [value("e", None)], [value("f", None)])
    nodes = [
        helper.make_node("SequenceConstruct", ["x", "x"], ["s"]),
        helper.make_node("SequenceMap", ["s"], ["t"], name="map", body=inside),
        helper.make_node("ConcatFromSequence", ["t"], ["y"], axis=0),
    ]
    proto = model(nodes, [value("x", [2])], [value("y", None)])
    with (
        pytest.raises(OpkitError, match=r"node 'map' is SequenceMap.*expected If, Loop, Scan"),
        cut(saved(proto, tmp_path), "Neg"),
    ):
        pass


def test_local_functions(tmp_path: Path) -> None:
    opset = [helper.make_opsetid("", 19)]
    inside = [helper.make_node("Neg", ["a"], ["b"], name="inside")]
    function = helper.make_function("mine", "Twice", ["a"], ["b"], inside, opset)
    node = helper.make_node("Twice", ["x"], ["y"], domain="mine")
    proto = model([node], [value("x", [2])], [value("y", [2])], domains=["mine"])
    proto.functions.append(function)
    [made] = check(saved(proto, tmp_path), "Neg", {"x": floats([1, -2])})
    assert "inside" in made
