"""Operators with `threads`: their generated C, the lifetime of the threads, and the products."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from opkit.runtimes import parse
from opkit.runtimes.rknn2.c_files import c_files
from opkit.toolchains import elf
from tests.compiling import build
from tests.repositories import generate
from tests.runtimes.c_math import compute_text
from tests.runtimes.rknn2.support import HEADERS, write_operator

DESCRIPTION = """\
name: Twice
runtimes: [rknn2]
threads: 4
inputs: {x: {type: VX_TYPE_TENSOR, dtype: float32}}
outputs: {y: {type: VX_TYPE_TENSOR, same_as: x}}
"""
PARAM = "params: {scale: {type: float, default: 2}}\n"
COMPUTE = compute_text(
    "twice",
    "    const struct twice_loop loop = {inputs->x.float32, outputs->y.float32};\n"
    "    opkit_parallel_for(outputs->y.size, 8, twice_part, &loop);",
    before="""\
struct twice_loop {
    const float *x;
    float *y;
};

static void twice_part(const void *context, size_t begin, size_t end)
{
    const struct twice_loop *loop = (const struct twice_loop *)context;
    for (size_t i = begin; i < end; i++) {
        loop->y[i] = 2 * loop->x[i];
    }
}
""",
)
PROGRAM = """\
#include "rknn2/twice_custom_op.c"

#include <stdlib.h>
#include <sys/stat.h>

enum { COUNT = 100000 };
static float elements[2][COUNT];

int rknn_register_custom_ops(rknn_context ctx, rknn_custom_op *op, uint32_t custom_op_num)
{
    (void)ctx, (void)op, (void)custom_op_num;
    return 0;
}

void rknn_custom_op_get_op_attr(rknn_custom_op_context *op_ctx, const char *attr_name,
                                rknn_custom_op_attr *op_attr)
{
    (void)op_ctx, (void)attr_name, (void)op_attr;
}

static unsigned threads(void)
{
    struct stat tasks;
    usleep(50000); /* a thread leaves the folder shortly after it is joined */
    return stat("/proc/self/task", &tasks) == 0 ? (unsigned)tasks.st_nlink - 2 : 0;
}

static rknn_custom_op_tensor tensor(float *data)
{
    return (rknn_custom_op_tensor){
        .attr = {.n_dims = 1, .dims = {COUNT}, .n_elems = COUNT, .type = RKNN_TENSOR_FLOAT32},
        .mem = {.virt_addr = data},
    };
}

static void compute(rknn_custom_op_context *context)
{
    rknn_custom_op_tensor input = tensor(elements[0]);
    rknn_custom_op_tensor output = tensor(elements[1]);
    bool is_right = true;

    for (int i = 0; i < COUNT; i++) {
        elements[0][i] = (float)i;
        elements[1][i] = 0;
    }
    const int status = twice_custom_op()->compute(context, &input, 1, &output, 1);
    for (int i = 0; i < COUNT; i++) {
        is_right = is_right && elements[1][i] == 2 * (float)i;
    }
    printf("compute %d %d, %u threads\\n", status, is_right, threads());
}

int main(void)
{
    rknn_custom_op *op = twice_custom_op();
    rknn_custom_op_tensor tensors[2] = {tensor(NULL), tensor(NULL)};
    rknn_custom_op_context first = {.internal_ctx = 1};
    rknn_custom_op_context second = {.internal_ctx = 2};

    op->init(&first, tensors, 1, tensors + 1, 1);
    printf("init, %u threads\\n", threads());
    rknn_custom_op_context copy = first; /* as rknn_dup_context makes it */
    op->init(&copy, tensors, 1, tensors + 1, 1);
    op->init(&second, tensors, 1, tensors + 1, 1);
    compute(&first);
    compute(&copy);
    op->destroy(&first);
    op->destroy(&second);
    printf("destroy, %u threads\\n", threads());
    compute(&copy);
    op->destroy(&copy);
    printf("destroy, %u threads\\n", threads());
    op->destroy(&copy);
    op->init(&first, tensors, 1, tensors + 1, 1);
    printf("init, %u threads\\n", threads());
    return 0; /* the destructor ends the threads */
}
"""
LIFE = """\
init, 4 threads
compute 0 1, 4 threads
compute 0 1, 4 threads
destroy, 4 threads
compute 0 1, 4 threads
destroy, 1 threads
init, 4 threads
"""


@pytest.mark.parametrize("params", ["", PARAM])
def test_threads_live_as_long_as_nodes(tmp_path: Path, params: str) -> None:
    write_operator(tmp_path, DESCRIPTION + params, COMPUTE)
    source = tmp_path / "program.c"
    source.write_text(PROGRAM)
    program = build(tmp_path / "program", source, HEADERS, f"-I{tmp_path}", "-lpthread", "-lm")
    result = subprocess.run([program], capture_output=True, text=True, check=True, timeout=60)
    assert (result.stdout, result.stderr) == (LIFE, "")


def test_only_operators_with_threads_have_their_code() -> None:
    without = c_files(parse(DESCRIPTION.replace("threads: 4\n", "")))["rknn2/twice_custom_op.c"]
    assert "THREADS" not in without
    assert "init_callback" not in without
    for written, macro in (("4", "4"), ("auto", "0")):
        text = DESCRIPTION.replace("threads: 4", f"threads: {written}")
        assert (
            f"#define OPKIT_THREADS {macro} /*" in c_files(parse(text))["rknn2/twice_custom_op.c"]
        )


@pytest.mark.slow
def test_plugins_need_threads_of_old_systems(tmp_path: Path) -> None:
    repository = generate(tmp_path, DESCRIPTION)
    include = '#include "include/opkit/compute/parallel.h"\n'
    (repository.path / "twice_compute.h").write_text(
        f"#ifndef TWICE_COMPUTE_H\n#define TWICE_COMPUTE_H\n{include}{COMPUTE}#endif\n"
    )
    for abi, folder in (("aarch64", "rk3588"), ("armhf", "rk3588-armhf")):
        repository.scons("target=rk3588", f"abi={abi}")
        library = elf.read((repository.path / f"build/{folder}/librkcst_twice.so").read_bytes())
        assert "libpthread.so.0" in library.needed
        newest = elf.newest_glibc(library)
        assert newest is not None
        assert tuple(map(int, newest.split("."))) <= (2, 17)
