"""Reads YAML; complaints have the line and the column of the key or value."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any, NoReturn, ParamSpec, TypeVar

import yaml

from opkit.common.complaint import Complaint
from opkit.common.errors import OpkitError
from opkit.common.text import closest, did_you_mean, printable, shortened
from opkit.description.types import MAX_ITEMS, TENSOR
from opkit.description.yaml_syntax import blank_after_colon, explain

_Arguments = ParamSpec("_Arguments")
_Value = TypeVar("_Value")

EXAMPLES = {
    "name": "name: ResizeArea",
    "inputs": f"inputs: {{input: {{type: {TENSOR}}}}}",
    "outputs": f"outputs: {{output: {{type: {TENSOR}}}}}",
    "sources": "sources: [src/area.c]",
    "include": "include: [src]",
    "runtimes": "runtimes: [rknn]",
    "cflags": "cflags: [-DSTEPS=4, -ffast-math]",
    "threads": "threads: 4",
    "fp16_math": "fp16_math: true",
}
"""Key of a description -> an example of its line, for hints."""


MAX_CHARACTERS = 200_000
"""The maximum size of a description; PyYAML takes a second for it."""
MAX_NODES = MAX_ITEMS
"""The maximum count of keys and values, with the repetitions by aliases."""
MAX_DEPTH = 20
"""The maximum nesting depth of lists and mappings."""


class DescriptionError(OpkitError):
    """The operator description is invalid.

    Attributes:
        complaint: the problem and its place.
    """

    def __init__(self, complaint: Complaint) -> None:
        super().__init__(str(complaint))
        self.complaint = complaint


class ConsequenceError(DescriptionError):
    """A part cannot be read because of another error; it is not reported."""


class Reader:
    """Walks the YAML tree.

    Args:
        file: the name of the file, for messages.
        max_complaints: the count of errors after which reading stops.
    """

    def __init__(self, file: str, max_complaints: int = 1) -> None:
        self.file = file
        self.errors: list[DescriptionError] = []
        self.warnings: list[Complaint] = []
        self._max_complaints = max_complaints
        self._meant: set[str] = set()

    def attempt(
        self,
        read: Callable[_Arguments, _Value],
        *arguments: _Arguments.args,
        **keywords: _Arguments.kwargs,
    ) -> _Value | Any:
        """Call a reading function and return its result; record its error and return None.

        Independent parts are attempted one by one, so that each error is reported. After an error,
        `end` raises it, so that no incomplete result is used.

        Raises:
            DescriptionError: the maximum count of errors is reached.
        """
        try:
            return read(*arguments, **keywords)
        except DescriptionError as error:
            is_new = error.complaint not in [known.complaint for known in self.errors]
            if is_new and not isinstance(error, ConsequenceError):
                self.errors.append(error)
            if len(self.errors) >= self._max_complaints:
                raise
            return None

    def end(self) -> None:
        """End reading.

        Raises:
            DescriptionError: the first recorded error.
        """
        if self.errors:
            raise self.errors[0]

    def fail(
        self,
        node: yaml.Node | None,
        where: str,
        problem: str,
        *,
        hint: str = "",
        expected: str = "",
    ) -> NoReturn:
        """Raise an error at a node; see complaint."""
        raise DescriptionError(self.complaint(node, where, problem, hint, expected))

    def complaint(
        self,
        node: yaml.Node | None,
        where: str,
        problem: str,
        hint: str = "",
        expected: str = "",
    ) -> Complaint:
        """Return a complaint about a node, or about the whole text if the node is None."""
        mark = node.start_mark if node is not None else None
        return Complaint(
            self.file,
            printable(problem),
            mark.line + 1 if mark else 1,
            mark.column + 1 if mark else 1,
            printable(shortened(where, 200)).replace("\n", "\\n"),
            printable(hint),
            printable(expected),
        )

    def required(
        self, node: yaml.Node, entries: Mapping[str, yaml.Node], where: str, example: str
    ) -> yaml.Node:
        """Return the value of a required key.

        Args:
            node: the node for the complaint if the key is missing.
            entries: the entries that must have the key.
            where: the field; its last part is the key.
            example: an example of the line, for the hint.
        """
        key = where.rpartition(".")[2]
        if key in entries:
            return entries[key]
        error = ConsequenceError if where in self._meant else DescriptionError
        raise error(self.complaint(node, where, "is missing", f"write `{example}`"))

    def root(self, text: str) -> yaml.Node:
        """Parse a text as YAML; refuse texts and trees beyond the limits."""
        if len(text) > MAX_CHARACTERS:
            problem = f"has {len(text):,} characters"
            self.fail(None, "description", problem, expected=f"{MAX_CHARACTERS:,} at most")
        try:
            root = yaml.compose(text, Loader=yaml.SafeLoader)
        except yaml.MarkedYAMLError as error:
            found = explain(text, error)
            raise self._no_yaml(found.problem, found.line, found.column, found.hint) from None
        except yaml.reader.ReaderError as error:
            line = text.count("\n", 0, error.position) + 1
            problem = f"the character {error.character!r} is not allowed"
            raise self._no_yaml(problem, line) from None
        except (RecursionError, OverflowError, ValueError) as error:
            problem = "nested too deeply" if isinstance(error, RecursionError) else str(error)
            raise self._no_yaml(problem) from None
        if root is None:
            hint = f"write at least `{EXAMPLES['name']}`"
            self.fail(None, "description", "is empty", hint=hint)
        self._count(root, "description", 1, {})
        return root

    def _no_yaml(
        self, problem: str, line: int = 1, column: int | None = None, hint: str = ""
    ) -> DescriptionError:
        problem = f"invalid YAML: {printable(problem)}"
        return DescriptionError(Complaint(self.file, problem, line, column, hint=hint))

    def _count(self, node: yaml.Node, where: str, depth: int, counts: dict[int, int]) -> int:
        """Return the count of nodes in a tree; refuse cycles, deep nesting and too many nodes."""
        if isinstance(node, yaml.ScalarNode):
            return 1
        if counts.get(id(node)) == 0:
            self.fail(node, where, "contains itself")
        if depth > MAX_DEPTH:
            self.fail(node, where, "is nested too deeply", expected=f"{MAX_DEPTH} levels at most")
        if id(node) not in counts:
            counts[id(node)] = 0
            parts = [
                self._count(part, path, depth + 1, counts) for part, path in _parts(node, where)
            ]
            if isinstance(node, yaml.MappingNode):
                for key, _ in node.value:
                    if key.tag == "tag:yaml.org,2002:merge":
                        problem = "merge keys (`<<`) are not supported"
                        self.fail(key, where, problem, hint="write the lines out")
            counts[id(node)] = 1 + sum(parts)
            if counts[id(node)] > MAX_NODES:
                self.fail(node, where, f"has more than {MAX_NODES:,} values")
        return counts[id(node)]

    def mapping(
        self, node: yaml.Node, where: str, known: Sequence[str] | None
    ) -> dict[str, yaml.Node]:
        """Return the entries in order; refuse duplicate and unknown keys."""
        return {name: value for _, name, value in self.entries_of(node, where, known)}

    def entries_of(
        self, node: yaml.Node, where: str, known: Sequence[str] | None
    ) -> list[tuple[yaml.Node, str, yaml.Node]]:
        """Return key node, name and value of the entries in order; see mapping."""
        if not isinstance(node, yaml.MappingNode):
            first = node.value.partition(" ")[0] if isinstance(node, yaml.ScalarNode) else ""
            problem = f"must be `key: value` lines, not {as_written(node)}"
            self.fail(node, where, problem, hint=blank_after_colon(first))
        names: set[str] = set()
        entries: list[tuple[yaml.Node, str, yaml.Node]] = []
        for key, value in node.value:
            name = self.attempt(self._key, key, where, known, names)
            if name is not None:
                names.add(name)
                entries.append((key, name, value))
        return entries

    def _key(
        self, key: yaml.Node, where: str, known: Sequence[str] | None, before: Container[str]
    ) -> str:
        """Return the name of a key; refuse a duplicate and an unknown one."""
        if not isinstance(key, yaml.ScalarNode):
            self.fail(key, where, f"a key must be a name, not {as_written(key)}")
        name = str(key.value)
        if key.tag != "tag:yaml.org,2002:str":
            kind = key.tag.rpartition(":")[2]
            problem = f"key must be a string, not the {kind} {name}"
            self.fail(key, where, problem, hint=f"quote it: '{name}'")
        path = name if where == "description" else f"{where}.{name}"
        if hint := blank_after_colon(name):
            self.fail(key, where, "no blank after the colon", hint=hint)
        if known is not None and name not in known:
            self.unknown_key(key, path, name, known)
        if name in before:
            self.fail(key, path, "duplicate key", hint="delete one of them")
        return name

    def unknown_key(self, node: yaml.Node, where: str, name: str, known: Sequence[str]) -> NoReturn:
        """Refuse an unknown key; the hint names the closest known one."""
        self._meant |= {where.removesuffix(name) + meant for meant in closest(name.lower(), known)}
        self.fail(
            node,
            where,
            f"unknown key {shortened(name)!r}",
            hint=did_you_mean(name.lower(), known),
            expected=", ".join(known),
        )

    def text(self, node: yaml.Node, where: str) -> str:
        """Return the text of a node, which must be a scalar."""
        if not isinstance(node, yaml.ScalarNode) or is_null(node):
            self.fail(node, where, f"must be one word or text, not {as_written(node)}")
        return str(node.value)

    def choice(
        self, entries: Mapping[str, yaml.Node], key: str, allowed: Sequence[str], default: str
    ) -> str:
        """Return the value of a key in lower case; it must be one of the allowed values."""
        if key not in entries:
            return default
        value = self.text(entries[key], key)
        if value.lower() not in allowed:
            problem = f"unknown value {shortened(value)!r}"
            self.fail(entries[key], key, problem, expected=", ".join(allowed))
        return value.lower()

    def items(
        self, node: yaml.Node | None, where: str, problem_of: Callable[[str], str | None]
    ) -> Iterator[tuple[yaml.Node, str, str]]:
        """Yield node, field and text of each item of a list of texts; None is an empty list."""
        if node is None or is_null(node):
            return
        if not isinstance(node, yaml.SequenceNode):
            self.fail(
                node, where, f"must be a list, as `{EXAMPLES[where]}`, not {as_written(node)}"
            )
        for index, item in enumerate(node.value):
            place = f"{where}[{index}]"
            text = self.attempt(self._item, item, place, problem_of)
            if text is not None:
                yield item, place, text

    def _item(self, node: yaml.Node, where: str, problem_of: Callable[[str], str | None]) -> str:
        text = self.text(node, where)
        if problem := problem_of(text):
            self.fail(node, where, f"{shortened(text)!r} {problem}")
        return text

    def value(self, node: yaml.Node, where: str) -> Any:
        """Return the Python value of a node."""
        try:
            return yaml.SafeLoader("").construct_document(node)
        except (yaml.YAMLError, ValueError, OverflowError, LookupError, TypeError, AttributeError):
            self.fail(node, where, f"{as_written(node)} cannot be read as a value")


def _parts(node: yaml.Node, where: str) -> Iterator[tuple[yaml.Node, str]]:
    """Yield the items of a list, or the keys and values of a mapping, each with its field."""
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield item, f"{where}[{index}]"
        return
    for key, value in node.value:
        name = str(key.value)
        yield key, where
        yield value, name if where == "description" else f"{where}.{name}"


def node_at(root: yaml.Node, field: str) -> yaml.Node:
    """Return the value of a field such as `outputs.y.dtype`, or of its deepest existing part."""
    node = root
    for name in field.split("."):
        entries = node.value if isinstance(node, yaml.MappingNode) else ()
        node = next((value for key, value in entries if key.value == name), node)
    return node


def position(text: str, field: str) -> tuple[int, int]:
    """Return the line and the column of a field's value in a valid description, from 1."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    assert root is not None
    mark = node_at(root, field).start_mark
    return mark.line + 1, mark.column + 1


def is_key(node: yaml.Node) -> bool:
    """Whether a node is a string, as keys must be."""
    return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:str"


def is_null(node: yaml.Node) -> bool:
    """Whether a node is null, such as the value of a key with nothing behind it."""
    return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null"


def as_written(node: yaml.Node) -> str:
    """Return a short text of a value, as in the user's file, for messages."""
    if isinstance(node, yaml.ScalarNode):
        return repr(shortened(node.value)) if node.value else "nothing"
    return "a list" if isinstance(node, yaml.SequenceNode) else "`key: value` lines"
