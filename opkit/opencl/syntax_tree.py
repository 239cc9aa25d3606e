"""The declarations of a `.vx` source, from the syntax tree that clang writes as JSON.

The tree is that of the source with prelude/outline.h: kernels, uniforms and work group sizes have a
mark, which is an `annotate` attribute with numbers, and the type behind a `__local` has a tag.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum

from opkit.opencl.signatures import USER, KernelParameter, VxKernel
from opkit.opencl.source_text import origin
from opkit.toolchains.clang_ast import Node, top_level


class Mark(IntEnum):
    """The numbers of `enum __opkit_mark` in prelude/outline.h."""

    KERNEL = 1
    GROUP = 2
    UNIFORM = 3


_SCALARS = {"int": "int", "unsigned int": "uint", "float": "float", "bool": "bool", "_Bool": "bool"}
_BARRIERS = frozenset(("barrier", "wait_group_events"))
_LOCAL = re.compile(r'__attribute__\(\(btf_type_tag\("__local (\d+)"\)\)\)')
_QUALIFIER = re.compile(
    r"\b(?:const|volatile|restrict|__restrict|struct|__(?:private|generic|global|constant|local))\b"
)


@dataclass(frozen=True)
class Declarator:
    """One name of a declaration, by its offsets in the source's bytes.

    Attributes:
        begin: where the declaration begins, the same for all its names.
        name: where the name is.
        end: where what belongs to the name ends: before the next comma, or the semicolon.
    """

    begin: int
    name: int
    end: int


@dataclass(frozen=True)
class Declarations:
    """The declarations of a source.

    Attributes:
        kernels: by name, in the order of the source.
        local_variables: the numbers of the `__local` that stand before variables, not pointers.
        mixed: the declarations of both at once, which have to be split.
        problems: what is not emulated: sentences that begin with a line.
        warnings: what OpenCL C 1.2 forbids: sentences that begin with a line.
        foreign: kernels whose names are not the source's: macros of the prelude have replaced them.
    """

    kernels: dict[str, VxKernel]
    local_variables: tuple[int, ...] = ()
    mixed: tuple[tuple[Declarator, ...], ...] = ()
    problems: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass
class _Function:
    """The functions and variables that a function's body refers to."""

    node: Node
    functions: set[str] = field(default_factory=set)
    variables: set[str] = field(default_factory=set)


def declared_names(tree: str) -> list[str]:
    """Return the names of the declared functions, even of a tree with errors."""
    return [
        node["name"]
        for node in json.loads(tree)["inner"]
        if node["kind"] == "FunctionDecl" and not node.get("isImplicit")
    ]


def declarations(tree: str, source: str, prelude: str) -> Declarations:
    """Return the declarations of a source.

    Args:
        tree: what clang writes with -ast-dump=json for a source that has no error.
        source: the source, as clang prints it.
        prelude: the folder of the prelude, as clang prints it.
    """
    nodes = top_level(tree)
    functions = {
        node["name"]: _function(node)
        for node in nodes
        if node["kind"] == "FunctionDecl" and _body(node)
    }
    uniforms = {
        node["id"]: node["name"].removeprefix(USER)
        for node in nodes
        if node["kind"] == "VarDecl" and Mark.UNIFORM in _marks(node)
    }
    marked = {name: each for name, each in functions.items() if Mark.KERNEL in _marks(each.node)}
    locals_ = _Locals(source)
    for node in nodes:
        locals_.visit(node)
    return Declarations(
        {name.removeprefix(USER): _kernel(name, functions, uniforms) for name in marked},
        tuple(sorted(locals_.variables)),
        tuple(locals_.mixed()),
        (*locals_.problems, *_undefined(nodes, functions, source)),
        tuple(
            name
            for name, each in marked.items()
            if each.node["loc"].get("spellingLoc", {}).get("file", "").startswith(prelude)
        ),
        tuple(_forbidden(nodes, functions, source)),
    )


def _children(node: Node) -> list[Node]:
    return [child for child in node.get("inner", ()) if "kind" in child]


def _walk(node: Node) -> Iterator[Node]:
    pending = [node]
    while pending:
        node = pending.pop()
        yield node
        pending += _children(node)


def _body(node: Node) -> Node | None:
    return next((child for child in _children(node) if child["kind"] == "CompoundStmt"), None)


