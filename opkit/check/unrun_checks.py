"""Checks in a test file that never run: in hidden tests, and in generators without iteration."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_ITERATORS = ("map", "filter")


def unrun_checks(source: bytes, names: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Return the line and the problem of each test or call without effect.

    Args:
        source: the text of the test file.
        names: the global names of the imported file.
    """
    nodes = [*ast.walk(ast.parse(source))]
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    tests = [each for each in functions if each.name.startswith("test") and not _is_fixture(each)]
    generators = {
        each.name for each in functions if _is_generator(each) and not each.decorator_list
    }
    generators -= {each.name for each in functions if not _is_generator(each)}
    found = [*_hidden_tests(nodes)]
    for test in filter(_is_generator, tests):
        problem = f"{test.name} is a generator, so no check in it runs; replace yield by a call"
        found.append((test.lineno, problem))
    for value in _unused_values(nodes, tests):
        if _is_lazy(value, generators, names):
            call = ast.unparse(value)
            problem = f"the result of {call} is not used, so no check in it runs; iterate over it"
            found.append((value.lineno, problem))
    return sorted(found)


def _hidden_tests(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """Yield each test with the name of an earlier one in the same module or class."""
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef):
            lines: dict[str, int] = {}
            for each in node.body:
                if isinstance(each, _SCOPES) and each.name.lower().startswith("test"):
                    if each.name in lines:
                        yield (
                            each.lineno,
                            f"a second {each.name} hides the one in line {lines[each.name]}; "
                            "rename one of them",
                        )
                    lines[each.name] = each.lineno


def _unused_values(
    nodes: Iterable[ast.AST], tests: Iterable[ast.FunctionDef]
) -> Iterator[ast.expr]:
    """Yield the values of statements, of variables without use, and of a test's returns."""
    nodes = [*nodes]
    used = {
        node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    for node in nodes:
        match node:
            case ast.Expr(value=value):
                yield value
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in used:
                yield value
    for test in tests:
        for node in _own_nodes(test):
            if isinstance(node, ast.Return) and node.value is not None:
                yield node.value


def _is_lazy(value: ast.expr, generators: set[str], names: Mapping[str, Any]) -> bool:
    """Return whether a value runs its code in an iteration only."""
    if not isinstance(value, ast.Call):
        return isinstance(value, ast.GeneratorExp)
    first, *attributes = ast.unparse(value.func).split(".")
    function = names.get(first)
    for attribute in attributes:
        function = getattr(function, attribute, None)
    is_local = not attributes and first in {*generators, *_ITERATORS}
    return is_local or inspect.isgeneratorfunction(function)


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes below a node, without those of inner functions and classes."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, _SCOPES):
            yield from _own_nodes(child)


def _is_generator(function: ast.FunctionDef) -> bool:
    return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in _own_nodes(function))


def _is_fixture(function: ast.FunctionDef) -> bool:
    return any("fixture" in ast.unparse(each) for each in function.decorator_list)
