"""A stand-in for the parts of RKNN-Toolkit2 that a custom operator's class uses, as observed.

A node is any object with `name` and `attribute`, whose items have `name` and `value`: a float, an
int, a str, a list of floats or ints.
"""

from typing import Any

KINDS = {float, int, str, (list, float), (list, int)}


def get_node_attr(node: Any, name: str) -> Any:
    """Return the value of an attribute, or None if it is missing."""
    for attribute in node.attribute:
        value = attribute.value
        items = {type(item) for item in value} if type(value) is list else set()
        kind = (list, *items) if items else type(value)
        if kind not in KINDS:
            raise TypeError(f"attribute {attribute.name}: {value!r} was not seen")
        if attribute.name == name:
            return value
    return None
