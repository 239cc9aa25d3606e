"""Hostile models: each verb that reads a model says so in one message, and writes nothing.

@pytest.mark.parametrize("name", INVALID)
def test_invalid_models(tmp_path: Path, name: str) -> None:
    file = INVALID[name](tmp_path)
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, helper
from tensorboardX.proto.graph_pb2 import GraphDef

from tests.models.models import constant, custom_domain, detection_head, model, saved, value

Maker = Callable[[Path], Path]
"""Writes a model into a folder, and returns its file."""

ESCAPES = "a\"b'c\n\t\r\x1b]0;title\x07\x1b[31m\u202e\\"
"""A name with quotes, line feeds, terminal escapes and a change of the writing direction."""


def _file(content: bytes, name: str = "model.onnx") -> Maker:
    def write(folder: Path) -> Path:
        (folder / name).write_bytes(content)
        return folder / name

    return write


def _onnx(make: Callable[[], Any]) -> Maker:
    return lambda folder: saved(make(), folder)


def _graph(*nodes: dict[str, Any]) -> Maker:
    graph = GraphDef()
    for node in nodes:
        graph.node.add(**node)
    return _file(graph.SerializeToString(), "graph.pb")


def _selu(*nodes: Any, names: Sequence[str] = ("x", "y")) -> Any:
    first, last = names
    return model([*nodes], [value(first, [2])], [value(last, [2])])


def _nodes(*nodes: tuple[str, str, str], **options: Any) -> Maker:
    """Return the maker of a model of nodes: operator, input, output."""
    made = [helper.make_node(op_type, [x], [y], **options) for op_type, x, y in nodes]
    return _onnx(lambda: _selu(*made))


def _negative_sizes() -> Any:
    proto = detection_head()
    proto.graph.initializer[0].dims[0] = -16
    return proto


def _many_nodes(folder: Path) -> Path:
    """A million nodes, written without a library: those need 10 s."""
    node = helper.make_node("Relu", ["x"], []).SerializeToString()
    nodes = (b"\x0a" + bytes([len(node)]) + node) * 1_000_000
    proto = _selu(helper.make_node("Selu", ["x"], ["y"]))
    proto.ClearField("graph")
    graph = b"\x3a" + _varint(len(nodes)) + nodes
    return _file(proto.SerializeToString() + graph)(folder)


def _varint(number: int) -> bytes:
    found = b""
    while number >= 0x80:
        found += bytes([number & 0x7F | 0x80])
        number >>= 7
    return found + bytes([number])


def _nested_subgraphs(folder: Path) -> Path:
    """Branches of branches, a thousand deep: more than protobuf reads."""
    graph = b""
    for _ in range(1000):
        attribute = b"\x32" + _varint(len(graph)) + graph
        node = b"\x2a" + _varint(len(attribute)) + attribute
        graph = b"\x0a" + _varint(len(node)) + node
    proto = _selu(helper.make_node("Selu", ["x"], ["y"]))
    proto.ClearField("graph")
    return _file(proto.SerializeToString() + b"\x3a" + _varint(len(graph)) + graph)(folder)


def _functions(*calls: Sequence[str]) -> Any:
    """Return a model with the local functions F0, F1, ...: each calls the given operators."""
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)]
    node = helper.make_node("F0", ["x"], ["y"], domain="mine")
    proto = model([node], [value("x", [2])], [value("y", [2])], opset=17, domains=["mine"])
    for index, called in enumerate(calls):
        body = []
        for position, op_type in enumerate(called):
            last = position == len(called) - 1
            names = [f"t{position}" if position else "a"], ["b" if last else f"t{position + 1}"]
            domain = "mine" if op_type.startswith("F") else ""
            body.append(helper.make_node(op_type, *names, domain=domain))
        proto.functions.append(helper.make_function("mine", f"F{index}", "a", "b", body, opsets))
    return proto


def _not_utf8(folder: Path) -> Path:
    node = helper.make_node("Selu", ["x"], ["y"], name="QQQQ")
    return _file(_selu(node).SerializeToString().replace(b"QQQQ", b"\xff\xfe\xff\x1b"))(folder)


def _external(
    location: str, prepare: Callable[[Path], None] = lambda folder: None, more: Sequence[str] = ()
) -> Maker:
    """Return the maker of a model with external data, in a folder `inside`.

    Args:
        location: the path of the data.
        prepare: writes more files into the folder.
        more: further paths.
    """

    def write(folder: Path) -> Path:
        (folder / "outside").write_bytes(bytes(16 * 27 * 4))
        inside = folder / "inside"
        inside.mkdir()
        prepare(inside)
        proto = detection_head()
        weights = proto.graph.initializer[0]
        weights.ClearField("raw_data")
        weights.data_location = TensorProto.EXTERNAL
        for path in (location, *more):
            weights.external_data.add(key="location", value=path)
        return saved(proto, inside)

    return write


def _zip(folder: Path) -> Path:
    with zipfile.ZipFile(folder / "model.onnx", "w") as archive:
        archive.writestr("model.onnx", detection_head().SerializeToString())
    return folder / "model.onnx"


def _place(make: Callable[[Path], None]) -> Maker:
    def write(folder: Path) -> Path:
        make(folder / "model.onnx")
        return folder / "model.onnx"

    return write


INVALID: dict[str, Maker] = {
    "missing file": lambda folder: folder / "none.onnx",
    "empty file": _file(b""),
    "truncated": _file(detection_head().SerializeToString()[:200]),
    "pickle": _file(b"\x80\x04\x95\x1c\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix"),
    "text": _file(b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"),
    "zip": _zip,
    "other suffix": _file(detection_head().SerializeToString(), "model.txt"),
    "folder": _place(Path.mkdir),
    "FIFO": _place(os.mkfifo),
    "device": _place(lambda path: path.symlink_to("/dev/zero")),
    "link to itself": _place(lambda path: path.symlink_to("model.onnx")),
    "below a file": lambda folder: _file(b"", "file")(folder) / "model.onnx",
    "not UTF-8": _not_utf8,
    "cycle": _nodes(("Selu", "b", "a"), ("Selu", "a", "b"), ("Relu", "b", "y"), name="first"),
    "unsorted nodes": _nodes(("Selu", "a", "y"), ("Relu", "x", "a")),
    "unknown tensor": _nodes(("Selu", "z", "y"), name="s"),
    "uncomputed output": _nodes(("Selu", "x", "z")),
    "tensor of two nodes": _nodes(*[("Selu", "x", "y")] * 2, name="same"),
    "tensor of an input": _nodes(("Selu", "x", "x")),
    "domain without opset": _nodes(("Selu", "x", "y"), domain="com.example"),
    "negative sizes": _onnx(_negative_sizes),
    "a million nodes": _many_nodes,
    "nested subgraphs": _nested_subgraphs,
    "recursive functions": _onnx(lambda: _functions(["F1"], ["F0"])),
    # Forty functions that call the next one twice: a trillion nodes.
    "doubling functions": _onnx(
        lambda: _functions(*([f"F{index + 1}"] * 2 for index in range(40)), ["Relu"])
    ),
    "deep functions": _onnx(
        lambda: _functions(*([f"F{index + 1}"] for index in range(1000)), ["Relu"])
    ),
    # An attribute that onnx's shape inference takes as the size of an array.
    "huge attribute": _nodes(("Split", "x", "y"), num_outputs=10**12),
    "absolute external data": _external("/etc/hostname"),
    "external data of another folder": _external("../outside"),
    "linked external data": _external(
        "data", lambda path: (path / "data").symlink_to("../outside")
    ),
    "external data in two files": _external("data", more=["../outside"]),
    "external data of a device": _external("/dev/zero"),
    "external data of a linked device": _external(
        "data", lambda path: (path / "data").symlink_to("/dev/zero")
    ),
    "external data without a name": _external(""),
    "external data with NUL": _external("data\0"),
    "empty graph": _file(b"", "graph.pb"),
    "truncated graph": _file(b"\x0a\x10abc", "graph.pb"),
    "text graph": _file(b"node {\n  name: 'x'\n  op: 'Placeholder'\n}\n", "graph.pb"),
    "cyclic graph": _graph(
        {"name": "a", "op": "Exp", "input": ["b"]}, {"name": "b", "op": "Exp", "input": ["a"]}
    ),
    "graph with an unknown node": _graph({"name": "a", "op": "Exp", "input": [ESCAPES]}),
    "graph with two nodes of a name": _graph(*[{"name": "a", "op": "Placeholder"}] * 2),
}
"""Name -> maker of a model that is refused."""


def _names() -> Any:
    node = helper.make_node(
        "Selu",
        ["x"],
        [ESCAPES],
        name=ESCAPES,
        domain=ESCAPES,
        **{ESCAPES: ESCAPES},
    )
    graph_input = value("x", [ESCAPES, 2])
    return model([node], [graph_input], [value(ESCAPES, [ESCAPES, 2])], domains=[ESCAPES])


def _code() -> Any:
    """Names that would be code in a file of Python, YAML, C or a shell."""
    name = '\'; import os; os.abort() #"""{{1}} $(touch x) `id` */ %s'
    node = helper.make_node("Selu", ["x"], [name], name=name, gamma=2.0)
    return model([node], [value("x", [2])], [value(name, [2])])


