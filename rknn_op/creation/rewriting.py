"""Changes to single keys in the text of a description; the rest of the text stays."""

from __future__ import annotations

from collections.abc import Container, Sequence

import yaml


def with_runtimes(text: str, names: Sequence[str]) -> str:
    """Set the runtimes of a description."""
    return _with_entry(text, "runtimes", f"[{', '.join(names)}]")


def with_name(text: str, name: str) -> str:
    """Set the operator's name in a description."""
    return _with_entry(text, "name", name)


def with_target(text: str, name: str) -> str:
    """Set the default target of a description."""
    return _with_entry(text, "target_platform", name)


def with_framework(text: str, name: str) -> str:
    """Set the framework of a description."""
    return _with_entry(text, "framework", name)


def with_repeated_input(text: str, count: int) -> str:
    """Set the count of inputs of a description; all are like the first one but for their index.

    Args:
        text: a valid description in block style. The name of the first input ends with 0.
        count: the count of inputs.
    """
    inputs = next(value for key, value in _root(text).value if key.value == "inputs")
    first = inputs.value[0][0]
    start = first.start_mark.index - first.start_mark.column
    ends = [text.find("\n", _end(value) - 1) + 1 for _, value in inputs.value]
    line, stem = text[start : ends[0]], first.value.removesuffix("0")
    lines = [line.replace(first.value, f"{stem}{index}", 1) for index in range(count)]
    return text[:start] + "".join(lines) + text[ends[-1] :]


def entries(text: str) -> dict[str, tuple[int, str]]:
    """Return key -> line, from 1, and value of each entry; the value of a collection is empty."""
    return {
        key.value: (
            key.start_mark.line + 1,
            value.value if isinstance(value, yaml.ScalarNode) else "",
        )
        for key, value in _root(text).value
    }


def without(text: str, keys: Container[str]) -> str:
    """Remove keys from a description; a comment behind a value is removed with it.

    Args:
        text: a valid description.
        keys: the keys; at least one other key must remain.
    """
    root = _root(text)
    if root.flow_style:  # all in braces
        kept = [
            text[key.start_mark.index : _end(value)]
            for key, value in root.value
            if key.value not in keys
        ]
        if len(kept) == len(root.value):
            return text
        start, end = root.value[0][0].start_mark.index, _end(root.value[-1][1])
        return text[:start] + ", ".join(kept) + text[end:]
    for key, value in reversed(root.value):
        if key.value in keys:
            start = text.rfind("\n", 0, key.start_mark.index) + 1
            # A text block ends after its last line, other values within it.
            line_end = text.find("\n", _end(value) - 1) + 1
            text = text[:start] + (text[line_end:] if line_end else "")
    return text


def _end(node: yaml.Node) -> int:
    """Return the end of a node's text; the end mark of a block is the start of the next text."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(node, yaml.MappingNode) else last
    end: int = node.end_mark.index
    return end


def _root(text: str) -> yaml.MappingNode:
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    assert isinstance(root, yaml.MappingNode)  # other nodes were refused
    return root


def _with_entry(text: str, name: str, value: str) -> str:
    """Set the value of a key in a description; a new key goes after the first one.

    Args:
        text: a valid description.
        name: the key.
        value: YAML on one line.
    """
    root = _root(text)
    for key, node in root.value:
        if key.value == name:
            start, end = node.start_mark.index, node.end_mark.index
            return text[:start] + value + text[start + len(text[start:end].rstrip()) :]
    if root.flow_style:  # all in braces
        start = root.start_mark.index + 1
        return f"{text[:start]}{name}: {value}, {text[start:]}"
    after_first_entry = root.value[1][0].start_mark
    start, indent = after_first_entry.index, " " * after_first_entry.column
    return f"{text[:start]}{name}: {value}\n{indent}{text[start:]}"