def _marks(node: Node) -> dict[int, list[int]]:
    """Return the marks of a declaration, and the numbers that each of them has."""
    marks: dict[int, list[int]] = {}
    for attribute in _children(node):
        if attribute["kind"] == "AnnotateAttr":
            numbers = [int(each["value"]) for each in _children(attribute) if "value" in each]
            if numbers:
                marks[numbers[0]] = numbers[1:]
    return marks


def _function(node: Node) -> _Function:
    function = _Function(node)
    for each in _walk(_body(node) or node):
        named = each.get("referencedDecl", {})
        if named.get("kind") == "FunctionDecl":
            function.functions.add(named["name"])
        elif named.get("kind") == "VarDecl":
            function.variables.add(named["id"])
    return function


def _kernel(name: str, functions: dict[str, _Function], uniforms: dict[str, str]) -> VxKernel:
    node = functions[name].node
    group = _marks(node).get(Mark.GROUP)
    reachable = _reachable_functions(name, functions)
    variables = set[str]().union(*(functions[each].variables for each in reachable))
    called = set[str]().union(*(functions[each].functions for each in reachable))
    used = dict.fromkeys(uniform for id_, uniform in uniforms.items() if id_ in variables)
    return VxKernel(
        node["name"].removeprefix(USER),
        tuple(_parameter(child) for child in _children(node) if child["kind"] == "ParmVarDecl"),
        (group[0], group[1], group[2]) if group else None,
        not _BARRIERS.isdisjoint(called - functions.keys()),
        tuple(used),
        _unqualified(node["type"]["qualType"].partition("(")[0]),
    )


def _reachable_functions(name: str, functions: dict[str, _Function]) -> set[str]:
    """Return a function and all that it calls, directly or not."""
    reachable, pending = set[str](), [name]
    while pending:
        name = pending.pop()
        if name not in reachable:
            reachable.add(name)
            pending += functions[name].functions & functions.keys()
    return reachable


# ---- What cannot run, or not everywhere ----------------------------------------------------------


def _undefined(nodes: list[Node], functions: dict[str, _Function], source: str) -> Iterator[str]:
    """Yield the functions that are called, but only declared."""
    called = set[str]().union(*(each.functions for each in functions.values()))
    for node in nodes:
        if (
            node["kind"] == "FunctionDecl"
            and not node.get("isImplicit")  # as clang's own functions are
            and node["name"] in called - functions.keys()
            and _file_location(node["loc"]).get("file") == source
        ):
            yield f"{_location(node)}: '{node['name']}' is declared, but defined nowhere"


def _forbidden(nodes: list[Node], functions: dict[str, _Function], source: str) -> Iterator[str]:
    """Yield warnings about code that clang's newer OpenCL C allows and OpenCL C 1.2 forbids."""
    for name, function in functions.items():
        if any(
            name in _reachable_functions(each, functions)
            for each in function.functions & functions.keys()
        ):
            yield _warning(function.node, f"'{name}' is recursive")
    for node in nodes:
        if _file_location(node.get("loc", {})).get("file") != source:
            continue
        if node["kind"] == "VarDecl" and _is_writable(node) and Mark.UNIFORM not in _marks(node):
            yield _warning(
                node, f"'{node['name']}' is a program-scope variable that is not constant"
            )
        for each in _walk(node):
            if (
                each is not node
                and each["kind"] == "VarDecl"
                and each.get("storageClass") == "static"
            ):
                yield _warning(each, f"'{each['name']}' is static in a function")
            elif each["kind"] == "BlockDecl":
                yield _warning(each, "a block")


def _warning(node: Node, what: str) -> str:
    return f"{_location(node)}: warning: {what}, which OpenCL C 1.2 forbids"


def _is_writable(node: Node) -> bool:
    type_ = str(node["type"]["qualType"])
    return "const" not in type_.rpartition("*")[2]


# ---- Types ---------------------------------------------------------------------------------------


def _parameter(node: Node) -> KernelParameter:
    spelled, canonical = _unqualified(node["type"]["qualType"]), _unqualified(_desugared(node))
    name = node.get("name", "")
    # As it is spelled, or desugared: a typedef may hide a tag.
    if _LOCAL.search(node["type"]["qualType"]) or _LOCAL.search(_desugared(node)):
        return KernelParameter("other", f"__local {spelled}", name)
    if "*" in canonical:
        return KernelParameter("pointer", spelled, name)
    if canonical == "__opkit_image":
        return KernelParameter("tensor", spelled.removeprefix("__opkit_"), name)
    if canonical.startswith("vx_array_"):
        return KernelParameter("array", spelled, name)
    if canonical in _SCALARS:
        return KernelParameter("scalar", _SCALARS[canonical], name)
    return KernelParameter("other", spelled, name)


