"""The tests of a repository before they run: bytecode, checks without effect, and the sample.

Stale bytecode is deleted: Python matches bytecode to a source by whole seconds and size, in which a
file may change twice. Some checks never run: in hidden tests, and in generators without iteration.
The sample is the cases for the default target's instruction set: the same in every run.
"""

from __future__ import annotations

import ast
import inspect
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.util import cache_from_source
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from opkit.check.cases import Case
from opkit.check.results import Result

_HASHED = b"\1"  # the first byte of the flags: matched by the source's hash, as in PEP 552


def discard_bytecode(root: Path) -> None:
    """Delete a repository's bytecode, except for that matched by a hash.

    Args:
        root: the repository; its build/, hidden folders and virtual environments are left.
    """
    for folder in _folders(root):
        for file in Path(cache_from_source(str(folder / "_.py"))).parent.glob("*.pyc"):
            with suppress(OSError):  # of another user, or deleted by another process
                if not _is_hashed(file):
                    file.unlink()


def _is_hashed(file: Path) -> bool:
    with file.open("rb") as content:
        content.seek(4)  # after the magic number
        return content.read(1) >= _HASHED


def _folders(root: Path) -> Iterator[Path]:
    """Yield the folders of a repository that may hold its Python files."""
    for folder, subfolders, files in os.walk(root):
        subfolders[:] = [
            name
            for name in subfolders
            if not name.startswith((".", "__pycache__"))
            and not (folder == str(root) and name == "build")
            and not Path(folder, name, "pyvenv.cfg").exists()
        ]
        if any(name.endswith(".py") for name in files):
            yield Path(folder)


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_ITERATORS = ("map", "filter")
_ASSERTING = re.compile("check|assert|fail|raises")


def unrun_checks(source: bytes, names: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Return the line and the problem of each test or call without effect.

    Args:
        source: the text of the test file.
        names: the global names of the imported file.
    """
    nodes = [*ast.walk(ast.parse(source))]
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    tests = [
        each
        for each in functions
        if each.name.startswith("test")
        and not any("fixture" in ast.unparse(decorator) for decorator in each.decorator_list)
    ]
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
    for test in (test for test in tests if not _asserts(test)):
        for value in _unused_values(ast.walk(test), [test]):
            run = value.elt if isinstance(value, ast.ListComp) else value
            if isinstance(run, ast.Call) and _returns_result(run, names):
                problem = (
                    f"the result of {ast.unparse(run)} is not used, so its outputs are compared "
                    "with nothing; assert that its `problem` is empty, or call check_..."
                )
                found.append((run.lineno, problem))
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
    is_local = ast.unparse(value.func) in {*generators, *_ITERATORS}
    return is_local or inspect.isgeneratorfunction(_function(value, names))


def _function(call: ast.Call, names: Mapping[str, Any]) -> Any:
    """Return the called object; None if it is not global."""
    first, *attributes = ast.unparse(call.func).split(".")
    function = names.get(first)
    for attribute in attributes:
        function = getattr(function, attribute, None)
    return function


def _returns_result(call: ast.Call, names: Mapping[str, Any]) -> bool:
    """Return whether a function, such as run_cpu_kernel, says that it returns a Result."""
    annotations = getattr(_function(call, names), "__annotations__", {})
    return annotations.get("return") in (Result, Result.__name__)


def _asserts(test: ast.FunctionDef) -> bool:
    """Return whether a test may fail: by a statement, or a call of that name."""
    for node in ast.walk(test):
        if isinstance(node, ast.Assert | ast.Raise):
            return True
        if isinstance(node, ast.Call) and _ASSERTING.search(ast.unparse(node.func)):
            return True
    return False


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes below a node, without those of inner functions and classes."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, _SCOPES):
            yield from _own_nodes(child)


def _is_generator(function: ast.FunctionDef) -> bool:
    return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in _own_nodes(function))


BUDGET = 80
"""The cost of a sample; a small case has the cost 1, about 20 ms in an emulator."""

ELEMENTS = 20_000  # of a case's inputs, for a cost of 1


def _cost(case: Case) -> int:
    return 1 + sum(np.size(array) for array in case.inputs.values()) // ELEMENTS


def _order(case: Case) -> tuple[bool, int]:
    """Return the key of a pseudorandom order, with cases beyond the budget last."""
    return _cost(case) > BUDGET, zlib.crc32(case.name.encode())


def sample(tests: Iterable[Sequence[Case]]) -> frozenset[str]:
    """Return the names of the sampled cases: of every test at least one, within the budget.

    A new case changes little of the sample.

    Args:
        tests: the cases of each test function; several may have the same cases.
    """
    chosen: set[str] = set()
    left = BUDGET
    for turn, cases in enumerate(zip_longest(*(sorted(each, key=_order) for each in tests))):
        for case in cases:
            if case and case.name not in chosen and (turn == 0 or _cost(case) <= left):
                chosen.add(case.name)
                left -= _cost(case)
    return frozenset(chosen)
