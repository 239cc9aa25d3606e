"""A kernel must not depend on the files, environment or settings of this PC, nor change them."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from tests.check.target_repositories import counts, edit, problems
from tests.marks import slow_first
from tests.repositories import generate

pytestmark = pytest.mark.slow

KERNELS = ("CPU kernel", "CPU kernel, pplnn", "CPU kernel, rknn2")
DESCRIPTION = """\
name: Outside
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR}}
params: {}
runtimes: [rknn, pplnn, rknn2]
cflags: [-D_GNU_SOURCE]
threads: 2
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
# The header is C++ in pplnn.
DECLARATIONS = """\
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef __cplusplus
#define THREAD_LOCAL thread_local
#else
#define THREAD_LOCAL _Thread_local
#endif

static THREAD_LOCAL float scratch[64];

static inline int compare(const void *a, const void *b)
{
    return (*(const float *)a > *(const float *)b) - (*(const float *)a < *(const float *)b);
}

#ifdef OPKIT_THREADS /* else operators are not linked with the library of threads */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t keys[2];

static inline void make_keys(void)
{
    for (int i = 0; i < 2; i++) {
        pthread_key_create(&keys[i], NULL);
    }
}

static inline void make_keys_once(void)
{
    pthread_once(&once, make_keys);
}

static inline void make_key(bool is_deleted)
{
    pthread_key_t key;

    pthread_key_create(&key, NULL);
    if (is_deleted) {
        pthread_key_delete(key);
    }
}
#else
static inline void make_keys_once(void)
{
}

static inline void make_key(bool is_deleted)
{
    (void)is_deleted;
}
#endif

"""
COMPUTE = """\
    volatile float *y = outputs->y.float32;
    for (size_t i = 0; i < inputs->x.size; i++) {
        y[i] = inputs->x.float32[i];
    }
"""
_NO_FILE = "the board does not have it, or cannot write it; pass its data as an input or a param"
# Name -> statement, message at its line.
FAULTS = {
    "weights": (
        'FILE *file = fopen("/tmp/none/weights.bin", "rb"); if (file != NULL) { fclose(file); }',
        f"the operator uses the file '/tmp/none/weights.bin' (fopen): {_NO_FILE}",
    ),
    "log": (
        'int log = open("outside.log", O_CREAT | O_APPEND | O_WRONLY, 0600); '
        'if (log >= 0 && write(log, "x", 1) == 1) { close(log); }',
        f"the operator uses the file 'outside.log' (open): {_NO_FILE}",
    ),
    "exists": (
        'if (access("/etc/hostname", R_OK) == 0) { y[0] = 0; }',
        f"the operator uses the file '/etc/hostname' (access): {_NO_FILE}",
    ),
    "socket": (
        "int network = socket(AF_INET, SOCK_DGRAM, 0); if (network >= 0) { close(network); }",
        "the operator opens a socket (socket): the board does not have the network",
    ),
    "system": (
        'if (system("true") != 0) { return "no shell"; }',
        "the operator starts a process 'true' (system): the board does not have the program",
    ),
    "popen": (
        'FILE *pipe_ = popen("true", "r"); if (pipe_ != NULL) { pclose(pipe_); }',
        "the operator starts a process 'true' (popen): the board does not have the program",
    ),
    "getenv": (
        'const char *value = getenv("OUTSIDE_SCALE"); y[0] = value != NULL ? 2 : y[0];',
        "the operator reads the environment variable 'OUTSIDE_SCALE' (getenv): the board does not "
        "have it; pass the value as a param",
    ),
    "srand": (
        "srand(1);",
        "the operator changes the random state of the process (srand): rand() repeats numbers in "
        "the board's application; use rand_r",
    ),
    "srand48": ("srand48(1);", "the operator changes the random state of the process (srand48)"),
}
CHANGES = {
    "nice": (
        'if (nice(1) < 0) { return "not nice"; }',
        " changes the process's priority (nice, setpriority)",
    ),
    "key": (
        "make_key(false);",
        "in 3 consecutive runs: the operator makes a key of threads again and again, and deletes "
        "none (pthread_key_create): a process has 1024 of them for all; make it once, by "
        "pthread_once",
    ),
}
"""What has no line."""
WITHOUT_THREADS = {"CPU kernel": {"key"}}
"""Kernel -> the changes that need the library of threads."""
RIGHT = {
    "nothing": "",
    "printing": 'printf("a line of %d\\n", 3);',
    "linux": 'FILE *file = fopen("/proc/cpuinfo", "r"); if (file != NULL) { fclose(file); }',
    "processors": 'if (sysconf(_SC_NPROCESSORS_ONLN) < 1) { return "no processor"; }',
    "allocation": "free(calloc(inputs->x.size, 4));",
    "math": "scratch[0] = expf(1) + powf(2, 0.5F) + lroundf(2.5F);",
    "snprintf": 'char text[32]; snprintf(text, sizeof text, "%.3f", (double)y[0]);',
    "strtod": 'scratch[0] = (float)strtod("1.5", NULL);',
    "qsort": "qsort(outputs->y.float32, outputs->y.size, sizeof(float), compare);",
    "clock": "struct timespec now; clock_gettime(CLOCK_MONOTONIC, &now);",
    "time": "time_t now = 0; if (gmtime(&now) == NULL || localtime(&now) == NULL) { return NULL; }",
    "rand": "scratch[0] = (float)rand();",
    "keys_once": "make_keys_once();",
    "key_deleted": "make_key(true);",
    "thread_local": "scratch[1] = 2; y[0] *= scratch[1] / 2;",
}
INITIALIZERS = {
    "initializer_file": 'if (access("/tmp/none", R_OK) == 0) { return VX_FAILURE; }',
    "initializer_thread_local": "((volatile float *)scratch)[5] = 1;",
}
"""Statements of the initializer for RKNN-Toolkit 1.x."""
HOOK = """\
static vx_status initialize_cpu_kernel(const struct opkit_call *call)
{{
    struct opkit_tensor x;

    OPKIT_TRY(opkit_describe_vx_tensor(call, OUTSIDE_INDEX_X, "x", VX_TYPE_FLOAT32, &x));
{lines}
    return VX_SUCCESS;
}}

static const struct opkit_kernel_hooks kernel_hooks = {{
    .initialize_cpu_kernel = initialize_cpu_kernel,
"""
STATEMENTS = {
    **{name: statement for name, (statement, _) in (FAULTS | CHANGES).items()},
    **RIGHT,
    **dict.fromkeys(INITIALIZERS, ""),
}
SIZES = {name: size for size, name in enumerate(STATEMENTS, 1)}


