"""The check that the user's reference can run in RKNN-Toolkit's Python, 3.5 to 3.8.

The toolkit gets the reference inside rknn_op_<op>.py, the only Python file of a package.
"""

from __future__ import annotations

import ast
import io
import symtable
import sys
import tokenize
from collections.abc import Iterator

from opkit.common.errors import OpkitError

REQUIRED = {
    "output_shapes": "def output_shapes(input_shapes, params): return {OUTPUT: SHAPE, ...}",
    "reference": "def reference(inputs, params): return {OUTPUT: ARRAY, ...}",
}

MODULES = {"numpy", "scipy", "tensorflow"}
"""The modules in RKNN-Toolkit's Python besides the standard library: its own requirements."""

NEWER = {
    # Name -> the version that introduced it, and a replacement.
    "contextvars": ("Python 3.7", "plain arguments"),
    "dataclasses": ("Python 3.7", "a tuple or a dict"),
    "functools.cache": ("Python 3.9", "functools.lru_cache(None)"),
    "functools.cached_property": ("Python 3.8", "property"),
    "graphlib": ("Python 3.9", "loops"),
    "itertools.batched": ("Python 3.12", "slices"),
    "itertools.pairwise": ("Python 3.10", "zip(items, items[1:])"),
    "math.cbrt": ("Python 3.11", "numpy.cbrt"),
    "math.comb": ("Python 3.8", "math.factorial"),
    "math.dist": ("Python 3.8", "numpy.linalg.norm"),
    "math.exp2": ("Python 3.11", "2.0 ** x"),
    "math.isqrt": ("Python 3.8", "int(math.sqrt(x))"),
    "math.lcm": ("Python 3.9", "a * b // math.gcd(a, b)"),
    "math.nextafter": ("Python 3.9", "numpy.nextafter"),
    "math.perm": ("Python 3.8", "math.factorial"),
    "math.prod": ("Python 3.8", "numpy.prod"),
    "math.remainder": ("Python 3.7", "numpy.remainder"),
    "math.tau": ("Python 3.6", "2 * math.pi"),
    "numpy.acos": ("numpy 2.0", "numpy.arccos"),
    "numpy.asin": ("numpy 2.0", "numpy.arcsin"),
    "numpy.astype": ("numpy 2.1", "array.astype"),
    "numpy.atan": ("numpy 2.0", "numpy.arctan"),
    "numpy.atan2": ("numpy 2.0", "numpy.arctan2"),
    "numpy.concat": ("numpy 2.0", "numpy.concatenate"),
    "numpy.lib.stride_tricks.sliding_window_view": (
        "numpy 1.20",
        "numpy.lib.stride_tricks.as_strided",
    ),
    "numpy.permute_dims": ("numpy 2.0", "numpy.transpose"),
    "numpy.pow": ("numpy 2.0", "numpy.power"),
    "numpy.random.default_rng": ("numpy 1.17", "numpy.random.RandomState"),
    "numpy.trapezoid": ("numpy 2.0", "numpy.trapz"),
    "tomllib": ("Python 3.11", "constants"),
    "zoneinfo": ("Python 3.9", "datetime"),
}

Finding = tuple[int, str, str]
"""Line, the feature that is too new, a replacement."""


def check_reference(source: str, file: str) -> None:
    """Check that a reference has its functions and uses nothing newer than Python 3.5.

    Library calls are checked as far as the table above goes.

    Args:
        source: the text of the reference.
        file: its name, for messages.

    Raises:
        OpkitError: the first error, with file, line and a replacement.
    """
    try:
        tree = ast.parse(source)
        compile(source, file, "exec", dont_inherit=True)  # finds more, `return` outside a function
        top = symtable.symtable(source, file, "exec")
    except SyntaxError as error:
        raise OpkitError(f"{file}:{error.lineno or 1}: not valid Python: {error.msg}") from None
    except ValueError as error:
        raise OpkitError(f"{file}:1: not valid Python: {error}") from None
    findings = [*_syntax(tree), *_tokens(source), *_names(tree)]
    if findings:
        line, problem, instead = min(findings)
        raise OpkitError(
            f"{file}:{line}: {problem}; RKNN-Toolkit runs this file in Python 3.5 to 3.8. "
            f"Instead, write {instead}"
        )
    try:
        ast.parse(source, feature_version=(3, 7))
    except SyntaxError as error:
        raise OpkitError(
            f"{file}:{error.lineno or 1}: {error.msg}; RKNN-Toolkit runs this file in Python 3.5 "
            "to 3.8. Write it without"
        ) from None
    for name, example in REQUIRED.items():
        symbol = top.lookup(name) if name in top.get_identifiers() else None
        if symbol is None or not (symbol.is_assigned() or symbol.is_imported()):
            raise OpkitError(f"{file}:1: the function '{name}' is missing; write `{example}`")


