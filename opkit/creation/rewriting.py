"""Changes to the text of a description: all else in it stays as the user wrote it."""

from __future__ import annotations

from collections.abc import Container, Sequence

import yaml

from opkit.creation.schema import MODELINE, MODELINE_0_1


def with_schema(text: str) -> str:
    """Return a description whose first line names the schema to editors, unless a line does."""
    text = text.replace(MODELINE_0_1, MODELINE)
    return text if "yaml-language-server:" in text else MODELINE + text


def with_runtimes(text: str, names: Sequence[str]) -> str:
    """Return a description with other runtimes."""
    return _with_entry(text, "runtimes", f"[{', '.join(names)}]")


def with_target(text: str, name: str) -> str:
    """Return a description with another target to build for by default."""
    return _with_entry(text, "target_platform", name)


def with_framework(text: str, name: str) -> str:
    """Return a description with another framework."""
    return _with_entry(text, "framework", name)


def entries(text: str) -> dict[str, tuple[int, str]]:
    """Return key -> its line, from 1, and its value, of a description; empty for a collection."""
    return {
        key.value: (
            key.start_mark.line + 1,
            value.value if isinstance(value, yaml.ScalarNode) else "",
        )
        for key, value in _root(text).value
    }


def without(text: str, keys: Container[str]) -> str:
    """Return a description without some keys; a comment behind a value goes with it.

    Args:
        text: a description that can be used.
        keys: not all that it has.
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
            # A text block ends behind its last line, other values inside of it.
            line_end = text.find("\n", _end(value) - 1) + 1
            text = text[:start] + (text[line_end:] if line_end else "")
    return text


def _end(node: yaml.Node) -> int:
    """Return where the text of a node ends; a block's own mark is where the next text begins."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(node, yaml.MappingNode) else last
    end: int = node.end_mark.index
    return end


def _root(text: str) -> yaml.MappingNode:
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    assert isinstance(root, yaml.MappingNode)  # else it has been refused
    return root


def _with_entry(text: str, name: str, value: str) -> str:
    """Return a description with another value of a key, which follows the first one if new.

    Args:
        text: a description that can be used.
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
