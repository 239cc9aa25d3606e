"""rknn_op_<op>.py: the class that RKNN-Toolkit calls while it converts a model."""

from __future__ import annotations

import ast
import math
import unicodedata
from typing import Any

from opkit.emit.template import fill
from opkit.errors import OpkitError
from opkit.python_versions import check_reference
from opkit.spec import OpSpec, Param, Tensor

LINE_LENGTH = 100

_EXACT = 2**53
"""RKNN-Toolkit hands params to the board as JSON numbers; beyond this they are not exact."""


def toolkit_class(spec: OpSpec, reference_source: str) -> str:
    """Return the text of `rknn_op_<lower>.py`, formatted, for Python 3.5 and later.

    Args:
        spec: the operator.
        reference_source: the text of `<lower>_reference.py`; it is in the result as it is.

    Raises:
        OpkitError: the reference lacks a function or cannot run in RKNN-Toolkit's Python, or the
            operator has the name of something that the file needs.
    """
    source = reference_source.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    check_reference(source, f"{spec.lower}_reference.py")
    text = fill(
        "rknn_op.py",
        name=spec.name,
        lower=spec.lower,
        inputs=_literal([_tensor(input_) for input_ in spec.inputs]),
        outputs=_literal([_tensor(output) for output in spec.outputs]),
        params=_literal([_param(param) for param in spec.params]),
        source=_source_literal("\n" + source.rstrip("\n") + "\n"),
    )
    if spec.name in _names(text):
        raise OpkitError(
            f"op.yml: name: '{spec.name}' is a name that rknn_op_{spec.lower}.py itself needs; "
            "choose another name"
        )
    return text


def _tensor(tensor: Tensor) -> tuple[str, str]:
    return tensor.name, tensor.doc


def _param(param: Param) -> dict[str, Any]:
    limits = param.type.limits
    default = list(param.default) if isinstance(param.default, tuple) else param.default
    facts = {
        "name": param.name,
        "type": param.type.name,
        "limits": limits and (max(limits[0], -_EXACT), min(limits[1], _EXACT)),
        "length": param.length,
        "source": param.source,
        "default": default,
    }
    return {key: value for key, value in facts.items() if value is not None}


def _names(text: str) -> set[str]:
    """Return the names that a module's code looks up."""
    return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}


def _literal(value: Any, indent: int = 0, key: str = "") -> str:
    """Return a Python literal as a formatter would write it.

    Args:
        value: a str, number, bool, or a list, tuple or dict of such.
        indent: the column at which its line begins.
        key: what stands before it on its line.
    """
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if not isinstance(value, (list, tuple, dict)):
        return repr(value).replace("e+", "e")
    opening, closing = {list: ("[", "]"), tuple: ("(", ")"), dict: ("{", "}")}[type(value)]
    holds_rows = any(isinstance(item, (tuple, dict)) for item in value)
    if not isinstance(value, dict) and not holds_rows:
        line = opening + ", ".join(_literal(item) for item in value) + closing
        if indent + len(key) + _width(line) + len(",") <= LINE_LENGTH:
            return line
    pairs = value.items() if isinstance(value, dict) else (("", item) for item in value)
    lines = []
    for name, item in pairs:
        before = f"{_string(name)}: " if name else ""
        lines.append(f"{' ' * (indent + 4)}{before}{_literal(item, indent + 4, before)},\n")
    return f"{opening}\n{''.join(lines)}{' ' * indent}{closing}"


def _string(text: str) -> str:
    quote = "'" if text.count('"') > text.count("'") else '"'
    other = "'" if quote == '"' else '"'
    # repr puts a lone quote into the other kind, so only the one that ends the text needs more.
    escapes = {quote: f"\\{quote}", other: other}
    return quote + "".join(escapes.get(one, repr(one)[1:-1]) for one in text) + quote


def _width(text: str) -> int:
    """Return how many columns a text takes."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def _source_literal(source: str) -> str:
    """Return source code as a raw string, in which it can be read as it is.

    A raw string cannot hold both kinds of triple quotes; such a source becomes one string a line.
    """
    for quotes in ('"""', "'''"):
        if quotes not in source:
            return f"r{quotes}{source}{quotes}"
    lines = "".join(f"    {_string(line)}\n" for line in source.splitlines(keepends=True))
    return f"(\n{lines})"
