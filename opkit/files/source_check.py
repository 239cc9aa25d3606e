"""Likely bugs in the user's math in C and reference in numpy, found by the names in their texts.

Names that op.yml does not have; params that the math does not read; `threads` in op.yml without a
loop that could use them, `fp16_math` without a function of halves.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Collection, Iterator
from pathlib import Path

from opkit.common.complaint import Complaint
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
_DECLARATION = re.compile(
    r"\b(\w+)\s*\*[\s*]*(?:(?:const|restrict)\s+)*(inputs|outputs|params)\b(?!\s*->)"
)
_MEMBER = re.compile(r"(?<![\w.>])(inputs|outputs|params)\s*->\s*(\w+)")


def without_comments(text: str, keeps_strings: bool = False) -> str:
    """Return C code with spaces in place of comments and, unless they are kept, of strings."""

    def spaces(part: re.Match[str]) -> str:
        return part[0] if keeps_strings and part[0][0] != "/" else re.sub(r"[^\n]", " ", part[0])

    return _NO_CODE.sub(spaces, text)


def _members(text: str, lower: str) -> Iterator[_Use]:
    """Yield the uses of members of the operator's structs in a C file.

    The file is read without a compiler: a name that may have another type, by anything that looks
    like a declaration, is skipped. `x * params->gain` is not one.
    """
    code = without_comments(text)
    types: dict[str, set[str]] = {}
    for declaration in _DECLARATION.finditer(code):
        types.setdefault(declaration[2], set()).add(declaration[1])
    for use in _MEMBER.finditer(code):
        if types.get(use[1]) == {f"{lower}_{use[1]}"}:
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


HALVES = "include/opkit/compute/fp16.h"
"""The header with functions of halves, in a repository."""


def missing_half_function(root: Path, spec: OpSpec) -> list[Complaint]:
    """Return a complaint if an elementwise operator with `fp16_math` has no function of halves."""
    texts = texts_of_math(root, spec)
    name = f"{spec.lower}_of_half"
    code = without_comments("\n".join(texts.values()))
    if not (spec.elementwise and spec.fp16_math and texts) or re.search(rf"\b{name}\b", code):
        return []
    arguments = "".join(f"opkit_fp16 {each.name}, " for each in spec.inputs)
    written = f"opkit_fp16 {name}({arguments}const struct {spec.lower}_params *params)"
    hint = f"add `OPKIT_FP16_INLINE {written}` inside `#if defined(OPKIT_FP16)`, see {HALVES}"
    return [Complaint(spec.math_file, f"`fp16_math` in op.yml needs {name}", hint=hint)]


LOOP = "opkit_parallel_for"
"""The function that runs a loop in several threads."""


def has_loop(root: Path, spec: OpSpec) -> bool:
    """Return whether the math in C, or a header of the user, calls a parallel loop."""
    return any(LOOP in without_comments(text) for text in texts_of_math(root, spec).values())


def idle_keys(root: Path, spec: OpSpec) -> list[Complaint]:
    """Return a note about `threads` and `fp16_math` in op.yml if the math does not use them.

    Generated math does. Math as generated for the user to write, or in a missing file, has no
    complaint.
    """
    file = spec.math_file
    texts = texts_of_math(root, spec)
    if spec.elementwise or PLACEHOLDER in texts.get(file, PLACEHOLDER):
        return []
    code = without_comments("\n".join(texts.values()))
    found = []
    if spec.has_threads and LOOP not in code:
        problem = f"`threads` in op.yml has no effect: the math does not call {LOOP}"
        hint = (
            "call it for the outermost loop (include/opkit/compute/parallel.h), or delete the key"
        )
        found.append(Complaint(file, problem, hint=hint, severity="note"))
    if spec.fp16_math and "OPKIT_FP16" not in code:
        problem = "`fp16_math` in op.yml has no effect: the math has no OPKIT_FP16"
        hint = f"compute in halves there ({HALVES}), or delete the key"
        found.append(Complaint(file, problem, hint=hint, severity="note"))
    return found
