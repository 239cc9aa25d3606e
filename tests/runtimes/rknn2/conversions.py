"""Make and convert models, in the Python of RKNN-Toolkit2.

    python conversions.py FOLDER OTHER

FOLDER and OTHER are the rknn2/ of two operators, PiecewiseLinear and Exp. Prints a JSON object:
name of a case -> its error or its result. Each case runs in a separate process, forked from this
one, which has imported the toolkit.
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
from rknn.api import RKNN

OP_TYPE = "cstPiecewiseLinear"
ATTRIBUTES: dict[str, Any] = {"points": [-3.0, 3.0], "values": [0.0, 1.0]}
X = np.linspace(-4, 4, 120, dtype=np.float32).reshape(1, 5, 6, 4)


def node(
    op_type: str = OP_TYPE, inputs: tuple[str, ...] = ("x",), output: str = "y", **others: Any
) -> Any:
    attributes = {**ATTRIBUTES, **others} if op_type == OP_TYPE else {}
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
    "large integer": lambda: model(node(unread=[1, 2**31])),
    "small float": lambda: model(node(unread=2.0**-126)),
    "infinite": lambda: model(node(points=[0.0, np.inf])),
    "rank 7": lambda: model(node(), shape=(1, 1, 1, 1, 1, 2, 3)),
    "unregistered": lambda: model(node(), node("cstExp", ("y",), "z")),
    "unregistered twice": lambda: model(
        node("cstExp", output="a"), helper.make_node("Mish2", ["a"], ["b"]), node(inputs=("b",))
    ),
}


COMMAND_LINES = (
    "points=1,2 values=1,2",
    "x=1x2 points=1,2",
    "x=1x2 y=1x2",
    "x=1x2 points=a",
    "x=1xN",
    "x=1x2 points=2,1 values=1,2",
    "x=1x2 points=1e-40,1 values=1,2",
    "x=1x1x1x1x1x1x2 points=1,2 values=1,2",
    "--from absent.onnx --rename Exp",
)
"""Invalid arguments of make_onnx.py."""


SCRIPTS: dict[str, Callable[[Any, Path], str]] = {}
"""Conversions as users write them, with only the class: each returns the last message."""


def script(function: Callable[[Any, Path], str]) -> Callable[[Any, Path], str]:
    SCRIPTS[function.__name__] = function
    return function


def toolkit(path: Path, operator: Any = None, **config: Any) -> Any:
    """Return an RKNN object that has built a model."""
    rknn = RKNN(verbose=False)
    rknn.config(target_platform="rk3588", **config)
    if operator:
        rknn.reg_custom_op(operator)
    rknn.load_onnx(model=str(path))
    rknn.build(do_quantization=False)
    return rknn


@script
def second_registration(operator: Any, path: Path) -> str:
    toolkit(path, operator)
    return built(path, type(operator)())


@script
def second_model_without_registration(operator: Any, path: Path) -> str:
    toolkit(path, operator)
    return built(path)


@script
def registration_of_a_failed_conversion(operator: Any, path: Path) -> str:
    RKNN(verbose=False).reg_custom_op(operator)
    return built(path, operator)


@script
def registered_twice_with_one_object(operator: Any, path: Path) -> str:
    rknn = RKNN(verbose=False)
    rknn.config(target_platform="rk3588")
    for _ in range(2):
        rknn.reg_custom_op(operator)
    rknn.load_onnx(model=str(path))
    return f"built {rknn.build(do_quantization=False)}"


@script
def dynamic_input(operator: Any, path: Path) -> str:
    shapes = [[list(X.shape)], [[2, *X.shape[1:]]]]
    return built(path, operator, dynamic_input=shapes)


@script
def dynamic_input_of_symbolic_model(operator: Any, path: Path) -> str:
    onnx.save(model(node(), shape=("N", 4)), path)
    return built(path, operator, dynamic_input=[[[1, 4]], [[2, 4]]])


@script
def input_size_list(operator: Any, path: Path) -> str:
    onnx.save(model(node(), shape=("N", 4)), path)
    rknn = RKNN(verbose=False)
    rknn.config(target_platform="rk3588")
    rknn.reg_custom_op(operator)
    try:
        rknn.load_onnx(model=str(path), inputs=["x"], input_size_list=[[2, 4]])
    except ValueError as error:
        return str(error)
    return "loaded"


@script
def second_converter(operator: Any, path: Path) -> str:
    convert: Any = import_module("convert")
    converter = convert.Converter([operator])
    assert outcome(converter, convert, path) == "converted"
    return outcome(converter, convert, path)


@script
def everything_after_build(operator: Any, path: Path) -> str:
    rknn = toolkit(path, operator)
    exported, inputs = path.with_suffix(".rknn"), path.with_suffix(".npy")
    np.save(inputs, X)
    results = [rknn.export_rknn(str(exported)), rknn.init_runtime()]
    for _ in range(2):
        rknn.inference([X], data_format="nchw")
    results.append(rknn.accuracy_analysis([str(inputs)], output_dir=str(path.with_suffix(""))))
    return f"{results} {b'outside' in exported.read_bytes()}"


@script
def quantized(operator: Any, path: Path) -> str:
    inputs, dataset = path.with_suffix(".npy"), path.with_suffix(".txt")
    np.save(inputs, X)
    dataset.write_text(f"{inputs}\n")
    rknn = RKNN(verbose=False)
    rknn.config(target_platform="rk3588")
    rknn.reg_custom_op(operator)
    rknn.load_onnx(model=str(path))
    rknn.build(do_quantization=True, dataset=str(dataset))
    rknn.export_rknn(str(path.with_suffix(".rknn")))
    return str(b"outside" in path.with_suffix(".rknn").read_bytes())


def refuse(operator: Any, is_refused: Callable[[Any], bool], error: type[Exception]) -> None:
    """Let the reference of an operator refuse some inputs; the toolkit's own are -1 to 1."""
    reference = operator.reference.reference

    def refusing(inputs: Any, params: Any) -> Any:
        if is_refused(inputs["x"]):
            raise error("refused")
        return reference(inputs, params)

    operator.reference.reference = refusing


