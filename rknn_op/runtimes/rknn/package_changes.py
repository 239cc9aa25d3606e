"""Compare two packages (.rknnop); describe the differences in words."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

from opkit.common.text import shortened
from opkit.description.reader import DescriptionError
from opkit.runtimes.rknn.rknnop import (
    LIBRARIES,
    Package,
    program_binary_kind,
    section_names,
    sections,
)
from opkit.toolchains import elf
from rknn_op.runtimes.rknn.package_contents import Value, fields

MAX_LINES = 2000
"""Limit of a text for a comparison of lines, whose time is quadratic."""

_PARAMETERS = {"inputs": "input", "outputs": "output", "params": "param"}


@dataclass(frozen=True)
class Change:
    """A difference between two packages.

    Attributes:
        section: the section of the package, or `package` for the container.
        text: the difference in words, or lines of a unified diff.
    """

    section: str
    text: str


def changes(old: Package, new: Package) -> list[Change]:
    """Return the differences in the order of the sections; empty for equal packages."""
    found = [Change("package", text) for text in _changed("version", old.version, new.version)]
    before, after = sections(old), sections(new)
    for name in section_names(max(LIBRARIES)):
        first, second = before.get(name), after.get(name)
        if first == second:
            texts = []
        elif first is None:
            texts = [f"added, {len(second or b'')} bytes"]
        elif second is None:
            texts = [f"removed, {len(first)} bytes"]
        else:
            size = f"size {len(first)} -> {len(second)} bytes"
            if len(first) == len(second):
                size = f"content differs, {len(second)} bytes as before"
            texts = [size, *_DETAILS.get(name, _library)(first, second)]
        found += [Change(name, text) for text in texts]
    return found


def _program_binary(old: bytes, new: bytes) -> Iterator[str]:
    yield from _changed("kind", program_binary_kind(old), program_binary_kind(new))


def _library(old: bytes, new: bytes) -> Iterator[str]:
    try:
        before, after = elf.read(old), elf.read(new)
    except elf.ElfError as error:
        yield f"cannot be compared: {error}"
        return
    yield from _changed("architecture", before.architecture, after.architecture)
    yield from _changed("glibc", elf.newest_glibc(before), elf.newest_glibc(after))
    yield from _names("exported symbol ", before.exports, after.exports)
    yield from _keyed("imported symbol ", _imports(before), _imports(after), _version)
    yield from _names("needed library ", before.needed, after.needed)
    yield from _names("run path ", before.run_paths, after.run_paths)
    for attribute in ("shared", "executable_stack", "text_relocations"):
        words = attribute.replace("_", " ")
        yield from _changed(words, getattr(before, attribute), getattr(after, attribute))


def _imports(library: elf.Library) -> dict[str, str]:
    """Return undefined symbol -> required version, or an empty text."""
    return {
        **dict.fromkeys(library.unversioned, ""),
        **{name: version for version, names in library.versions.items() for name in names},
    }


def _version(name: str, old: str, new: str) -> Iterator[str]:
    yield from _changed(name, old or "no version", new or "no version")


def _description(old: bytes, new: bytes) -> Iterator[str]:
    """Yield the differences of two op.yml: in words, or by lines if one cannot be read."""
    try:
        before, after = fields(old.decode()), fields(new.decode())
    except DescriptionError as error:
        yield f"cannot be compared by its keys: {error}"
        yield from _lines(old, new)
        return
    found = [*_keyed("", before, after, _key)]
    yield from found or ["the same keys and values in a different notation"]


def _key(name: str, old: Value, new: Value) -> Iterator[str]:
    if name in _PARAMETERS and isinstance(old, dict) and isinstance(new, dict):
        yield from _keyed(f"{_PARAMETERS[name]} ", old, new, _parameter)
        yield from _order(name, [*old], [*new])
    else:
        yield from _changed(name, old, new)


def _parameter(name: str, old: Value, new: Value) -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        yield from _keyed(f"{name}: ", old, new, _changed)
    else:
        yield from _changed(name, old, new)


def _order(name: str, old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Yield a change of order: a kernel identifies its parameters by position.

    Additions and removals at the end do not move other parameters.
    """
    if not (set(old) == set(new) or old[: len(new)] == new or new[: len(old)] == old):
        yield f"positions of {name} changed: {_flow_style([*old])} -> {_flow_style([*new])}"
    elif set(old) == set(new) and old != new:
        yield f"order of {name} changed: {_flow_style([*old])} -> {_flow_style([*new])}"


_V = TypeVar("_V")


def _keyed(
    prefix: str,
    old: Mapping[str, _V],
    new: Mapping[str, _V],
    compare: Callable[[str, _V, _V], Iterator[str]],
) -> Iterator[str]:
    """Yield the added and removed keys, and the differences of the other values."""
    for key in dict.fromkeys([*old, *new]):
        name = prefix + key
        if key not in new:
            yield f"{name} removed{_was(old[key])}"
        elif key not in old:
            yield f"{name} added{_was(new[key])}"
        else:
            for text in compare(key, old[key], new[key]):
                yield prefix + text


def _names(prefix: str, old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    yield from _keyed(prefix, dict.fromkeys(old, ""), dict.fromkeys(new, ""), _changed)


def _changed(name: str, old: object, new: object) -> Iterator[str]:
    if old != new:
        yield f"{name} {_flow_style(old)} -> {_flow_style(new)}"


def _was(value: object) -> str:
    return f": {_flow_style(value)}" if value not in ("", None) else ""


def _flow_style(value: object) -> str:
    """Return a value in YAML's flow style, on one line."""
    if isinstance(value, dict):
        text = "{" + ", ".join(f"{key}: {_flow_style(item)}" for key, item in value.items()) + "}"
    elif isinstance(value, list):
        text = "[" + ", ".join(map(_flow_style, value)) + "]"
    elif isinstance(value, bool):
        text = "yes" if value else "no"
    else:
        text = str(value) if value not in ("", None) else "nothing"
    return shortened(text, 200)


def _lines(old: bytes, new: bytes) -> Iterator[str]:
    """Yield the differences of two texts as a unified diff."""
    before, after = old.decode().splitlines(), new.decode().splitlines()
    if before == after:
        yield "the same lines with different line ends"
    elif max(len(before), len(after)) > MAX_LINES:
        yield f"{len(before)} -> {len(after)} lines; more than {MAX_LINES} are not compared"
    else:
        yield "\n".join(difflib.unified_diff(before, after, "old", "new", lineterm=""))


_DETAILS: Mapping[str, Callable[[bytes, bytes], Iterator[str]]] = MappingProxyType(
    {"program binary": _program_binary, "op.yml": _description, "Python file": _lines}
)
"""Section -> its comparison; all other sections are libraries."""