def _wrong_types() -> Any:
    nodes = [
        helper.make_node("Add", ["x", "i"], ["a"]),
        helper.make_node("Selu", ["a"], ["y"], alpha="text", gamma=[1, 2]),
    ]
    inputs = [value("x", [2]), value("i", [3], TensorProto.INT64)]
    return model(nodes, inputs, [value("y", [2])])


def _types(size: int = 2, output_size: int = 2, dtype: int = TensorProto.FLOAT) -> Any:
    """Return a model of one node with another size or dtype."""
    proto = _selu(helper.make_node("Selu", ["x"], ["y"]))
    for info, dim in ((proto.graph.input[0], size), (proto.graph.output[0], output_size)):
        info.type.tensor_type.shape.dim[0].dim_value = dim
        info.type.tensor_type.elem_type = dtype
    return proto


def _false_sizes() -> Any:
    """A constant that holds less than its sizes say."""
    add = helper.make_node("Add", ["x", "c"], ["a"])
    proto = model(
        [add, helper.make_node("Selu", ["a"], ["y"])],
        [value("x", [2])],
        [value("y", [2])],
        [constant("c", np.zeros(2, np.float32))],
    )
    proto.graph.initializer[0].dims[0] = 10**12
    return proto


def _untyped_attribute() -> Any:
    node = helper.make_node("Selu", ["x"], ["y"], alpha=2.0)
    node.attribute[0].ClearField("type")
    return _selu(node)


READABLE: dict[str, Maker] = {
    "names": _onnx(_names),
    "code in names": _onnx(_code),
    "custom domain": _onnx(custom_domain),
    "wrong types": _onnx(_wrong_types),
    "untyped attribute": _onnx(_untyped_attribute),
    "large sizes": _onnx(lambda: _types(2**62, 2**62)),
    "false sizes": _onnx(_false_sizes),
    "unknown dtypes": _onnx(lambda: _types(dtype=99)),
    "negative sizes of an input": _onnx(lambda: _types(-2)),
    "missing external data": _external("data"),
    "external data in a FIFO": _external("data", lambda path: os.mkfifo(path / "data")),
}
"""Name -> maker of a model with a missing operator that `scan` reads, but may not run."""
