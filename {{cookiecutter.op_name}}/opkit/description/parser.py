"""op.yml -> OpSpec: the operator description, parsed and checked.

What a runtime would refuse, or silently get wrong, is refused here, with the file and line. What
only one runtime wants to know, it reads itself.
"""

from __future__ import annotations

import difflib
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Protocol

import yaml

from opkit.description.build_keys import (
    RepositoryPath,
    flag_problem,
    path_problem,
    source_problem,
)
from opkit.description.limits import MAX_TEXT, Limits, lowest
from opkit.description.reader import (
    EXAMPLES,
    DescriptionError,
    Reader,
    is_null,
    shortened,
    shown,
)
from opkit.description.spec import TENSOR_DTYPES, OpSpec, Param, ParamValue, Tensor
from opkit.description.types import ONNX_WORDS, PARAM_TYPES, Kind, ParamType
from opkit.description.words import keyword_of, taken_by

FRAMEWORKS = ("tensorflow", "onnx")
"""Whose models an operator may be of."""

PC = "x64"
"""The target that every operator can be built for: this PC."""


class UnknownRuntimeError(DescriptionError):
    """A description names a runtime that is not there."""


class Rules(Protocol):
    """What a runtime says of a description."""

    @property
    def name(self) -> str:
        """What `runtimes` in a description calls it."""

    @property
    def frameworks(self) -> Sequence[str]:
        """Whose models it takes, the usual one first."""

    @property
    def targets(self) -> Mapping[str, Any]:
        """What can be built for it, by name."""

    @property
    def default_target(self) -> str:
        """The target of a description that names none; empty if there is none."""

    @property
    def keys(self) -> Sequence[str]:
        """The keys of a description that it reads itself."""

    @property
    def foreign_keys(self) -> Sequence[str]:
        """Keys that its vendor's tools write into a description; nobody reads them."""

    @property
    def limits(self) -> Limits:
        """How much it takes."""

    def name_refusal(self, name: str) -> str:
        """Return why an operator cannot have this name; empty if it can."""

    @property
    def title(self) -> str:
        """Its name for people."""

    @property
    def tensor_types(self) -> Mapping[str, str]:
        """The dtypes of tensors that it takes -> what a kernel gets for them."""

    @property
    def refused_targets(self) -> Mapping[str, str]:
        """What users may take for its targets -> why it is none."""

    def type_refusal(self, type_name: str) -> str:
        """Return why a param cannot have the type of this name; empty if it can."""

    def settings(self, reader: Reader, entries: Mapping[str, yaml.Node]) -> Any:
        """Return what its keys say, of the description's entries."""


def parse(text: str, file: str, runtimes: Mapping[str, Rules], default: str) -> OpSpec:
    """Read an operator description.

    Args:
        text: the YAML.
        file: the name by which messages call it.
        runtimes: those that there are, by name.
        default: the runtime of a description that names none.

    Raises:
        UnknownRuntimeError: it names a runtime that is not there.
        DescriptionError: the first thing that is wrong, with file, line and field.
    """
    return _OperatorReader(file, runtimes, default).operator(text)


_COMMON_KEYS = (
    *("name", "framework", "target_platform", "runtimes"),
    *("inputs", "outputs", "params", "sources", "include", "cflags"),
)
_TENSOR_KEYS = ("type", "doc", "dtype", "same_as")
_PARAM_KEYS = ("type", "doc", "default", "source", "length")

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_NO_PARAM_TYPES: dict[str, str] = {
    "VX_TYPE_TENSOR": "a tensor is an input or an output, not a param",
    "VX_TYPE_SCALAR": "name the scalar's own type, for instance VX_TYPE_INT32",
}

_LARGEST = {"float32": 3.4028234663852886e38, "float64": sys.float_info.max}