@dataclass(frozen=True)
class Checked:
    """The messages of a check: (kernel, case) -> message; the lines of statements; the output."""

    messages: dict[tuple[str, str], str]
    lines: dict[str, int]
    output: str


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Checked:
    """Check an operator with one statement in each case; N elements select the Nth."""
    repository = generate(tmp_path_factory.mktemp("outside"), DESCRIPTION)
    path = repository.path / "outside_compute.h"
    before, after = path.read_text().split("    return NULL;\n")
    include = '#include "generated/'
    before = before.replace(include, DECLARATIONS + include) + COMPUTE
    lines = [
        f"    if (inputs->x.size == {SIZES[name]}) {{ {statement} }}\n"
        for name, statement in STATEMENTS.items()
    ]
    path.write_text("".join([before, *lines, "    return NULL;\n", after]))
    initializers = [
        f"    if (x.size == {SIZES[name]}) {{ {statement} }}"
        for name, statement in INITIALIZERS.items()
    ]
    edit(
        repository.path / "rknn_kernel_outside.c",
        "static const struct opkit_kernel_hooks kernel_hooks = {\n",
        HOOK.format(lines="\n".join(initializers)),
    )
    for test in (repository.path / "tests").glob("test_*.py"):
        test.write_text(TESTS.format(names=[*STATEMENTS]))
    run = repository.scons("-Q", "verbose=1", "check", check=False)
    assert "CPU kernel" in run.stdout, run.stderr[-3000:]
    assert counts(run.stdout)["CPU kernel"] == len(STATEMENTS), run.stdout + run.stderr
    first = before.count("\n") + 1
    numbers = {name: first + i for i, name in enumerate(STATEMENTS)}
    return Checked(problems(run.stdout), numbers, run.stdout)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("fault", FAULTS)
def test_call_has_line(fault: str, kernel: str, checked: Checked) -> None:
    message = " ".join(checked.messages[kernel, fault].split())
    assert re.match(rf"\S*outside_compute\.h:{checked.lines[fault]}: ", message)
    assert FAULTS[fault][1] in message


@pytest.mark.parametrize(
    ("kernel", "fault"),
    [
        (each, name)
        for each in KERNELS
        for name in CHANGES
        if name not in WITHOUT_THREADS.get(each, set())
    ],
)
def test_change_is_named(fault: str, kernel: str, checked: Checked) -> None:
    assert CHANGES[fault][1] in " ".join(checked.messages[kernel, fault].split())


def test_printed_line_is_noted(checked: Checked) -> None:
    output = " ".join(checked.output.split())
    for kernel in KERNELS:
        assert f"note: {kernel}: prints 'a line of 3': on a board, into the appl" in output
    assert output.count(": prints ") == len(KERNELS)


@pytest.mark.parametrize("kernel", slow_first(1, KERNELS))
def test_right_kernels_pass(kernel: str, checked: Checked) -> None:
    failed = {case for where, case in checked.messages if where == kernel}
    expected = {*FAULTS, *CHANGES} - WITHOUT_THREADS.get(kernel, set())
    assert failed == expected | ({"initializer_file"} if kernel == "CPU kernel" else set())


@pytest.mark.nightly
def test_file_in_initializer_is_named(checked: Checked) -> None:
    message = " ".join(checked.messages["CPU kernel", "initializer_file"].split())
    assert re.match(
        r"\S*rknn_kernel_outside\.c:\d+: the operator uses the file '/tmp/none' \(access\)", message
    )


@pytest.mark.nightly
def test_thread_local_variable_of_initializer_is_named(checked: Checked) -> None:
    assert re.search(
        r"note: CPU kernel: outside_compute\.h:\d+: the initializer writes 'scratch', which is "
        r"_Thread_local; an application may run the model in another thread",
        " ".join(checked.output.split()),
    )
    assert checked.output.count("the initializer writes") == 1
