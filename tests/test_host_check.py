"""`scons check` in a repository: what it says of a compute that touches what is not its own."""

from __future__ import annotations

import re

from tests.repositories import Repository
from tests.target_repositories import check, misbehave, need, said_of

# What compute does with tensors of 1, 2, ... floats -> what is said of it. On a board, all tensors
# lie in one block of memory; each has its own guards here.
MISBEHAVIOUR = {
    "((volatile float *)outputs->output.data)[1] = 1;": (
        "the kernel function writes just past the end of the elements of 'output' (4 bytes)"
    ),
    "outputs->output.float32[0] = ((volatile float *)inputs->input.data)[3];": (
        "the kernel function reads 4 bytes past the end of the elements of 'input' (8 bytes)"
    ),
    "((volatile float *)inputs->input.data)[-2] = 1;": (
        "the operator wrote up to 8 bytes before the start of the elements of 'input' (12 bytes)"
    ),
    "free(inputs->input.data);": (
        "the operator frees a pointer into the elements of 'input' (16 bytes), which it did not get"
    ),
    "*(volatile int *)(inputs->input.size - 5) = 1;": (
        "the kernel function writes through a NULL pointer"
    ),
}


def test_every_tensor_is_guarded_and_faults_have_their_line(copy_of_fresh: Repository) -> None:
    need("qemu-arm-static", "qemu-user-static")
    line = misbehave(copy_of_fresh, [*MISBEHAVIOUR])
    run = check(copy_of_fresh, "target=rv1126")
    here, on_target = (
        said_of(kernel, run.stdout).values() for kernel in ("CPU kernel", "CPU kernel, armhf")
    )
    for text, message in zip(here, MISBEHAVIOUR.values(), strict=True):
        is_fault = message.startswith("the kernel function")
        place = f"myoperator_compute.h:{line}: " if is_fault else ""
        assert text.startswith(f"  {place}{message}")
        line += 1
    for text, message in zip(on_target, MISBEHAVIOUR.values(), strict=True):
        # An ARM processor does not say which way the bytes went.
        assert text.startswith(f"  {re.sub(' (reads|writes) ', ' touches ', message)}")
