"""Read the op.yml of a package, written by any toolkit, as plain values."""

from __future__ import annotations

from typing import TypeAlias

import yaml

from opkit.complaint import Complaint
from opkit.description.reader import DescriptionError, Reader

MAX_CHARACTERS = 20_000
"""Limit of an op.yml: at worst PyYAML takes a second for it, and 300 bytes per character."""

Value: TypeAlias = "str | list[Value] | dict[str, Value]"


def fields(text: str, file: str = "op.yml") -> dict[str, Value]:
    """Return the keys and values of an op.yml in its order, scalars as they are written.

    Keys are not checked, and values are not converted.

    Raises:
        DescriptionError: it is not a YAML mapping, or is longer than the limit.
    """
    if len(text) > MAX_CHARACTERS:
        problem = f"has {len(text):,} characters"
        raise DescriptionError(Complaint(file, problem, 1, expected=f"{MAX_CHARACTERS:,} at most"))
    value = _value(Reader(file).root(text))
    if not isinstance(value, dict):
        raise DescriptionError(Complaint(file, "has no keys", 1))
    return value


def scalars(text: str) -> dict[str, str]:
    """Return the top-level scalars of an op.yml; empty if it cannot be read."""
    try:
        return {key: value for key, value in fields(text).items() if isinstance(value, str)}
    except DescriptionError:
        return {}


def _value(node: yaml.Node) -> Value:
    if isinstance(node, yaml.MappingNode):
        return {_key(key): _value(value) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [_value(item) for item in node.value]
    return str(node.value)


def _key(node: yaml.Node) -> str:
    value = _value(node)
    return value if isinstance(value, str) else repr(value)
