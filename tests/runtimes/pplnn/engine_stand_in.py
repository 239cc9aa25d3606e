"""Stand in for ppl.nn's tool `pplnn`, with one operator: its reference computes.

    python engine_stand_in.py REPOSITORY OPTION...

It takes the options that opkit passes, and is as strict as the tool: a model with an unknown
operator, an attribute of another type and a file of another size end it with an error. Like the
x86 engine it replaces subnormal floats by zeros.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import onnx
from onnx import helper

from opkit import runtimes
from opkit.check.comparison import without_subnormals
from opkit.check.reference import Reference
from opkit.description.spec import OpSpec
from opkit.runtimes.pplnn.describe import settings

FLAGS = ("--use-x86", "--version", "--save-outputs")
VALUES = ("--onnx-model", "--inputs", "--save-data-dir")


def fail(problem: str) -> NoReturn:
    """End as the tool does after an error."""
    print(
        f"\x1b[0;31m[ERROR][2024-01-01 00:00:00.000][tool.cc:1] \x1b[0m{problem}", file=sys.stderr
    )
    sys.exit(255)


def parsed(words: list[str]) -> dict[str, str]:
    """Return option -> value."""
    options = {}
    rest = iter(words)
    for word in rest:
        if word not in (*FLAGS, *VALUES):
            fail(f"unknown option(s): '{word}'.")
        options[word] = next(rest) if word in VALUES else ""
    return options


def params_of(spec: OpSpec, node: onnx.NodeProto) -> dict[str, Any]:
    """Return the params of a node, by its attributes and op.yml's defaults."""
    attributes = {each.name: each for each in node.attribute}
    values = {}
    for param in spec.params:
        attribute = attributes.pop(param.name, None)
        if attribute is None:
            if param.default is None:
                fail(f"attribute[{param.name}] of node[{node.name}] is missing")
            values[param.name] = param.default
            continue
        if attribute.type != getattr(onnx.AttributeProto, param.type.onnx.upper()):
            fail(f"attribute[{param.name}] has ONNX type [{attribute.type}]")
        value = helper.get_attribute_value(attribute)
        values[param.name] = value.decode() if isinstance(value, bytes) else value
    if attributes:
        fail(f"unknown attributes {[*attributes]}")
    return values


def array_of(value: onnx.ValueInfoProto, file: str) -> Any:
    """Return the array in a file, by the signature of an input."""
    tensor = value.type.tensor_type
    dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    shape = [each.dim_value for each in tensor.shape.dim]
    data = Path(file).read_bytes()
    if len(data) != np.prod(shape) * dtype.itemsize:
        fail(f"input file[{file}] size({len(data)})")
    return flushed(np.frombuffer(data, dtype).reshape(shape))


def flushed(array: Any) -> Any:
    """Return an array with zeros in place of subnormal floats."""
    return without_subnormals(array) if array.dtype.kind == "f" else array


def main() -> None:
    """Run the tool."""
    root, *words = sys.argv[1:]
    options = parsed(words)
    print("ppl.nn version: [0.10.0], commit: [stand-in]")
    if "--version" in options:
        return
    if "--use-x86" not in options:
        fail("no engine is registered.")
    spec = runtimes.parse(Path(root, "op.yml").read_text())
    model = onnx.load(options["--onnx-model"])
    versions = {each.domain: each.version for each in model.opset_import}
    (node,) = model.graph.node
    own = settings(spec)
    if node.domain not in versions:
        fail(f"domain[{node.domain}] is not imported")
    first, last = own.opset
    known = (node.domain, node.op_type) == (own.domain, spec.name)
    if not known or not first <= versions[node.domain] <= last:
        fail(f"unsupported op: domain[{node.domain}], type[{node.op_type}]")
    files = options["--inputs"].split(",")
    inputs = {
        value.name: array_of(value, file)
        for value, file in zip(model.graph.input, files, strict=True)
    }
    reference = Reference(Path(root, f"{spec.lower}_reference.py"), spec)
    results = reference.reference(inputs, params_of(spec, node))
    print("----- output info -----")
    for index, output in enumerate(spec.outputs):
        array = results[output.name].astype(output.dtype or next(iter(inputs.values())).dtype)
        array = flushed(array)
        dims = "".join(f" {size}" for size in array.shape)
        print(f"output[{index}]:\n    name: {output.name}\n    dim(s):{dims}")
        print(f"    data type: {array.dtype.name.upper()}\n    data format: NDARRAY")
        Path(f"pplnn_output-{output.name}.dat").write_bytes(array.tobytes())


if __name__ == "__main__":
    main()
