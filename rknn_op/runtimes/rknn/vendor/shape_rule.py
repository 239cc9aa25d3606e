"""Translate the shape rule of a vendor's class to a reference, if only the notation differs."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

from opkit.errors import OpkitError
from opkit.runtimes.rknn.python_versions import check_reference

_LAYOUT = "nhwc"
_FUNCTIONS = {"abs", "enumerate", "float", "int", "len", "list", "max", "min", "range", "round"} | {
    *("sorted", "sum", "tuple", "zip", "ValueError")
}
"""The functions that a translated shape rule may call."""


def adapted(
    method: ast.FunctionDef, inputs: Sequence[str], outputs: Sequence[str]
) -> list[str] | None:
    """Return the lines of output_shapes(input_shapes, params), or None if translation fails.

    Args:
        method: compute_output_shape(self, inputs_shape, params) of the class.
        inputs: the names of the operator's inputs, in order.
        outputs: the names of its outputs.
    """
    try:
        return _adapted(method, inputs, outputs)
    except RecursionError:
        return None


def _adapted(
    method: ast.FunctionDef, inputs: Sequence[str], outputs: Sequence[str]
) -> list[str] | None:
    arguments = [argument.arg for argument in method.args.args]
    if len(arguments) != 3 or arguments[2] != "params":
        return None
    adapter = _Adapter(arguments[1], inputs, outputs)
    body = copy.deepcopy(method.body)[1 if ast.get_docstring(method) is not None else 0 :]
    tree = adapter.visit(ast.Module(body, []))
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
    lines = ast.unparse(ast.fix_missing_locations(tree)).splitlines()
    source = "\n    ".join(["def output_shapes(input_shapes, params):", *lines])
    try:
        check_reference(f"{source}\n\n\ndef reference(inputs, params):\n    return {{}}\n", "")
    except (OpkitError, SyntaxError, ValueError):
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
        name = _item(node, "format", self.shapes, self.inputs)
        if name is None or [_value(each) for each in node.args] != [_LAYOUT] or node.keywords:
            return node
        return _parsed(f"list(input_shapes[{name!r}])").value

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """Replace `results[0].set_shape(shape, 'nhwc')` by `results['output'] = tuple(shape)`."""
        self.generic_visit(node)
        call = node.value
        if not isinstance(call, ast.Call):
            return node
        name = _item(call, "set_shape", self.result, self.outputs)
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


def _item(call: ast.Call, method: str, variable: str, names: Sequence[str]) -> str | None:
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
