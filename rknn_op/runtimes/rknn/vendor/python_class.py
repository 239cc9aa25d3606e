"""`rknn_op_<op>.py` of the vendor's tool: its class, read but never run, and its shape rule."""

from __future__ import annotations

import ast
import copy
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from opkit.common.errors import OpkitError
from opkit.runtimes.rknn.python_versions import check_reference
from rknn_op.runtimes.rknn.vendor.vendor_folder import VendorFile


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


# ---- The shape rule: translated to a reference if only the notation differs ----------------------

_LAYOUT = "nhwc"
_FUNCTIONS = {"abs", "enumerate", "float", "int", "len", "list", "max", "min", "range", "round"} | {
    *("sorted", "sum", "tuple", "zip", "ValueError")
}
"""The functions that a translated shape rule may call."""


def translated_shape_rule(
    method: ast.FunctionDef, inputs: Sequence[str], outputs: Sequence[str]
) -> list[str] | None:
    """Return the lines of output_shapes(input_shapes, params), or None if translation fails.

    Args:
        method: compute_output_shape(self, inputs_shape, params) of the class.
        inputs: the names of the operator's inputs, in order.
        outputs: the names of its outputs.
    """
    arguments = [argument.arg for argument in method.args.args]
    if len(arguments) != 3 or arguments[2] != "params":
        return None
    adapter = _Adapter(arguments[1], inputs, outputs)
    try:
        body = copy.deepcopy(method.body)[1 if ast.get_docstring(method) is not None else 0 :]
        tree = adapter.visit(ast.Module(body, []))
    except RecursionError:
        return None
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    known = bound | _FUNCTIONS | {"params", "input_shapes"}
    uses = [node.id for node in names].count(adapter.result)
    is_whole = (
        {node.id for node in names} <= known
        and uses == adapter.uses
        and adapter.given == {*outputs}
        and any(isinstance(node, ast.Return) for node in tree.body[-1:])
    )
    if not is_whole:
        return None
    try:
        lines = ast.unparse(ast.fix_missing_locations(tree)).splitlines()
        source = "\n    ".join(["def output_shapes(input_shapes, params):", *lines])
        check_reference(f"{source}\n\n\ndef reference(inputs, params):\n    return {{}}\n", "")
    except (OpkitError, SyntaxError, ValueError, RecursionError):
        return None
    return lines


class _Adapter(ast.NodeTransformer):
    """Translate operations on the toolkit's Shape to operations on names and tuples.

    Attributes:
        result: the variable that holds the shapes of the outputs.
        uses: the number of its uses that are understood.
        given: the outputs that get a shape.
    """

    def __init__(self, shapes: str, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        self.shapes = shapes
        self.inputs = inputs
        self.outputs = outputs
        self.result = ""
        self.uses = 0
        self.given: set[str] = set()

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """Replace `results = [Shape() ...]` by `results = {}`."""
        makes = any(isinstance(each, ast.Name) and each.id == "Shape" for each in ast.walk(node))
        target = node.targets[0]
        if makes and not self.result and isinstance(target, ast.Name) and len(node.targets) == 1:
            self.result = target.id
            self.uses += 1
            node.value = ast.Dict([], [])
            return node
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Replace `inputs_shape[0].format('nhwc')` by `list(input_shapes['input'])`."""
        self.generic_visit(node)
        name = _tensor_of_call(node, "format", self.shapes, self.inputs)
        if name is None or [_value(each) for each in node.args] != [_LAYOUT] or node.keywords:
            return node
        return _parsed(f"list(input_shapes[{name!r}])").value

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """Replace `results[0].set_shape(shape, 'nhwc')` by `results['output'] = tuple(shape)`."""
        self.generic_visit(node)
        call = node.value
        if not isinstance(call, ast.Call):
            return node
        name = _tensor_of_call(call, "set_shape", self.result, self.outputs)
        arguments = dict(zip(("shape", "fmt"), call.args, strict=False))
        arguments |= {each.arg: each.value for each in call.keywords if each.arg}
        if name is None or {*arguments} != {"shape", "fmt"} or _value(arguments["fmt"]) != _LAYOUT:
            return node
        self.uses += 1
        self.given.add(name)
        target = _parsed(f"{self.result}[{name!r}]").value
        assert isinstance(target, ast.Subscript)
        target.ctx = ast.Store()
        function = ast.Name("tuple", ast.Load())
        return ast.Assign([target], ast.Call(function, [arguments["shape"]], []))

    def visit_Return(self, node: ast.Return) -> ast.AST:
        """Count a return of the shapes."""
        self.uses += isinstance(node.value, ast.Name) and node.value.id == self.result
        return self.generic_visit(node)


def _tensor_of_call(call: ast.Call, method: str, variable: str, names: Sequence[str]) -> str | None:
    """Return the tensor's name of a call `variable[0].method(...)`, or None for other calls."""
    function = call.func
    if not isinstance(function, ast.Attribute) or function.attr != method:
        return None
    item = function.value
    if not isinstance(item, ast.Subscript) or not isinstance(item.value, ast.Name):
        return None
    index = _value(item.slice)
    if not isinstance(index, int) or not 0 <= index < len(names) or item.value.id != variable:
        return None
    return names[index]


def _value(node: ast.expr) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def _parsed(expression: str) -> ast.Expr:
    statement = ast.parse(expression).body[0]
    assert isinstance(statement, ast.Expr)
    return statement