def is_of_toolkit(x: Any) -> bool:
    return float(np.abs(x).max()) <= 1


@script
def refused_inputs_of_toolkit(operator: Any, path: Path) -> str:
    refuse(operator, is_of_toolkit, ZeroDivisionError)
    onnx.save(model(node(), plus("y", "y")), path)
    rknn = toolkit(path, operator)
    rknn.init_runtime()
    (z,) = rknn.inference([X], data_format="nchw")
    return f"{np.abs(z - 2 * hard_sigmoid(X)).max() < 4e-3}"


@script
def mistake_on_inputs_of_toolkit(operator: Any, path: Path) -> str:
    refuse(operator, is_of_toolkit, NameError)
    return built(path, operator)


@script
def refused_inference(operator: Any, path: Path) -> str:
    refuse(operator, lambda x: not is_of_toolkit(x), ValueError)
    rknn = toolkit(path, operator)
    rknn.init_runtime()
    try:
        rknn.inference([X], data_format="nchw")
    except ValueError as error:
        return str(error).strip().splitlines()[-1]
    return "inferred"


@script
def refused_calibration(operator: Any, path: Path) -> str:
    refuse(operator, lambda x: True, ValueError)
    try:
        return quantized(operator, path)
    except ValueError as error:
        return str(error).strip().splitlines()[-1]


@script
def refused_constants(operator: Any, path: Path) -> str:
    refuse(operator, lambda x: x.shape == (4,), ValueError)
    constant = helper.make_tensor("k", TensorProto.FLOAT, [4], [1.0, 2.0, 3.0, 4.0])
    made = model(node(inputs=("k",)), plus("x", "y"))
    made.graph.initializer[0].CopyFrom(constant)
    onnx.save(made, path)
    return built(path, operator)


def built(path: Path, operator: Any = None, **config: Any) -> str:
    try:
        toolkit(path, operator, **config)
    except ValueError as error:
        return str(error).strip().splitlines()[-1]
    return "built"


def forked(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a forked process; return its result, or a text if the process ends."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        with os.fdopen(writer, "w") as file:
            file.write(json.dumps(function(*arguments)))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        text = file.read()
    os.wait()
    return json.loads(text) if text else "the process ended"


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


def two_operators(convert: Any, operators: list[Any], path: Path) -> list[Any]:
    onnx.save(model(node(), node("cstExp", ("y",), "z")), path)
    package = path.with_suffix(".rknn")
    with convert.Converter(operators).converted(path, "rk3576", output=package) as simulate:
        (z,) = simulate([X])
    expected = np.exp(hard_sigmoid(X))
    written = [text in package.read_bytes() for text in (OP_TYPE.encode(), b"points")]
    return [float(np.abs(z - expected).max()), written]


def main() -> None:
    """Run the cases."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    folder, other = sys.argv[1:]
    sys.path.insert(0, folder)
    convert: Any = import_module("convert")
    make_onnx: Any = import_module("make_onnx")
    operators = [convert.CustomOp(), convert.load_operator(f"{other}/exp_custom_op.py")]
    converter = convert.Converter(operators[:1])
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "model.onnx"
        for name, make in REFUSED.items():
            onnx.save(make(), path)
            results[name] = forked(outcome, converter, convert, path)

        for name, function in SCRIPTS.items():
            onnx.save(model(node()), path)
            results[name] = forked(function, operators[0], path)

        results["two operators"], results["attributes in .rknn"] = forked(
            two_operators, convert, operators, path
        )

        renamed = model(helper.make_node("Swish", ["x"], ["y"], "swish", **ATTRIBUTES))
        make_onnx.rename(renamed, "Swish")
        onnx.save(renamed, path)
        results["renamed"] = forked(outcome, converter, convert, path)
        results["attributes of renamed"] = [each.name for each in renamed.graph.node[0].attribute]

        for arguments in COMMAND_LINES:
            results[arguments] = refusal(make_onnx, arguments)

        operators[0].op_type = "Abs"
        onnx.save(model(helper.make_node("Abs", ["x"], ["y"])), path)
        renamed_operator = convert.Converter(operators[:1])
        results["standard name"] = forked(outcome, renamed_operator, convert, path)
    answers.write(json.dumps(results))


if __name__ == "__main__":
    main()
