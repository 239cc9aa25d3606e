"""Conversions of models that are made here, in the Python of RKNN-Toolkit2.

    python conversions.py FOLDER OTHER

FOLDER and OTHER are the rknn2/ of two operators, PiecewiseLinear and Exp. Prints a JSON object:
name of a case -> why it is refused, or what comes of it.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

OP_TYPE = "cstPiecewiseLinear"
ATTRIBUTES = {"points": [-3.0, 3.0], "values": [0.0, 1.0]}
X = np.linspace(-4, 4, 120, dtype=np.float32).reshape(1, 5, 6, 4)


def node(op_type: str = OP_TYPE, inputs: tuple[str, ...] = ("x",), output: str = "y") -> Any:
    attributes = ATTRIBUTES if op_type == OP_TYPE else {}
    return helper.make_node(
        op_type, list(inputs), [output], op_type, domain="rknn_cst", **attributes
    )


def model(*nodes: Any, shape: Any = X.shape, dtype: int = TensorProto.FLOAT) -> Any:
    value = helper.make_tensor_value_info
    constant = helper.make_tensor("k", TensorProto.FLOAT, [2], [1.0, 2.0])
    x, y = value("x", dtype, shape), value(nodes[-1].output[0], dtype, shape)
    graph = helper.make_graph(list(nodes), "graph", [x], [y], [constant])
    opsets = [helper.make_opsetid("", 12), helper.make_opsetid("rknn_cst", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=7)


def hard_sigmoid(x: Any) -> Any:
    return np.clip(x / 6 + 0.5, 0, 1)


def plus(left: str, right: str) -> Any:
    return helper.make_node("Add", [left, right], ["z"])


REFUSED: dict[str, Callable[[], Any]] = {
    "absent": lambda: model(helper.make_node("Exp", ["x"], ["y"])),
    "symbolic": lambda: model(node(), shape=("N", 4)),
    "int16": lambda: model(node(), dtype=TensorProto.INT16),
    "left out": lambda: model(node(inputs=("x", ""))),
    "two inputs": lambda: model(node(inputs=("x", "k"))),
    "folded away": lambda: model(node(inputs=("k",)), plus("y", "x"), shape=(1, 2)),
    "no attribute": lambda: model(
        helper.make_node(OP_TYPE, ["x"], ["y"], "bare", domain="rknn_cst")
    ),
}


COMMAND_LINES = (
    "points=1,2 values=1,2",
    "x=1x2 points=1,2",
    "x=1x2 y=1x2",
    "x=1x2 points=a",
    "x=1xN",
    "x=1x2 points=2,1 values=1,2",
    "--from absent.onnx --rename Exp",
)
"""Arguments of make_onnx.py that it refuses."""


def refusal(make_onnx: Any, arguments: str) -> str:
    sys.argv = ["make_onnx.py", "new.onnx", *arguments.split()]
    try:
        make_onnx.main()
    except SystemExit as error:
        return str(error)
    return "accepted"


def outcome(converter: Any, convert: Any, path: Path) -> str:
    try:
        with converter.converted(path, "rk3588"):
            return "converted"
    except convert.ConversionError as error:
        return str(error)


def main() -> None:
    """Run the cases."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    folder, other = sys.argv[1:]
    sys.path.insert(0, folder)
    convert: Any = import_module("convert")
    make_onnx: Any = import_module("make_onnx")
    operators = [convert.CustomOp(), convert.load_operator(f"{other}/exp_custom_op.py")]
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "model.onnx"
        converter = convert.Converter(operators[:1])
        for name, make in REFUSED.items():
            onnx.save(make(), path)
            results[name] = outcome(converter, convert, path)

        onnx.save(model(node(), node("cstExp", ("y",), "z")), path)
        results["unregistered"] = outcome(converter, convert, path)
        both = convert.Converter(operators)
        both._unregistered = operators[1:]  # the first is registered in this process
        with both.converted(path, "rk3576", output=path.with_suffix(".rknn")) as simulate:
            (z,) = simulate([X])
        expected = np.exp(hard_sigmoid(X))
        results["two operators"] = float(np.abs(z - expected).max())
        results["attributes in .rknn"] = [
            text in path.with_suffix(".rknn").read_bytes() for text in (OP_TYPE.encode(), b"points")
        ]

        renamed = model(helper.make_node("Swish", ["x"], ["y"], "swish", **ATTRIBUTES))
        make_onnx.rename(renamed, "Swish")
        onnx.save(renamed, path)
        results["renamed"] = outcome(converter, convert, path)

        for arguments in COMMAND_LINES:
            results[arguments] = refusal(make_onnx, arguments)

        operators[0].op_type = "Abs"
        onnx.save(model(helper.make_node("Abs", ["x"], ["y"])), path)
        results["standard name"] = outcome(convert.Converter(operators[:1]), convert, path)
    answers.write(json.dumps(results))


if __name__ == "__main__":
    main()