def _syntax(tree: ast.Module) -> Iterator[Finding]:
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 1)
        if isinstance(node, ast.JoinedStr):
            yield line, "f-strings came with Python 3.6", "'...{}...'.format(value)"
        elif isinstance(node, ast.AnnAssign):
            yield line, "annotated variables came with Python 3.6", "`name = value`"
        elif isinstance(node, ast.NamedExpr):
            yield line, "`:=` came with Python 3.8", "an assignment of its own"
        elif isinstance(node, ast.arguments) and node.posonlyargs:
            first = node.posonlyargs[0].lineno
            yield first, "`/` among arguments came with Python 3.8", "the arguments without it"
        elif isinstance(node, ast.Match):
            yield line, "`match` came with Python 3.10", "if and elif"
        elif isinstance(node, (ast.Return, ast.Expr)) and _is_bare_unpacking(node.value):
            yield line, "unpacking without parentheses came with Python 3.8", "them"
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            own = node.args
            arguments = [*own.args, own.vararg, *own.kwonlyargs, own.kwarg]
            annotations = [each.annotation for each in arguments if each is not None]
            for annotation in (*annotations, node.returns):
                if annotation is not None and _is_new_type(annotation):
                    problem = "types like `list[int]` and `int | None` came with Python 3.9"
                    yield annotation.lineno, problem, "it without the annotation"


def _is_bare_unpacking(value: ast.expr | None) -> bool:
    value = value.value if isinstance(value, ast.Yield) else value
    if not isinstance(value, ast.Tuple) or not value.elts:
        return False
    has_parentheses = (value.lineno, value.col_offset) < (
        value.elts[0].lineno,
        value.elts[0].col_offset,
    )
    return not has_parentheses and any(isinstance(item, ast.Starred) for item in value.elts)


def _is_new_type(annotation: ast.expr) -> bool:
    builtin = ("dict", "frozenset", "list", "set", "tuple", "type")
    return any(
        (isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr))
        or (
            isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Name)
            and node.value.id in builtin
        )
        for node in ast.walk(annotation)
    )


def _tokens(source: str) -> Iterator[Finding]:
    before = ["", ""]  # the two tokens before
    brackets: list[str] = []  # "(", "[", "{"; "with", "def", "def *" for "(" after these words
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        text = token.string
        if token.type == tokenize.NUMBER and "_" in text:
            yield token.start[0], f"{text} with `_` came with Python 3.6", text.replace("_", "")
        if text in ("(", "[", "{"):
            word = "def" if before[0] == "def" else before[1]
            brackets.append(word if word in ("def", "with") else text)
        elif text == "as" and brackets[-1:] == ["with"]:
            yield token.start[0], "`with (... as ...)` came with Python 3.9", "no parentheses"
        elif text in ("*", "**") and brackets[-1:] == ["def"] and before[1] in ("(", ","):
            brackets[-1] = "def *"
        elif text in (")", "]", "}") and brackets.pop() == "def *" and before[1] == ",":
            yield token.start[0], "a comma at the end after `*` came with Python 3.6", "no comma"
        if token.type not in (tokenize.NL, tokenize.COMMENT):
            before = [before[1], text]


def _names(tree: ast.Module) -> Iterator[Finding]:
    """Yield imports of unavailable modules, and names of newer versions of modules."""
    modules: dict[str, str] = {}  # the name of a module here -> its full name
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                modules[alias.asname or alias.name.split(".")[0]] = (
                    alias.name if alias.asname else alias.name.split(".")[0]
                )
                yield from _import(node.lineno, alias.name)
        elif isinstance(node, ast.ImportFrom):
            yield from _import(node.lineno, "." * node.level + (node.module or ""))
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                modules[alias.asname or alias.name] = full
                yield from _newer(node.lineno, full)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            base, *rest = ast.unparse(node).split(".")
            yield from _newer(node.lineno, ".".join([modules.get(base, ""), *rest]))
            if node.attr in ("removeprefix", "removesuffix"):
                yield node.lineno, f"`{node.attr}` came with Python 3.9", "a slice"


def _import(line: int, module: str) -> Iterator[Finding]:
    yield from _newer(line, module)
    if module.split(".")[0] not in MODULES | set(sys.stdlib_module_names):
        problem = f"'{module}' is not available: a package carries no Python file but this one"
        yield line, problem, "what you need of it here, with numpy"


def _newer(line: int, name: str) -> Iterator[Finding]:
    if name == "__future__.annotations":
        yield line, f"`{name}` came with Python 3.7", "the file without it"
    if name in NEWER:
        version, instead = NEWER[name]
        yield line, f"{name} came with {version}", instead
