"""Finds the gdb command that stops in a VX kernel: python -m opkit.runtimes.rknn.debug CASE [run].

`scons vx-gdb case=CASE run=1` calls it. Cases are those of tests/, by the names in the table.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import os
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from opkit.check.cases import Case
from opkit.check.invocation import Invocation
from opkit.check.operators import Operator
from opkit.check.session import REPOSITORY
from opkit.errors import OpkitError


class _Collector:
    """A pytest plugin that picks up the cases of the tests."""

    def __init__(self) -> None:
        self.cases: dict[str, Case] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            parameters = getattr(item, "callspec", None)
            for value in parameters.params.values() if parameters else ():
                if isinstance(value, Case):
                    self.cases.setdefault(value.name, value)


def find_case(root: Path, name: str) -> Case:
    """Return the case of this name of a repository's tests.

    Raises:
        OpkitError: no test has it, or the tests cannot be read.
    """
    collector = _Collector()
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        status = pytest.main(
            ["--collect-only", "-q", f"--rootdir={root}", str(root / "tests")], plugins=[collector]
        )
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise OpkitError(f"the tests cannot be read:\n{output.getvalue().strip()}")
    if name not in collector.cases:
        nearest = difflib.get_close_matches(name, collector.cases, 3, 0)
        hint = f"; near it are: {', '.join(nearest)}" if nearest else ""
        raise OpkitError(f"no test has a case '{name}'{hint}")
    return collector.cases[name]


def gdb_command(root: Path, name: str) -> list[str]:
    """Return the gdb command that stops at the VX kernel's first line in a case.

    Raises:
        OpkitError: there is no such case, or the kernel or its initializer is wrong.
    """
    operator = Operator(root)
    case = find_case(root, name)
    operator.check_inputs(case)
    params = operator.params(case)
    expected = operator.expected(case, params)
    shapes = {name: (array.shape, array.dtype) for name, array in expected.items()}
    invocation = Invocation(case.inputs, params, shapes)
    return operator.vx_kernel().gdb_command(invocation, root / "build" / "vx" / "gdb")


def main(arguments: list[str]) -> int:
    """Print the command, or run it if that is asked for; return its status."""
    name, *run = arguments
    try:
        command = gdb_command(REPOSITORY, name)
        if run and shutil.which(command[0]) is None:
            raise OpkitError("gdb is not on PATH; install it (apt install gdb)")
    except OpkitError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(shlex.join(command), flush=True)
    if run:
        os.execvp(command[0], command)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
