"""Make repositories for checks on other executors, and parse the checks' output."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from tests.compiling import C_SOURCES
from tests.repositories import Repository, generate
from tests.time_limits import LONG


def enumerators(source: Path, name: str) -> list[str]:
    """Return the names in an enumeration of a C source, in its order."""
    return re.findall(r"[A-Z_]+", source.read_text().split(f"enum {name} {{")[1].split("}")[0])


FAULTS_C = C_SOURCES / "host_faults.c"
FAULTS = enumerators(FAULTS_C, "fault")
DESCRIPTION = """\
name: Faults
inputs: {input: {type: VX_TYPE_TENSOR}}
outputs: {output: {type: VX_TYPE_TENSOR}}
params: {fault: {type: VX_TYPE_INT32, default: 0}}
"""
REFERENCE = """\
def output_shapes(input_shapes, params):
    return {"output": tuple(input_shapes["input"])}


def reference(inputs, params):
    return {"output": inputs["input"]}
"""
FAULT_CASES = """\
import numpy as np
import pytest

from opkit.check import checking
from opkit.testing import Case, check_cpu_kernel

NUMBERS = np.linspace(-2, 2, 40).reshape(2, 5, 4).astype(np.float16)
CASES = [Case(name, {{"input": NUMBERS}}, {{"fault": number}}) for name, number in {cases}]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case, monkeypatch):
    for name in ("TIME_LIMIT", "SHORT_LIMIT"):
        monkeypatch.setattr(checking, name, {limit} if case.name == "LOOP" else {long_limit})
    check_cpu_kernel(case)
"""

SIZE_CASES = """
import pytest
from opkit.testing import cases, check_cpu_kernel, ramp
CASES = cases([{{"input": (size,)}} for size in range({count})], [ramp()])

@pytest.mark.parametrize("case", CASES[1:], ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)
"""


def faults_repository(folder: Path, names: list[str], limit: float = 2) -> Repository:
    """Make an operator with a param that selects its fault, with one case for each name.

    A correct case follows each. The endless kernel may take `limit` seconds.
    """
    repository = generate(folder, DESCRIPTION)
    shutil.copy(FAULTS_C, repository.path / "rknn_kernel_faults.c")
    numbers = [(name, FAULTS.index(name)) for name in names]
    cases = [case for wrong in numbers for case in (wrong, (f"after_{wrong[0]}", 0))]
    (repository.path / "tests/test_faults.py").write_text(
        FAULT_CASES.format(cases=cases, limit=limit, long_limit=LONG)
    )
    return repository


def write_faults(repository: Repository, statements: list[str]) -> int:
    """Write a compute with one statement for 1, 2, ... elements; return the first one's line."""
    path = repository.path / "myoperator_compute.h"
    include = '#include "generated/'
    text = path.read_text().replace(include, f"#include <stdlib.h>\n\n{include}")
    before, after = text.split("    return NULL;\n")
    lines = [
        f"    if (inputs->input.size == {size}) {{ {statement} }}\n"
        for size, statement in enumerate(statements, 1)
    ]
    path.write_text("".join([before, *lines, "    return NULL;\n", after]))
    tests = repository.path / "tests/test_myoperator.py"
    tests.write_text(SIZE_CASES.format(count=len(statements) + 2))
    return before.count("\n") + 1


def edit(path: Path, old: str, new: str) -> None:
    """Replace a text of a file, which must have it."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def need(program: str, package: str) -> str:
    """Return the path of a required program; without it skip the test, or fail in CI."""
    found = shutil.which(program)
    if found is None:
        reason = f"there is no {program}: apt-get install {package}"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return found


def check(
    repository: Repository, *arguments: str, path: str | Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `scons ... check` in a repository, with this PATH or the machine's own.

    On the machine's own, `quick=1` hides the emulator of the default target, which has its tests.
    """
    path = str(path or os.environ["PATH"])
    return repository.scons("-Q", "quick=1", *arguments, "check", check=False, path=path)


def script(path: Path, text: str) -> Path:
    """Write a shell script, an executable file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def problems(output: str) -> dict[tuple[str, str], str]:
    """Return the failures: (kernel, case) -> the message below its first line."""
    pattern = r"^(CPU kernel(?:, \S+)?) of \w+, case (\S+):\n((?:  .*\n)+)"
    found = re.findall(pattern, output, re.MULTILINE)
    return {(kernel, case): text for kernel, case, text in found}


def messages_of(kernel: str, output: str) -> dict[str, str]:
    """Return the failures on a kernel: case -> message."""
    return {case: text for (where, case), text in problems(output).items() if where == kernel}


def counts(output: str) -> dict[str, int]:
    """Return the table of kernels: kernel -> count of its cases."""
    table = output.split("kernels against their reference", 1)[1].split("\n==", 1)[0]
    return {
        name: int(count) for name, count in re.findall(r"^(\S.*?)  +(\d+)  ", table, re.MULTILINE)
    }


def rows(output: str, kernels: str | tuple[str, ...] = "CPU kernel") -> dict[str, list[list[str]]]:
    """Return the table of cases: kernel -> rows of case, max error, ulp, time.

    Args:
        output: the output of `scons check`; without verbose=1 it has rows of failed cases only.
        kernels: the beginnings of the kernels' names.
    """
    table = re.split(r"^=+ (?:failed )?cases =+$", output, maxsplit=1, flags=re.MULTILINE)[1]
    found: dict[str, list[list[str]]] = {}
    for line in table.splitlines():
        if line.startswith(kernels):
            kernel, *cells = re.split(r"  +", line)
            if cells:  # else a sentence behind the table
                found.setdefault(kernel, []).append(cells)
    return found
