"""Params in op.yml that the math in C does not read."""

from __future__ import annotations

import ast
import posixpath
import re
from pathlib import Path

from opkit.complaint import Complaint
from opkit.description.spec import OpSpec
from opkit.files.unknown_names import without_comments

PLACEHOLDER = "Write the real math here."
"""The first sentence of the comment in the generated math, which the user replaces."""

_FOLDERS_OF_OPKIT = ("generated/", "include/")
_INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">\n]+)[">]', re.MULTILINE)
_MACRO = re.compile(r"#\s*define\s+\w+\(([^)]*)\)((?:\\\n|[^\n])*)")
_TENSOR = Path(__file__).parents[1] / "compute/tensor.h"


def unread_params(root: Path, spec: OpSpec) -> list[Complaint]:
    """Return a complaint about each param without use in the math; skip uncertain cases.

    A param that the shape rule in numpy uses may have no use in C. Math as generated, or in a
    missing file, has no complaints.
    """
    file = spec.math_file
    texts = texts_of_math(root, spec)
    if PLACEHOLDER in texts.get(file, PLACEHOLDER):
        return []
    code = without_comments("\n".join(texts.values()))
    of_shapes = _shape_params(root / f"{spec.lower}_reference.py")
    found = []
    for name in (param.name for param in spec.params):
        if name not in of_shapes and not _is_read(name, code, spec.lower):
            member = f"params->{name}"
            hint = f"read {member}, or write (void){member}; if the math does not need it"
            found.append(Complaint(file, f"param '{name}' is not read", hint=hint))
    return found


def texts_of_math(root: Path, spec: OpSpec) -> dict[str, str]:
    """Return path -> text of the math in C, and of the user's headers that it includes."""
    files = [spec.math_file, *(source.path for source in spec.sources)]
    texts: dict[str, str] = {}
    while files:
        file = files.pop()
        is_own = not file.startswith(("../", *_FOLDERS_OF_OPKIT))
        if is_own and file not in texts and (root / file).is_file():
            texts[file] = (root / file).read_text(encoding="utf-8", errors="replace")
            folders = ["", posixpath.dirname(file), *(folder.path for folder in spec.include)]
            files += [
                posixpath.normpath(posixpath.join(folder, name))
                for name in _INCLUDE.findall(texts[file])
                for folder in folders
            ]
    return texts


def _is_read(name: str, code: str, lower: str) -> bool:
    """Return whether C code without comments reads a member of the params, or may read it."""
    declared = re.findall(rf"\b{lower}_params\b(?:[\s*&]|\bconst\b|\brestrict\b)*(\w+)", code)
    params = "|".join({"params", *declared})
    if re.search(rf"\b({params})\b\s*(\)\s*)*(->|\.)\s*{name}\b", code):
        return True
    # Another object may be a copy of the params, but a member of tensors is that of a tensor.
    if re.search(rf"(->|\.)\s*{name}\b", code) and name not in _tensor_members():
        return True
    return any(_selects_members(*macro) for macro in _MACRO.findall(code)) and (
        "##" in code or re.search(rf"\b{name}\b", code) is not None
    )


def _selects_members(parameters: str, body: str) -> bool:
    """Return whether a macro has a parameter that is a member, or a part of its name."""
    names = "|".join(re.findall(r"\w+", parameters))
    return (
        bool(names) and re.search(rf"(->|\.|##)\s*({names})\b|\b({names})\s*##", body) is not None
    )


def _tensor_members() -> set[str]:
    """Return the names of members of opkit's structs."""
    text = without_comments(_TENSOR.read_text(encoding="utf-8"))
    return {*re.findall(r"(\w+)(?:\[\w+\])?;", text)}


def _shape_params(reference: Path) -> set[str]:
    """Return the texts in output_shapes, and in the functions of the file that it may call."""
    try:
        module = ast.parse(reference.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return set()
    functions = {node.name: node for node in module.body if isinstance(node, ast.FunctionDef)}
    called, pending = set[str](), ["output_shapes"]
    found: set[str] = set()
    while pending:
        name = pending.pop()
        if name in functions and name not in called:
            called.add(name)
            nodes = [*ast.walk(functions[name])]
            found |= {str(node.value) for node in nodes if isinstance(node, ast.Constant)}
            pending += [node.id for node in nodes if isinstance(node, ast.Name)]
    return found
