"""Inputs, outputs and params in the user's math that op.yml does not have."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from opkit.complaint import Complaint
from opkit.description.spec import OpSpec

_HINT = "op.yml has no such name; delete it here, or add it there"


def unknown_names(root: Path, spec: OpSpec) -> list[Complaint]:
    """Return a complaint about each unknown name in the math; skip uses that are not certain.

    A file that is missing, or has syntax errors, has no complaints.
    """
    names = {
        "inputs": [each.name for each in spec.inputs],
        "outputs": [each.name for each in spec.outputs],
        "params": [each.name for each in spec.params],
    }
    found = []
    for file, read in (
        (spec.math_file, lambda text: _members(text, spec.lower)),
        (f"{spec.lower}_reference.py", _keys),
    ):
        if (root / file).is_file():
            text = (root / file).read_text(encoding="utf-8", errors="replace")
            for line, column, group, name in read(text):
                if name not in names[group]:
                    problem = f"{name!r} is not in the {group}"
                    expected = ", ".join(names[group]) or "none"
                    found.append(
                        Complaint(file, problem, line, column, hint=_HINT, expected=expected)
                    )
    return found


_Use = tuple[int, int, str, str]
"""Line, column, the group (`inputs`, `outputs` or `params`) and the name."""

_NO_CODE = re.compile(r"/\*.*?\*/|//[^\n]*|'(?:\\.|[^'\\\n])'|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
_MEMBER = re.compile(r"(?<![\w.>])(inputs|outputs|params)\s*->\s*(\w+)")


def without_comments(text: str) -> str:
    """Return C code with spaces in place of comments, strings and characters."""
    return _NO_CODE.sub(lambda part: re.sub(r"[^\n]", " ", part[0]), text)


def _members(text: str, lower: str) -> Iterator[_Use]:
    """Yield the uses of members of the operator's structs in a C file.

    The file is read without a compiler: a name that may have another type, by anything that looks
    like a declaration, is skipped. `x * params->gain` is not one.
    """
    code = without_comments(text)
    certain = [
        group
        for group in ("inputs", "outputs", "params")
        if {*re.findall(rf"(\w+)\s*\*[\s*]*(?:(?:const|restrict)\s+)*{group}\b(?!\s*->)", code)}
        == {f"{lower}_{group}"}
    ]
    for use in _MEMBER.finditer(code):
        if use[1] in certain:
            start = use.start(2)
            line = code.count("\n", 0, start) + 1
            yield line, start - code.rfind("\n", 0, start), use[1], use[2]


_FUNCTIONS = ("output_shapes", "reference")
"""The functions of a reference; their arguments are inputs and params."""


def _keys(text: str) -> Iterator[_Use]:
    """Yield the constant keys by which the functions of a reference index their arguments."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    for function in module.body:
        if isinstance(function, ast.FunctionDef) and function.name in _FUNCTIONS:
            arguments = [each.arg for each in function.args.args]
            groups = dict(zip(arguments, ("inputs", "params"), strict=False))
            body = [node for statement in function.body for node in ast.walk(statement)]
            for name in _changed(body):
                groups.pop(name, None)
            yield from _constant_keys(body, groups)


def _changed(body: Collection[ast.AST]) -> Iterator[str]:
    """Yield the names that are assigned, modified, or tested for a key."""
    for node in body:
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Compare):
            yield from (each.id for each in node.comparators if isinstance(each, ast.Name))
        elif isinstance(node, (ast.Name, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            target = node.value if isinstance(node, ast.Subscript) else node
            if isinstance(target, ast.Name):
                yield target.id


def _constant_keys(body: Collection[ast.AST], groups: Mapping[str, str]) -> Iterator[_Use]:
    for node in body:
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Name)
            and node.value.id in groups
            and isinstance(node.slice, ast.Constant)
            and isinstance(node.slice.value, str)
        ):
            column = node.slice.col_offset + 1
            yield node.slice.lineno, column, groups[node.value.id], node.slice.value
