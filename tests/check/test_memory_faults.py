"""Every runtime names the line and the tensor of invalid accesses and of leaks in the math."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from tests.check.target_repositories import counts, problems
from tests.repositories import generate

pytestmark = pytest.mark.slow

KERNELS = ("CPU kernel", "CPU kernel, pplnn", "CPU kernel, rknn2")
DESCRIPTION = """\
name: Faulty
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR}}
params: {}
runtimes: [rknn, pplnn, rknn2]
"""
TESTS = """\
import numpy as np
import pytest

from opkit.testing import Case, check_cpu_kernel

CASES = [
    Case(name, {{"x": np.arange(size, dtype=np.float32)}}) for size, name in enumerate({names}, 1)
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)
"""
# In C11 without GNU's extensions, libc's headers lack some of them.
DECLARATIONS = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#ifndef __cplusplus
char *strdup(const char *text);
char *strndup(const char *text, size_t size);
ssize_t getdelim(char **line, size_t *size, int delimiter, FILE *stream);
int asprintf(char **text, const char *format, ...);
#endif

"""
COMPUTE = """\
    volatile float *x = inputs->x.float32;
    volatile float *y = outputs->y.float32;
    volatile char *memory = NULL;
    char *text = NULL;
    size_t length = 0;
    (void)length;
    (void)text;
    (void)memory;
    for (size_t i = 0; i < inputs->x.size; i++) {
        y[i] = x[i];
    }
"""
# Name -> statement, message at its line; %x is x's name in a runtime's messages.
FAULTS = {
    "read_before": ("y[0] = x[-1];", "reads 4 bytes before the start of %x"),
    "read_far_before": ("y[0] = x[-100000];", "reads 400000 bytes before the start of %x"),
    "read_past": ("y[0] = x[inputs->x.size];", "reads just past the end of %x"),
    "read_far_past": (
        "y[0] = x[100000 + inputs->x.size];",
        "reads 400000 bytes past the end of %x",
    ),
    "write_before": ("y[-1] = 0;", "writes 4 bytes before the start of %y"),
    "write_past": ("y[outputs->y.size] = 0;", "writes just past the end of %y"),
    "write_input": ("x[0] = 1;", "writes byte 0 of %x"),
    "leak": ("memory = (char *)malloc(9); memory[0] = 1;", "a block of 9 bytes (allocation "),
    "strdup": ("memory = strdup(__func__); memory[0] = 1;", "a block of 15 bytes (allocation "),
    "strndup": ("memory = strndup(__func__, 5); memory[0] = 1;", "a block of 6 bytes (allocation "),
    "asprintf": (
        'if (asprintf(&text, "%d", 12) < 0) { return text; }',
        "a block of 3 bytes (allocation ",
    ),
    "getdelim": (
        'FILE *file = fopen("/proc/self/stat", "r"); '
        "if (getdelim(&text, &length, 0, file) < 0) { return text; } fclose(file);",
        "a block of ",
    ),
    "open": (
        'FILE *file = fopen("/proc/self/stat", "r"); if (file == NULL) { return "no file"; }',
        "descriptor 3 (/proc/",
    ),
    "write_before_block": (
        "memory = (char *)calloc(4, 2); memory[-1] = 1;",
        "writes 1 bytes before the start of a block of 8 bytes",
    ),
    "use_after_free": (
        "memory = (char *)malloc(5); free((void *)memory); memory[0] = 1;",
        "writes byte 0 of a block of 5 bytes",
    ),
    "free_twice": (
        "memory = (char *)malloc(6); memory[0] = 1; free((void *)memory); free((void *)memory);",
        "the operator frees a block of 6 bytes",
    ),
}


@dataclass(frozen=True)
class Checked:
    """The messages of a check: (kernel, name of the fault) -> message; and the lines of faults."""

    messages: dict[tuple[str, str], str]
    lines: dict[str, int]


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Checked:
    """Check an operator with one fault in each case; N elements select the Nth fault."""
    repository = generate(tmp_path_factory.mktemp("faults"), DESCRIPTION)
    path = repository.path / "faulty_compute.h"
    before, after = path.read_text().split("    return NULL;\n")
    include = '#include "generated/'
    before = before.replace(include, DECLARATIONS + include) + COMPUTE
    lines = [
        f"    if (inputs->x.size == {size}) {{ {statement} }}\n"
        for size, (statement, _) in enumerate(FAULTS.values(), 1)
    ]
    path.write_text("".join([before, *lines, "    return NULL;\n", after]))
    for test in (repository.path / "tests").glob("test_*.py"):
        test.write_text(TESTS.format(names=[*FAULTS, "none"]))
    run = repository.scons("-Q", "verbose=1", "check", check=False)
    assert counts(run.stdout)["CPU kernel"] == len(FAULTS) + 1, run.stdout + run.stderr
    first = before.count("\n") + 1
    return Checked(problems(run.stdout), {name: first + i for i, name in enumerate(FAULTS)})


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("fault", FAULTS)
def test_fault_has_line_and_tensor(fault: str, kernel: str, checked: Checked) -> None:
    expected = re.sub(r"%(.)", r"(the elements of|input|output) '\1'", re.escape(FAULTS[fault][1]))
    place = rf"  \S*faulty_compute\.h:{checked.lines[fault]}: " if fault != "open" else "  "
    assert re.match(rf"{place}.*{expected}", checked.messages[kernel, fault])


@pytest.mark.parametrize("kernel", KERNELS)
def test_correct_case_passes(kernel: str, checked: Checked) -> None:
    assert {fault for where, fault in checked.messages if where == kernel} == {*FAULTS}
