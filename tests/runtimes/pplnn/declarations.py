"""Read the declarations of a header and of its includes, by clang."""

from __future__ import annotations

import json
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opkit import toolchains
from opkit.toolchains.compiler import cxx_command
from tests.compiling import HOST

Node = dict[str, Any]

_CONTAINERS = {"NamespaceDecl", "CXXRecordDecl", "EnumDecl", "ClassTemplateDecl", "LinkageSpecDecl"}
_FUNCTIONS = {"FunctionDecl", "CXXMethodDecl", "CXXConstructorDecl"}
_TYPED = {*_FUNCTIONS, "FieldDecl", "VarDecl", "TypedefDecl", "TypeAliasDecl"}
_QUALIFIERS = re.compile(r"(?:::)?\b(?:\w+::)+")
_OWN_PATH = re.compile(r".*/(ppl/.+|onnx\.pb\.h)$")


@dataclass(frozen=True)
class Declaration:
    """A declaration of a name.

    Attributes:
        kind: clang's name of the kind, "base" (of a class) or "final".
        type: of a function or variable, without namespaces; for a constant its value.
        access: "public", "protected" or "".
        is_pure: whether it is a pure virtual function.
        file: its path in an #include.
    """

    kind: str
    type: str
    access: str
    is_pure: bool
    file: str


Declarations = dict[str, set[Declaration]]


def declarations(header: str, options: Sequence[str], folder: Path) -> Declarations:
    """Return qualified name -> declarations, for a source with one #include.

    Leaves out private declarations, instances of templates, destructors, and all declarations
    outside of the namespaces `ppl` and `onnx`.

    Args:
        header: as the source includes it.
        options: of the compiler.
        folder: of the written source.
    """
    source = folder / "source.cc"
    source.write_text(f'#include "{header}"\n')
    found: Declarations = defaultdict(set)
    for name in ("ppl", "onnx"):
        for node in _dump(source, [*options, "-Xclang", f"-ast-dump-filter={name}"]):
            if node["kind"] == "NamespaceDecl" and node.get("name") == name:
                _collect(node, (), "", found)
    return found


def _dump(source: Path, options: Sequence[str]) -> Iterator[Node]:
    compiler = toolchains.find("zig", HOST)
    flags = ["-std=c++11", "-w", "-fsyntax-only", "-Xclang", "-ast-dump=json"]
    command: list[str | Path] = [*cxx_command(compiler), *flags, *options, source]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    # zig expects an object file, which clang does not write with these flags.
    errors = [line for line in done.stderr.splitlines() if "error:" in line]
    assert all("failed to rename" in line for line in errors), done.stderr
    decoder, position, files = json.JSONDecoder(), 0, [""]
    while (position := done.stdout.find("{", position)) >= 0:
        node, position = decoder.raw_decode(done.stdout, position)
        _complete(node, files)
        yield node


def _complete(node: Any, files: list[str]) -> None:
    """Set the file of every node: clang omits it where it equals the previous node's."""
    for item in node if isinstance(node, list) else []:
        _complete(item, files)
    if isinstance(node, dict):
        if "offset" in node and "file" in node:
            files[0] = node["file"]
        for key, value in node.items():
            if key != "includedFrom":
                _complete(value, files)
            if key == "loc":
                node["loc"] = {"file": files[0]}


def _collect(node: Node, scope: tuple[str, ...], access: str, found: Declarations) -> None:
    """Add a namespace, a class or an enum, and its members."""
    inner: list[Node] = node.get("inner", [])
    if node["kind"] == "ClassTemplateDecl":
        inner = [child for child in inner if child["kind"] == "CXXRecordDecl"]
    if node["kind"] in ("CXXRecordDecl", "EnumDecl"):
        _add(node, scope, access, node.get("tagUsed", "enum"), found)
        for base in node.get("bases", []):
            _add({**node, "kind": "base"}, scope, access, base["type"]["qualType"], found)
        if any(child["kind"] == "FinalAttr" for child in inner):
            _add({**node, "kind": "final"}, scope, access, "", found)
    if node["kind"] in ("NamespaceDecl", "CXXRecordDecl"):
        scope += (node["name"],) if "name" in node else ()
    own = {"class": "private", "struct": "public"}.get(node.get("tagUsed", ""), access)
    value = -1
    for child in inner:
        kind = child["kind"]
        if kind == "AccessSpecDecl":
            own = child["access"]
        elif kind == "EnumConstantDecl":
            value = _value(child, value + 1)
            _add(child, scope, own, str(value), found)
        elif own == "private" or child.get("isImplicit"):
            continue
        elif kind == "FunctionTemplateDecl":
            pattern = next(each for each in child["inner"] if each["kind"] in _FUNCTIONS)
            _add(pattern, scope, own, pattern["type"]["qualType"], found)
        elif kind in _TYPED:
            _add(child, scope, own, child["type"]["qualType"], found)
        elif kind in _CONTAINERS:
            _collect(child, scope, own, found)


def _value(node: Node, default: int) -> int:
    """Return the value of a constant; without one, one more than the previous constant's."""
    for child in node.get("inner", []):
        if "value" in child:
            return int(child["value"])
        return _value(child, default)
    return default


def _add(node: Node, scope: tuple[str, ...], access: str, type_: str, found: Declarations) -> None:
    if "name" not in node:
        return
    match = _OWN_PATH.fullmatch(node["loc"]["file"])
    text = _QUALIFIERS.sub("", type_).replace("int64_t", "int64").replace("int64", "int64_t")
    declaration = Declaration(
        node["kind"], text, access, bool(node.get("pure")), match[1] if match else "elsewhere"
    )
    found["::".join([*scope, node["name"]])].add(declaration)
