"""Reads YAML with the line of every key and value, so that messages can name them."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

import yaml

from opkit.errors import OpkitError

EXAMPLES = {
    "name": "name: ResizeArea",
    "inputs": "inputs: {input: {type: VX_TYPE_TENSOR}}",
    "outputs": "outputs: {output: {type: VX_TYPE_TENSOR}}",
    "sources": "sources: [src/area.c]",
    "include": "include: [src]",
    "runtimes": "runtimes: [rknn]",
    "cflags": "cflags: [-DSTEPS=4, -ffast-math]",
}
"""A line of a description for each key that a message may ask for."""


MAX_CHARACTERS = 200_000
"""The size of a description; PyYAML takes a second for it."""
MAX_NODES = 20_000
"""The keys and values in it, each as often as aliases repeat it."""
MAX_DEPTH = 20
"""How deep lists and mappings are in one another."""


class DescriptionError(OpkitError):
    """The operator description cannot be used; the message says where and why."""


_NO_MERGE = "merge keys (`<<`) are not supported; write the lines out"


class Reader:
    """Walks the YAML tree.

    Args:
        file: the name by which messages call the file.
    """

    def __init__(self, file: str) -> None:
        self.file = file

    def fail(self, node: yaml.Node | None, where: str, problem: str) -> NoReturn:
        """Stop with the line of a node, the field, and what is wrong."""
        raise DescriptionError(self.message(node, where, problem))

    def message(self, node: yaml.Node | None, where: str, problem: str) -> str:
        """Return a message with the line of a node; of the whole text without one."""
        line = node.start_mark.line + 1 if node is not None else 1
        field = printable(shortened(where, 200)).replace("\n", "\\n")
        return f"{self.file}:{line}: {field}: {printable(problem)}"

    def root(self, text: str) -> yaml.Node:
        """Return the tree of a text, which must be YAML of a size that a person writes."""
        if len(text) > MAX_CHARACTERS:
            problem = f"has {len(text):,} characters (expected {MAX_CHARACTERS:,} at most)"
            self.fail(None, "description", problem)
        try:
            root = yaml.compose(text, Loader=yaml.SafeLoader)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = mark.line + 1 if mark else 1
            problem = " ".join(str(error.problem or error.context).split())
            raise DescriptionError(f"{self.file}:{line}: this is not YAML: {problem}") from None
        except yaml.reader.ReaderError as error:
            line = text.count("\n", 0, error.position) + 1
            problem = f"the character {error.character!r} is not allowed"
            raise DescriptionError(f"{self.file}:{line}: this is not YAML: {problem}") from None
        except (RecursionError, OverflowError, ValueError) as error:
            problem = "nested too deeply" if isinstance(error, RecursionError) else str(error)
            raise DescriptionError(f"{self.file}:1: this is not YAML: {problem}") from None
        if root is None:
            self.fail(None, "description", f"is empty; write at least `{EXAMPLES['name']}`")
        self._count(root, "description", 1, {})
        return root

    def _count(self, node: yaml.Node, where: str, depth: int, counts: dict[int, int]) -> int:
        """Return the size of a tree; refuse what only a machine writes, or an attacker."""
        if isinstance(node, yaml.ScalarNode):
            return 1
        if counts.get(id(node)) == 0:
            self.fail(node, where, "is an item of itself")
        if depth > MAX_DEPTH:
            self.fail(node, where, f"is nested too deeply (expected {MAX_DEPTH} levels at most)")
        if id(node) not in counts:
            counts[id(node)] = 0
            parts = [
                self._count(part, path, depth + 1, counts) for part, path in _parts(node, where)
            ]
            if isinstance(node, yaml.MappingNode):
                for key, _ in node.value:
                    if key.tag == "tag:yaml.org,2002:merge":
                        self.fail(key, where, _NO_MERGE)
            counts[id(node)] = 1 + sum(parts)
            if counts[id(node)] > MAX_NODES:
                self.fail(node, where, f"has more than {MAX_NODES:,} values")
        return counts[id(node)]

    def mapping(
        self, node: yaml.Node, where: str, known: Sequence[str] | None
    ) -> dict[str, yaml.Node]:
        """Return the entries in order; refuse a duplicate key and an unknown one."""
        if not isinstance(node, yaml.MappingNode):
            self.fail(node, where, f"must be `key: value` lines, not {shown(node)}")
        entries: dict[str, yaml.Node] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.fail(key, where, f"a key must be a name, not {shown(key)}")
            name = key.value
            if key.tag != "tag:yaml.org,2002:str":
                kind = key.tag.rpartition(":")[2]
                self.fail(
                    key, where, f"key must be a string, not the {kind} {name}; quote it: '{name}'"
                )
            path = name if where == "description" else f"{where}.{name}"
            if known is not None and name not in known:
                self.unknown_key(key, path, name, known)
            if name in entries:
                self.fail(key, path, "duplicate key; delete one of them")
            entries[name] = value
        return entries

    def unknown_key(self, node: yaml.Node, where: str, name: str, known: Sequence[str]) -> NoReturn:
        """Refuse a key that nobody knows; name the nearest that there is."""
        nearest = difflib.get_close_matches(name.lower(), known, 1, 0.5)
        hint = f"; did you mean '{nearest[0]}'?" if nearest else ""
        expected = ", ".join(known)
        self.fail(node, where, f"unknown key {shortened(name)!r}{hint} (expected {expected})")

    def text(self, node: yaml.Node, where: str) -> str:
        """Return the text of a node that must be one."""
        if not isinstance(node, yaml.ScalarNode) or is_null(node):
            self.fail(node, where, f"must be one word or text, not {shown(node)}")
        return str(node.value)

    def choice(
        self, entries: Mapping[str, yaml.Node], key: str, allowed: Sequence[str], default: str
    ) -> str:
        """Return the value of a key, in lower case; it must be one of those allowed."""
        if key not in entries:
            return default
        value = self.text(entries[key], key)
        if value.lower() not in allowed:
            expected = ", ".join(allowed)
            problem = f"unknown value {shortened(value)!r} (expected {expected})"
            self.fail(entries[key], key, problem)
        return value.lower()

    def items(
        self, node: yaml.Node | None, where: str, problem_of: Callable[[str], str | None]
    ) -> Iterator[tuple[yaml.Node, str, str]]:
        """Yield node, field and text of each item of a list of texts; no key is an empty list."""
        if node is None or is_null(node):
            return
        if not isinstance(node, yaml.SequenceNode):
            self.fail(node, where, f"must be a list, as `{EXAMPLES[where]}`, not {shown(node)}")
        for index, item in enumerate(node.value):
            text = self.text(item, f"{where}[{index}]")
            problem = problem_of(text)
            if problem:
                self.fail(item, f"{where}[{index}]", f"{shortened(text)!r} {problem}")
            yield item, f"{where}[{index}]", text

    def value(self, node: yaml.Node, where: str) -> Any:
        """Return what YAML makes of a node."""
        try:
            return yaml.SafeLoader("").construct_document(node)
        except (yaml.YAMLError, ValueError, OverflowError, LookupError, TypeError, AttributeError):
            self.fail(node, where, f"{shown(node)} cannot be read as a value")


def _parts(node: yaml.Node, where: str) -> Iterator[tuple[yaml.Node, str]]:
    """Yield what is in a list or a mapping, and the field that it is."""
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield item, f"{where}[{index}]"
        return
    for key, value in node.value:
        name = str(key.value)
        yield key, where
        yield value, name if where == "description" else f"{where}.{name}"


def is_null(node: yaml.Node) -> bool:
    """Whether there is nothing behind a key."""
    return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null"


def shortened(text: str, most: int = 60) -> str:
    """Return a text that fits into a message."""
    return text if len(text) <= most else f"{text[: most - 10]}... ({len(text)} characters)"


def printable(text: str) -> str:
    """Return a text in which a terminal finds no commands."""
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)


def shown(node: yaml.Node) -> str:
    """Return the value as the user wrote it, in few words."""
    if isinstance(node, yaml.ScalarNode):
        return repr(shortened(node.value)) if node.value else "nothing"
    return "a list" if isinstance(node, yaml.SequenceNode) else "`key: value` lines"
