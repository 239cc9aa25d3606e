"""`scons check` reports undefined behavior in the math, with file, line and operands."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.check.target_repositories import messages_of, need, write_faults
from tests.repositories import Repository, generate

pytestmark = pytest.mark.slow

DATA = "(char *)inputs->input.data"
# Statement of compute -> its message.
STATEMENTS = {
    "volatile int32_t big = INT32_MAX; big = big + 1;": "signed integer overflow: 2147483647 + 1",
    "volatile int64_t low = INT64_MIN; low = -low;": (
        "signed integer overflow: -(-9223372036854775808)"
    ),
    "volatile int bits = 32; bits = 1 << bits;": "shift of 'int' 1 by 32",
    "volatile float nan = NAN; volatile int whole = (int)floorf(nan); (void)whole;": (
        "nan is outside of the range of 'int'"
    ),
    "volatile double big = 3e9; volatile int32_t whole = (int32_t)big; (void)whole;": (
        "3e+09 is outside of the range of 'int'"
    ),
    f"volatile int32_t value = *(int32_t *)({DATA} + 1); (void)value;": (
        "access of 'int32_t' (aka 'int') through a misaligned pointer"
    ),
    "volatile int i = 4; const int four[4] = {0}; i = four[i];": (
        "index 4 is outside of 'const int[4]'"
    ),
    "char byte = 2; volatile bool truth = *(bool *)&byte; (void)truth;": (
        "2 is not a value of 'bool'"
    ),
    "volatile int32_t low = INT32_MIN, by = -1; low = low / by;": (
        "signed integer overflow: -2147483648 / -1"
    ),
}
# A table after a header, in one block: it ends at the guard, and starts where it has to.
ALIGNED = (
    "struct table { double scale; char name[]; } *table = malloc(sizeof *table + 3); "
    "table->scale = 1; free(table);"
)
DESCRIPTION = """\
name: MyOperator
inputs: {input: {type: VX_TYPE_TENSOR}}
outputs: {output: {type: VX_TYPE_TENSOR}}
kernels: [cpu]
"""
# A stand-in for another optimization of the product, as with -ffast-math.
PRODUCT_DIFFERS = """\
#if __has_feature(undefined_behavior_sanitizer)
#define ROUNDING 0.0F
#else
#define ROUNDING 0.125F
#endif
"""
TOLERANT = """\
import pytest
from opkit.testing import cases, check_cpu_kernel, uniform
CASES = cases([{{"input": (9,)}}], [uniform(1, 9)])

@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_error={max_error})
"""


def with_statements(repository: Repository, statements: list[str]) -> int:
    """Write a compute with one statement for each size; return the first one's line."""
    path = repository.path / "myoperator_compute.h"
    text = path.read_text().replace("#include", "#include <math.h>\n#include", 1)
    path.write_text(text)
    return write_faults(repository, statements)


def test_message_has_line_and_operands(copy_of_fresh: Repository) -> None:
    first = with_statements(copy_of_fresh, [*STATEMENTS, ALIGNED])
    run = copy_of_fresh.scons("check", "verbose=1", check=False)
    assert run.returncode == 2
    messages = messages_of("CPU kernel", run.stdout)
    # The cases of ALIGNED and of no statement pass.
    assert [*messages] == [f"{size}-ramp" for size, _ in enumerate(STATEMENTS, 1)]
    for line, text, message in zip(
        range(first, first + len(messages)), messages.values(), STATEMENTS.values(), strict=True
    ):
        found = text.replace("'_Bool'", "'bool'")
        assert found.startswith(f"  myoperator_compute.h:{line}: {message} (undefined behavior)\n")


@pytest.mark.parametrize("option", ["sanitize=none", "quick=1"])
def test_option_turns_reports_off(copy_of_fresh: Repository, option: str) -> None:
    with_statements(copy_of_fresh, [*STATEMENTS][:6])
    assert copy_of_fresh.scons("check", option).returncode == 0


@pytest.mark.nightly
def test_product_is_not_instrumented(copy_of_fresh: Repository) -> None:
    copy_of_fresh.scons("target=x64")
    build = copy_of_fresh.path / "build"
    assert b"__ubsan" in (build / "host/libmyoperator.so").read_bytes()
    for library in [*build.glob("*/libmyoperator.so")]:
        is_own = library.parent.name == "host"
        assert (b"__ubsan" in library.read_bytes()) == is_own, library


def test_every_runtime_reports(tmp_path: Path) -> None:
    repository = generate(tmp_path, f"{DESCRIPTION}runtimes: [rknn, pplnn, rknn2]\n")
    line = with_statements(repository, [*STATEMENTS][:1])
    run = repository.scons("check", check=False)
    for kernel in ("CPU kernel", "CPU kernel, pplnn", "CPU kernel, rknn2"):
        (message,) = messages_of(kernel, run.stdout).values()
        assert message.startswith(f"  myoperator_compute.h:{line}: signed integer overflow")
    repository.scons("check", "sanitize=none")


@pytest.mark.nightly
def test_product_may_differ_within_tolerance(copy_of_fresh: Repository) -> None:
    compute = copy_of_fresh.path / "myoperator_compute.h"
    element = "inputs->input.float32[i];"
    text = compute.read_text().replace(element, f"{element[:-1]} + ROUNDING;")
    compute.write_text(text.replace("#include", f"{PRODUCT_DIFFERS}#include", 1))
    tests = copy_of_fresh.path / "tests/test_myoperator.py"
    tests.write_text(TOLERANT.format(max_error=0.25))
    copy_of_fresh.scons("check")
    tests.write_text(TOLERANT.format(max_error=0.0625))
    refused = copy_of_fresh.scons("check", check=False)
    assert refused.returncode == 2
    assert "9 of 9 elements of output 'output' are wrong" in refused.stdout


@pytest.mark.nightly
def test_gcc_reports(tmp_path: Path) -> None:
    need("gcc", "gcc libc6-dev")
    repository = generate(tmp_path, f"{DESCRIPTION}runtimes: [rknn]\n")
    first = with_statements(repository, [*STATEMENTS][:5])
    path = str(Path(shutil.which("gcc") or "").parent)
    arguments = ("toolchain=gnu", "target=x64", "verbose=1", "check")
    run = repository.scons(*arguments, check=False, path=path)
    lines = re.findall(r"^  myoperator_compute\.h:(\d+): .*\(undefined", run.stdout, re.MULTILINE)
    assert [int(line) - first for line in lines] == [*range(5)], run.stdout + run.stderr