def _unqualified(type_: str) -> str:
    return " ".join(_QUALIFIER.sub(" ", _LOCAL.sub(" ", type_)).split())


def _desugared(node: Node) -> str:
    type_ = node["type"]
    return str(type_.get("desugaredQualType", type_["qualType"]))


# ---- Local memory --------------------------------------------------------------------------------


class _Locals:
    """Finds each `__local` and whether it qualifies a variable or the target of a pointer."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.variables: set[int] = set()
        self.pointers: set[int] = set()
        self.problems: list[str] = []
        self._declarations: list[Node] = []

    def visit(self, top: Node) -> None:
        """Look at all declarations below a node, and at itself."""
        for node in _walk(top):
            if node["kind"] == "DeclStmt":
                self._declarations.append(node)
            if node["kind"] not in ("VarDecl", "FieldDecl", "TypedefDecl"):
                continue
            variables, pointers = _roles(node)
            self.pointers |= pointers
            what = _NOT_EMULATED.get(node["kind"])
            if what is None and variables and "*" in node["type"]["qualType"]:
                what = "a pointer itself"
            if what is None:
                self.variables |= variables
            elif variables:
                self.problems.append(
                    f"{_location(node)}: `__local` of {what}, '{node.get('name', '')}', is not "
                    "emulated; write it where a variable is declared"
                )

    def mixed(self) -> Iterator[tuple[Declarator, ...]]:
        """Yield the declarations with a `__local` before variables and pointers at once."""
        both = self.variables & self.pointers
        for statement in self._declarations:
            names = [node for node in _children(statement) if node["kind"] == "VarDecl"]
            numbers = (set[int]().union(*_roles(each)) for each in names)
            if len(names) > 1 and both.intersection(*numbers):
                if any(node["loc"].get("file") != self.source for node in names):
                    self.problems.append(
                        f"{_location(names[0])}: one declaration of variables in local memory and "
                        "of pointers to it is not emulated in a macro or header; write two"
                    )
                    continue
                # A name's own range leaves out a `__local` at the beginning.
                begin = _file_location(statement["range"]["begin"])["offset"]
                ends = [_file_location(node["range"]["end"]) for node in names]
                yield tuple(
                    Declarator(
                        begin, node["loc"]["offset"], int(end["offset"]) + int(end["tokLen"])
                    )
                    for node, end in zip(names, ends, strict=True)
                )


_NOT_EMULATED = {"TypedefDecl": "a typedef", "FieldDecl": "a member of a struct"}


def _roles(node: Node) -> tuple[set[int], set[int]]:
    """Return the numbers of the `__local` of a declaration: its own, and of what it points to."""
    own, pointee = set[int](), set[int]()
    type_ = str(node["type"]["qualType"])
    for tag in _LOCAL.finditer(type_):
        (pointee if "*" in type_[tag.end() :] else own).add(int(tag[1]))
    return own, pointee


def _file_location(location: Node) -> Node:
    expansion: Node = location.get("expansionLoc", location)
    return expansion


def _location(node: Node) -> str:
    location = _file_location(node["loc"])
    return f"{location['file']}:{location['line']}"


_DECLARATOR = re.compile(rb"[\s(]*(?:\*(?:\s|[(*]|(?:const|volatile|restrict)\b)*)?\Z")
_COMMA = re.compile(rb"/\*.*?\*/|//[^\n]*|,", re.DOTALL)


def split(source: bytes, mixed: tuple[tuple[Declarator, ...], ...]) -> bytes:
    """Return a source with declarations of one name each; every line and column stays.

    `__local int a[4], *p = a;` becomes `__local int a[4]; __local int *p = a;`.
    """
    for names in sorted(mixed, reverse=True):
        first = names[0]
        specifiers = _DECLARATOR.sub(b"", source[first.begin : first.name])
        for last, name in zip(names[-2::-1], names[:0:-1], strict=True):
            comma = next(
                last.end + found.start()
                for found in _COMMA.finditer(source[last.end : name.name])
                if found[0] == b","
            )
            line = origin(source, source.count(b"\n", 0, comma) + 1).line
            column = source[source.rfind(b"\n", 0, comma) + 1 : comma + 1]
            between = b";\n%s\n#line %d\n%s" % (specifiers, line, re.sub(rb"[^\t]", b" ", column))
            source = source[:comma] + between + source[comma + 1 :]
    return source
