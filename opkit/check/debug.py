"""Prints a gdb command that stops in the math in C: python -m opkit.check.debug CASE [run].

`scons gdb case=CASE run=1` calls it. CASE is the name of a case of tests/ in the table of check.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from opkit.check.cases import Case
from opkit.check.checking import FILLS
from opkit.check.debug_info import gdb_command
from opkit.check.harness_client import batch, marshal_tensors, request
from opkit.check.mistakes import REPOSITORY
from opkit.check.operators import Operator
from opkit.common.errors import OpkitError
from opkit.common.text import closest
from opkit.runtimes.invocation import Invocation, RunOptions

FOLDER = Path("build/check/gdb")
"""The folder of the harness for gdb."""

_TIMEOUT = 10**6  # seconds: a kernel may stay at a breakpoint


class _Collector:
    """A pytest plugin that collects the cases of the tests."""

    def __init__(self) -> None:
        self.cases: dict[str, Case] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            parameters = getattr(item, "callspec", None)
            for value in parameters.params.values() if parameters else ():
                if isinstance(value, Case):
                    self.cases.setdefault(value.name, value)


def find_case(root: Path, name: str) -> Case:
    """Return the case with a name from a repository's tests.

    Raises:
        OpkitError: no test has such a case, or the tests cannot be read.
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
        nearest = closest(name, collector.cases, 3, 0)
        hint = f"; closest matches: {', '.join(nearest)}" if nearest else ""
        raise OpkitError(f"no test has a case '{name}'{hint}")
    return collector.cases[name]


def math_command(operator: Operator, invocation: Invocation) -> list[str]:
    """Return the gdb command that stops at the first line of the math.

    Memory is guarded and filled as in the first run of a check: gdb also stops at an access outside
    of a tensor.
    """
    folder = operator.root / FOLDER
    convention = operator.runtimes[0].check.convention
    values = convention.marshal(operator.spec.params, invocation.params)
    tensors = marshal_tensors(operator.spec, invocation, convention.tensor_types)
    options = RunOptions(FILLS[0], limit=_TIMEOUT)
    requested = b"".join([batch(1), *request(tensors, values, {}, options)])
    math = operator.spec.math_file
    function = f"{operator.spec.lower}_{'of' if operator.spec.elementwise else 'compute'}"
    return gdb_command([str(folder / "harness")], requested, f"{math}:{function}", folder)


def main(
    arguments: Sequence[str], command_of: Callable[[Operator, Invocation], list[str]] = math_command
) -> int:
    """Print the command, or run it if requested; return its status.

    Args:
        arguments: the name of the case; a second argument runs the command.
        command_of: returns the gdb command for a kernel of an operator.
    """
    name, *run = arguments
    try:
        operator = Operator(REPOSITORY)
        invocation = operator.prepare(find_case(REPOSITORY, name)).invocation
        command = command_of(operator, invocation)
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
