"""Changes to the text of a description: all else in it stays as the user wrote it."""

from __future__ import annotations

from collections.abc import Sequence

import yaml

from opkit.description.schema import MODELINE


def with_schema(text: str) -> str:
    """Return a description whose first line names the schema to editors, unless a line does."""
    return text if "yaml-language-server:" in text else MODELINE + text


def with_runtimes(text: str, names: Sequence[str]) -> str:
    """Return a description with other runtimes."""
    return _with_entry(text, "runtimes", f"[{', '.join(names)}]")


def with_target(text: str, name: str) -> str:
    """Return a description with another target to build for by default."""
    return _with_entry(text, "target_platform", name)


def _with_entry(text: str, name: str, value: str) -> str:
    """Return a description with another value of a key, which follows the first one if new.

    Args:
        text: a description that can be used.
        name: the key.
        value: YAML on one line.
    """
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    assert isinstance(root, yaml.MappingNode)  # else it has been refused
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