class _OperatorReader(Reader):
    """Reads a description key by key."""

    def __init__(self, file: str, runtimes: Mapping[str, Rules], default: str) -> None:
        super().__init__(file)
        self.runtimes = runtimes
        self.default_runtime = default
        self.chosen: list[Rules] = []
        self.called = ""  # the operator, once its name is read

    def operator(self, text: str) -> OpSpec:
        root = self.root(text)
        entries = self.mapping(root, "description", None)
        self.chosen = [self.runtimes[name] for name in self.names(entries.get("runtimes"))]
        self.refuse_unknown_keys(root)
        for key in ("name", "inputs", "outputs"):
            if key not in entries:
                self.fail(root, key, f"is missing; write `{EXAMPLES[key]}`")
        seen: dict[str, str] = {}
        return OpSpec(
            name=self.operator_name(entries["name"]),
            framework=self.framework(entries),
            target_platform=self.target(entries),
            settings={rules.name: rules.settings(self, entries) for rules in self.chosen},
            inputs=tuple(self.tensors(entries["inputs"], "inputs", seen)),
            outputs=tuple(self.outputs(entries, seen)),
            params=tuple(self.params(entries.get("params"), seen)),
            runtimes=tuple(rules.name for rules in self.chosen),
            sources=tuple(self.paths(entries.get("sources"), "sources", source_problem)),
            include=tuple(self.paths(entries.get("include"), "include", path_problem)),
            cflags=tuple(
                text for _, _, text in self.items(entries.get("cflags"), "cflags", flag_problem)
            ),
        )

    def names(self, node: yaml.Node | None) -> list[str]:
        """Return the names of the runtimes, in the order of the description."""
        known = ", ".join(self.runtimes)
        names: list[str] = []
        named = self.items(node, "runtimes", lambda name: None)
        for item, where, name in named if node else [(None, "runtimes", self.default_runtime)]:
            if name not in self.runtimes:
                problem = f"unknown runtime {shortened(name)!r} (expected {known})"
                raise UnknownRuntimeError(self.message(item, where, problem))
            if name in names:
                self.fail(item, where, f"duplicate runtime '{name}'; delete one of them")
            names.append(name)
        if not names:
            self.fail(node, "runtimes", f"is empty (expected {known})")
        return names

    def refuse_unknown_keys(self, root: yaml.Node) -> None:
        known = [*_COMMON_KEYS, *(key for rules in self.chosen for key in rules.keys)]
        foreign = {key for rules in self.chosen for key in rules.foreign_keys}
        owners = {key: rules.name for rules in self.runtimes.values() for key in rules.keys}
        for key, _ in root.value:
            name = key.value
            if name in known or name in foreign:
                continue
            if name in owners:
                self.fail(
                    key,
                    name,
                    f"is a key of the runtime {owners[name]}, which `runtimes` does not name; "
                    "add it there, or delete the key",
                )
            self.unknown_key(key, name, name, known)

    def framework(self, entries: Mapping[str, yaml.Node]) -> str:
        allowed = [
            framework
            for framework in self.chosen[0].frameworks
            if all(framework in rules.frameworks for rules in self.chosen)
        ]
        if not allowed:
            both = "; ".join(
                f"{rules.name}: {', '.join(rules.frameworks)}" for rules in self.chosen
            )
            self.fail(entries["runtimes"], "runtimes", f"have no framework in common ({both})")
        return self.choice(entries, "framework", allowed, allowed[0])

    def target(self, entries: Mapping[str, yaml.Node]) -> str:
        targets = [target for rules in self.chosen for target in rules.targets] or [PC]
        default = next((r.default_target for r in self.chosen if r.default_target), targets[0])
        if "target_platform" in entries:
            named = self.text(entries["target_platform"], "target_platform").lower()
            reasons = (rules.refused_targets.get(named) for rules in self.chosen)
            if named not in targets and (reason := next(filter(None, reasons), "")):
                self.fail(entries["target_platform"], "target_platform", reason)
        return self.choice(entries, "target_platform", targets, default)

    def limit(self, what: str) -> tuple[int, str]:
        """Return the lowest limit of the chosen runtimes, and the device that has it."""
        return lowest((rules.limits for rules in self.chosen), what)

    def name(self, node: yaml.Node, where: str, name: str) -> str:
        if not _IDENTIFIER.fullmatch(name):
            self.fail(
                node,
                where,
                f"{shortened(name)!r} is not a C identifier; allowed are letters (a to z), digits "
                "and _, beginning with a letter",
            )
        limit, device = self.limit("name_length")
        if len(name) > limit:
            self.fail(node, where, f"has {len(name)} characters; {device} allows {limit}")
        if taken := taken_by(name, self.called):
            self.fail(node, where, f"{shortened(name)!r} is {taken}; choose another name")
        return name

    def operator_name(self, node: yaml.Node) -> str:
        name = self.text(node, "name")
        for rules in self.chosen:
            if problem := rules.name_refusal(name):
                self.fail(node, "name", f"{shortened(name)!r} {problem}")
        self.name(node, "name", name)
        language = keyword_of(name.lower())
        if language in ("C", "C++", "OpenCL"):
            self.fail(
                node,
                "name",
                f"{shortened(name)!r} gives the kernel the name '{name.lower()}', a reserved word "
                f"of {language}; choose another name",
            )
        if name.lower() == "opkit" or name.lower().startswith("opkit_"):
            self.fail(
                node,
                "name",
                f"{shortened(name)!r} is taken by the generated code; choose another name",
            )
        self.called = name
        return name

    def entries(
        self, node: yaml.Node, where: str, keys: Sequence[str], seen: dict[str, str]
    ) -> Iterator[tuple[str, yaml.Node, dict[str, yaml.Node]]]:
        """Yield name, node and keys of each input, output or param; names are unique in all."""
        members = self.mapping(node, where, None)
        for (key, value), name in zip(node.value, members, strict=True):
            path = f"{where}.{name}"
            self.name(key, path, name)
            before = seen.get(name.lower())
            if before is not None:
                how = "is there already" if before.endswith(f".{name}") else "differs only in case"
                self.fail(key, path, f"{how}: {before}; choose another name")
            seen[name.lower()] = path
            limit, device = self.limit("parameters")
            if len(seen) > limit:
                self.fail(key, path, f"{device} takes {limit} parameters at most")
            details = self.mapping(value, path, keys)
            if "type" not in details:
                self.fail(key, f"{path}.type", f"is missing; write `{name}: {{type: VX_TYPE_...}}`")
            yield name, value, details

    def tensors(self, node: yaml.Node, where: str, seen: dict[str, str]) -> Iterator[Tensor]:
        if is_null(node) or (isinstance(node, yaml.MappingNode) and not node.value):
            self.fail(node, where, f"is empty; write `{EXAMPLES[where]}`")
        for name, _, details in self.entries(node, where, _TENSOR_KEYS, seen):
            type_ = self.text(details["type"], f"{where}.{name}.type")
            if type_.upper() != "VX_TYPE_TENSOR":
                self.fail(
                    details["type"],
                    f"{where}.{name}.type",
                    f"invalid {shortened(type_)!r} (expected VX_TYPE_TENSOR)",
                )
            dtype = self.dtype(details.get("dtype"), where, f"{where}.{name}.dtype")
            same_as = details.get("same_as")
            if same_as is not None and where != "outputs":
                self.fail(same_as, f"{where}.{name}.same_as", "only an output has it")
            shape_of = self.text(same_as, f"{where}.{name}.same_as") if same_as else None
            yield Tensor(name, self.doc(details, f"{where}.{name}"), dtype, shape_of)

    def outputs(self, entries: Mapping[str, yaml.Node], seen: dict[str, str]) -> Iterator[Tensor]:
        """Yield the outputs, which may have the shapes of inputs."""
        inputs = list(self.mapping(entries["inputs"], "inputs", None))
        for output in self.tensors(entries["outputs"], "outputs", seen):
            if output.same_as is not None and output.same_as not in inputs:
                where = f"outputs.{output.name}"
                node = self.mapping(entries["outputs"], "outputs", None)[output.name]
                self.fail(
                    self.mapping(node, where, None)["same_as"],
                    f"{where}.same_as",
                    f"unknown input {shortened(output.same_as)!r} (expected {', '.join(inputs)})",
                )
            yield output

    def dtype(self, node: yaml.Node | None, group: str, where: str) -> str | None:
        if node is None:
            return None
        if group != "outputs":
            problem = (
                "only an output has a dtype; an input has what the model and the cases give it"
            )
            self.fail(node, where, problem)
        dtype = self.text(node, where)
        taken = [
            each
            for each in TENSOR_DTYPES
            if all(each in rules.tensor_types for rules in self.chosen)
        ]
        if dtype not in taken:
            refusals = [r.title for r in self.chosen if dtype not in r.tensor_types]
            reason = f": {refusals[0]} has no such tensors" if dtype in TENSOR_DTYPES else ""
            self.fail(
                node, where, f"invalid {shortened(dtype)!r}{reason} (expected {', '.join(taken)})"
            )
        return dtype

    def params(self, node: yaml.Node | None, seen: dict[str, str]) -> Iterator[Param]:
        if node is None or is_null(node):
            return
        for name, _, details in self.entries(node, "params", _PARAM_KEYS, seen):
            where = f"params.{name}"
            type_ = self.param_type(details["type"], f"{where}.type")
            length = self.length(details.get("length"), f"{where}.length", type_)
            yield Param(
                name,
                type_,
                self.doc(details, where),
                self.default(details.get("default"), f"{where}.default", type_, length),
                self.source(details.get("source"), f"{where}.source"),
                length,
            )

    def paths(
        self, node: yaml.Node | None, where: str, problem_of: Callable[[str], str | None]
    ) -> Iterator[RepositoryPath]:
        seen: set[str] = set()
        for item, place, text in self.items(node, where, problem_of):
            path = str(PurePosixPath(text))
            if path in seen:
                self.fail(item, place, f"duplicate {shortened(text)!r}; delete one of them")
            seen.add(path)
            yield RepositoryPath(path, f"{self.file}:{item.start_mark.line + 1}: {place}")

    def param_type(self, node: yaml.Node, where: str) -> ParamType:
        text = self.text(node, where)
        name = ONNX_WORDS.get(text.upper(), text.upper())
        allowed = [known for known in PARAM_TYPES if not self.type_refusal(known)]
        if name not in allowed:
            reason = self.type_refusal(name) or _NO_PARAM_TYPES.get(name)
            nearest = difflib.get_close_matches(name, allowed, 1)
            if reason is None and nearest:
                reason = f"did you mean {nearest[0]}?"
            because = f": {reason}" if reason else ""
            self.fail(
                node, where, f"invalid {shortened(text)!r}{because} (expected {', '.join(allowed)})"
            )
        return PARAM_TYPES[name]

    def type_refusal(self, name: str) -> str:
        """Return why a runtime does not take the param type of this name; empty if all do."""
        refusals = (rules.type_refusal(name) for rules in self.chosen)
        return next(filter(None, refusals), "")

    def doc(self, details: dict[str, yaml.Node], where: str) -> str:
        if "doc" not in details:
            return ""
        doc = " ".join(self.text(details["doc"], f"{where}.doc").split())
        if not doc.isprintable():
            self.fail(details["doc"], f"{where}.doc", "holds a character that cannot be printed")
        return doc

    def source(self, node: yaml.Node | None, where: str) -> str | None:
        if node is None:
            return None
        source = self.text(node, where)
        if not re.fullmatch(r"const:\S+", source) or not source.isprintable():
            self.fail(
                node, where, f"invalid {shortened(source)!r} (expected const:<name of the input>)"
            )
        return source

    def length(self, node: yaml.Node | None, where: str, type_: ParamType) -> int | None:
        if node is None:
            return None
        if not type_.is_list:
            lists = [row.name for row in PARAM_TYPES.values() if row.is_list]
            taken = " or ".join(name for name in lists if not self.type_refusal(name))
            self.fail(node, where, f"only a {taken} has a length, not a {type_.name}")
        length = self.value(node, where)
        limit, _ = self.limit("items")
        if type(length) is not int or not 1 <= length <= limit:
            self.fail(node, where, f"invalid {shown(node)} (expected 1 to {limit})")
        return length

    def default(
        self, node: yaml.Node | None, where: str, type_: ParamType, length: int | None
    ) -> ParamValue | None:
        if node is None or is_null(node):
            return None
        if type_.is_text:
            return self.characters(node, where)
        value = self.value(node, where)
        read, expected = _NUMBERS[type_.element.kind]
        if not type_.is_list:
            return read(self, node, where, type_, value)
        if not isinstance(node, yaml.SequenceNode):
            self.fail(node, where, f"must be a list of {expected}, not {shown(node)}")
        limit, device = self.limit("items")
        if not 1 <= len(node.value) <= limit:
            self.fail(node, where, f"has {len(node.value)} items; {device} takes 1 to {limit}")
        if length is not None and len(node.value) != length:
            self.fail(node, where, f"has {len(node.value)} items, but length is {length}")
        return tuple(
            read(self, item, f"{where}[{index}]", type_, value[index])
            for index, item in enumerate(node.value)
        )

    def characters(self, node: yaml.Node, where: str) -> str:
        text = self.value(node, where)
        if not isinstance(text, str):
            self.fail(node, where, f"must be a text, not {shown(node)}; put it between quotes")
        if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
            self.fail(node, where, "holds a character that no C string can have")
        if len(text.encode()) > MAX_TEXT:
            self.fail(node, where, f"has {len(text.encode())} bytes (expected {MAX_TEXT} at most)")
        return text

    def truth(self, node: yaml.Node, where: str, type_: ParamType, value: Any) -> bool:
        if type(value) is not bool:
            self.fail(node, where, f"must be true or false, not {shown(node)}")
        return value

    def real(self, node: yaml.Node, where: str, type_: ParamType, value: Any) -> float:
        if isinstance(value, str) and _is_number(value):
            number = yaml.safe_dump(float(value)).split()[0]
            self.fail(node, where, f"YAML reads {value} as text; write {number}")
        if type(value) not in (int, float):
            self.fail(node, where, f"must be a number, not {shown(node)}")
        if not abs(value) <= _LARGEST[type_.element.name]:
            self.fail(node, where, f"{shown(node)} is out of range for {type_.name}")
        return float(value)

    def whole(self, node: yaml.Node, where: str, type_: ParamType, value: Any) -> int:
        limits = type_.element.limits
        assert limits is not None
        low, high = limits
        if type(value) is not int or not low <= value <= high:
            self.fail(
                node, where, f"must be a whole number from {low} to {high}, not {shown(node)}"
            )
        return value


_ReadNumber = Callable[[_OperatorReader, yaml.Node, str, ParamType, Any], bool | int | float]

_NUMBERS: dict[Kind, tuple[_ReadNumber, str]] = {
    "bool": (_OperatorReader.truth, "true or false"),
    "int": (_OperatorReader.whole, "whole numbers"),
    "uint": (_OperatorReader.whole, "whole numbers"),
    "float": (_OperatorReader.real, "numbers"),
}
"""Kind of number -> what reads one, and what a list of them is called."""


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
