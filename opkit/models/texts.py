"""The user's files of an operator from a model: its reference by onnx, and its cases."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from opkit.description.spec import OpSpec
from opkit.models.describing import Signature
from opkit.models.model import Model, Node, Value
from opkit.python_layout import literal
from opkit.text import printable, render

MAX_ELEMENTS = 4096
"""Maximum elements of an input in a case of the model's shapes: the evaluator is slow."""

_WORDS = {"int": "an int", "float": "a float", "ints": "a list of ints"}
_WORDS |= {"floats": "a list of floats", "string": "a str"}


def reference(found: Signature, nodes: Sequence[Node]) -> str:
    """Return the text of `<op>_reference.py` that calls onnx's reference evaluator.

    Args:
        found: a standard operator.
        nodes: its nodes, for the shapes of constants.
    """
    tensors = {each.name: _only(each.dtypes) for each in found.inputs if not each.kind}
    constants = {
        each.name: [_only(each.dtypes), _constant_shape(nodes, each.position)]
        for each in found.inputs
        if each.kind
    }
    kinds = {each.name: each.kind for each in found.attributes}
    kinds |= {each.name: each.kind for each in found.inputs if each.kind}
    params = [f"        {name}: {_WORDS[kind]}" for name, kind in kinds.items()]
    return render(
        "models/templates/onnx_reference.py",
        name=found.op_type,
        op_type=found.op_type,
        opset=str(found.opset),
        inputs=literal(tensors, "INPUTS = ", 0),
        constants=literal(constants, "CONSTANTS = ", 0),
        outputs=literal([*found.outputs], "OUTPUTS = ", 0),
        attributes=literal([each.name for each in found.attributes], "ATTRIBUTES = ", 0),
        param_values="\n".join(params or ["        (this operator has none)"]),
    )


def _only(dtypes: frozenset[str]) -> str | None:
    return next(iter(dtypes)) if len(dtypes) == 1 else None


def _constant_shape(nodes: Sequence[Node], position: int) -> list[int]:
    """Return the shape of a constant in a node: [] for a number, [-1] for any list."""
    tensor = nodes[0].inputs[position]
    assert tensor is not None
    return [-1] * len(tensor.shape or ())


def tests(spec: OpSpec, found: Signature, model: Model, nodes: Sequence[Node]) -> str:
    """Return the text of `tests/test_<op>.py`: a group of cases for each kind of node."""
    return render(
        "models/templates/test.py",
        name=spec.name,
        lower=spec.lower,
        model=printable(model.file.name),
        cases="\n".join(_groups(found, nodes)),
    )


def _groups(found: Signature, nodes: Sequence[Node]) -> Iterator[str]:
    """Yield a call of cases() for each different node."""
    seen = []
    for node in nodes:
        shapes = {each.name: _sizes(node, each.position) for each in found.inputs if not each.kind}
        params = {name: _plain(value) for name, value in node.attributes.items()}
        if (shapes, params) in seen or any(shape is None for shape in shapes.values()):
            continue
        seen.append((shapes, params))
        yield _group(shapes, params, _case_dtypes(found, node))


def _sizes(node: Node, position: int) -> list[int] | None:
    tensor = node.inputs[position]
    if tensor is None or tensor.is_dynamic:
        return None
    return [size for size in tensor.shape or () if isinstance(size, int)]


def _case_dtypes(found: Signature, node: Node) -> dict[str, str]:
    tensors = ((each.name, node.inputs[each.position]) for each in found.inputs if not each.kind)
    return {name: tensor.dtype for name, tensor in tensors if tensor is not None}


def _group(shapes: Mapping[str, Any], params: Mapping[str, Any], dtypes: Mapping[str, str]) -> str:
    sizes = ", ".join(f'"{name}": {tuple(shape)}' for name, shape in shapes.items())
    lines = [
        "*cases(",
        f"    shapes=[{{{sizes}}}],",
        "    values=[uniform(-1, 1)],",
        f"    params=[{literal(dict(params), '    params=[')}],",
        f"    dtype={literal(dict(dtypes), '    dtype=')},",
        "),",
    ]
    return textwrap.indent("\n".join(lines), "    ")


def _plain(value: Value) -> Any:
    return [*map(_plain, value)] if isinstance(value, tuple) else value
