"""`rknn_op_<op>.py` of the vendor's tool: the operator's converter class, read but never run."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

from rknn_op.runtimes.rknn.vendor.files import VendorFile


@dataclass(frozen=True)
class Source:
    """The source of a param's value in the class.

    Attributes:
        where: file:line.
        constants: the names of constants in the expression, such as `C` of `C:out0`.
        attributes: the node's attributes in the expression.
    """

    where: str
    constants: tuple[str, ...]
    attributes: tuple[str, ...]


@dataclass(frozen=True)
class Converter:
    """The readable parts of the class.

    Attributes:
        where: file:line of the class.
        operator: its `op`, if it is a text.
        ports: `def_input` and `def_output` -> number of ports, if it can be read.
        functions: the methods, by name.
        methods: name -> its lines.
        sources: param -> source of its value.
    """

    where: str
    operator: str | None = None
    ports: dict[str, int] = field(default_factory=dict)
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    methods: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)


def read_converter(file: VendorFile) -> Converter | str:
    """Return the class in a file, or an error message."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as those of escapes in strings
            tree = ast.parse(file.text)
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and "compute_output_tensor" in _functions(node):
                return _converter(file, node)
    except SyntaxError as error:
        return f"{file.label}:{error.lineno or 1}: is not Python 3: {error.msg}"
    except (RecursionError, MemoryError, ValueError, OverflowError):
        return f"{file.label}:1: cannot be read as Python"
    return f"{file.label}:1: has no class with a method compute_output_tensor"


def _functions(node: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    return {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}


def _converter(file: VendorFile, node: ast.ClassDef) -> Converter:
    assigned = {
        target.id: each.value
        for each in node.body
        if isinstance(each, ast.Assign)
        for target in each.targets
        if isinstance(target, ast.Name)
    }
    functions = _functions(node)
    loader = functions.get("load_params_from_tf")
    operator = assigned.get("op")
    ports = ((name, assigned.get(name)) for name in ("def_input", "def_output"))
    return Converter(
        where=f"{file.label}:{node.lineno}",
        operator=_text(operator) if operator is not None else None,
        ports={name: len(list_.elts) for name, list_ in ports if isinstance(list_, ast.List)},
        functions=functions,
        methods={name: _lines(file, function) for name, function in functions.items()},
        sources=dict(_sources(file, loader)) if loader else {},
    )


def _lines(file: VendorFile, function: ast.FunctionDef) -> tuple[str, ...]:
    """Return the lines of a method, without decorators and indent."""
    # str.splitlines() also splits at characters that do not end a line of Python.
    lines = file.text.split("\n")[function.lineno - 1 : function.end_lineno]
    indent = " \t" if function.col_offset == 0 else lines[0][: function.col_offset]
    return tuple(line.removeprefix(indent).rstrip() for line in lines)


def _sources(file: VendorFile, loader: ast.FunctionDef) -> Iterator[tuple[str, Source]]:
    """Yield each param that load_params_from_tf sets by its name, and the source of the value."""
    for node in ast.walk(loader):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Subscript) and (name := _text(target.slice)):
                    yield name, _source(file, node.value)
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if key is not None and (name := _text(key)):
                    yield name, _source(file, value)


def _source(file: VendorFile, value: ast.expr) -> Source:
    constants, attributes = [], []
    for node in ast.walk(value):
        if isinstance(node, ast.Subscript) and (name := _text(node.slice)):
            if isinstance(node.value, ast.Name) and node.value.id == "tensor_data_map":
                constants.append(name.split(":")[0])
            elif isinstance(node.value, ast.Attribute) and node.value.attr == "attr":
                attributes.append(name)
    return Source(f"{file.label}:{value.lineno}", tuple(constants), tuple(attributes))


def _text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
