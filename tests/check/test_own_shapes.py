"""The check runs passed cases with shapes of its own: sizes, ranks, batches and a large one."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opkit.check.cases import Values
from opkit.check.own_shapes import check_own_shapes
from opkit.check.results import CheckedCase
from opkit.check.tolerance import EXACT, Tolerance
from opkit.runtimes.invocation import Array, Invocation, RunResult
from opkit.testing import Case, Operator, cases, integers, uniform
from tests.check.python_kernels import PythonKernel, write_operator
from tests.marks import slow_first
from tests.repositories import Repository, generate

DESCRIPTION = """\
name: Twice
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR}}
runtimes: [rknn2]
"""
TESTS = """\
import pytest
from opkit.testing import cases, check_cpu_kernel, uniform

CASES = cases([{"x": shape} for shape in [(1, 3, 5, 3), (7, 5), (9,)]], [uniform(-1, 1)])


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)
"""
RIGHT = "for (size_t i = 0; i < x->size; i++) y->float32[i] = 2 * x->float32[i];"
LAST = "x->shape[x->rank - 1]"
# Wrong math -> the fewest elements with it, and a part of the message.
WRONG = {
    "static float t[64]; for (size_t i = 0; i < x->size; i++) t[i] = 2 * x->float32[i]; "
    "memcpy(y->float32, t, 4 * x->size);": (65, "index 64 is outside of 'float[64]'"),
    "for (size_t i = 0; i < 60 && i < x->size; i++) y->float32[i] = 2 * x->float32[i];": (
        61,
        "was never written",
    ),
    f"{RIGHT} if (x->rank == 4 && x->shape[0] > 1) y->float32[x->size - 1] = 9;": (
        2,
        "y[1, 0, 0, 0]",
    ),
    "uint16_t i = 0; do y->float32[i] = 2 * x->float32[i]; while (++i < x->size && i != 0);": (
        65537,
        "was never written",
    ),
    f"{RIGHT} if (x->size > 256) y->float32[256] = 9;": (257, "1 of "),
    f"{RIGHT} if (x->size > 5000) y->float32[5000] = 9;": (5001, "1 of 5"),
    f"{RIGHT} if (x->rank == 5) y->float32[0] = 9;": (1, "y[0, 0, 0, 0, 0]"),
    f"{RIGHT} if (x->size == 1) y->float32[0] = 9;": (1, "1 of 1 elements"),
    f"{RIGHT} if ({LAST} % 16 == 0) y->float32[0] = 9;": (16, "1 of 16 elements"),
    f"{RIGHT} if (x->rank > 1 && {LAST} % 2 == 0 && x->shape[x->rank - 2] % 2 == 0) "
    "y->float32[0] = 9;": (4, "1 of 4 elements"),
    f"{RIGHT} float *t = malloc(4); free(x->size > 10000 ? NULL : t);": (
        10001,
        "a block of 4 bytes (allocation 1) was never freed",
    ),
    f"{RIGHT} volatile int n = (int)x->size; n = n * 100000;": (
        21475,
        "signed integer overflow: 2",
    ),
}


MATMUL = """\
import numpy as np

def output_shapes(input_shapes, params):
    return {"y": (input_shapes["a"][0], input_shapes["b"][1])}

def reference(inputs, params):
    return {"y": inputs["a"] @ inputs["b"]}
"""
TENSOR = "{type: VX_TYPE_TENSOR}"
SUM = """\
def output_shapes(input_shapes, params):
    assert input_shapes["a"] == input_shapes["b"] and len(input_shapes["factor"]) == 1
    return {"y": input_shapes["a"]}

def reference(inputs, params):
    return {"y": (inputs["a"] + inputs["b"]) * inputs["factor"]}
"""
MATMUL_TENSORS = f"inputs: {{a: {TENSOR}, b: {TENSOR}}}\noutputs: {{y: {TENSOR}}}\n"
MEAN_TENSORS = f"inputs: {{x: {TENSOR}}}\noutputs: {{y: {TENSOR}}}\n"
MEAN = """\
import numpy as np

def output_shapes(input_shapes, params):
    return {"y": (1,)}

def reference(inputs, params):
    pairs = np.zeros((inputs["x"].size, inputs["x"].size), np.float32)
    return {"y": inputs["x"].mean(keepdims=True).reshape(1) + pairs[0, 0]}
"""


@dataclass(frozen=True)
class Recording(PythonKernel):
    """Keeps the inputs of its runs."""

    seen: list[Mapping[str, Array]] = field(default_factory=list)

    def run_batch(
        self, invocations: Sequence[Invocation], fill: int, alternates: bool, limit: float
    ) -> dict[int, RunResult]:
        self.seen.extend(each.inputs for each in invocations)
        return {index: self.run(each) for index, each in enumerate(invocations)}

    def shapes(self) -> set[tuple[tuple[int, ...], ...]]:
        return {tuple(array.shape for array in inputs.values()) for inputs in self.seen}


def check(operator: Operator, kernel: Recording, case: Case, fuzz: int = 0) -> str:
    checked = CheckedCase(operator, {"CPU kernel": kernel}, EXACT, case)
    found = check_own_shapes([checked], 60, fuzz)
    assert found.count == len(kernel.seen) or found.problem
    return found.problem


def test_common_size_of_inputs(tmp_path: Path) -> None:
    operator = write_operator(tmp_path, "Product", MATMUL_TENSORS, MATMUL)
    kernel = Recording(lambda inputs: {"y": inputs["a"] @ inputs["b"]})
    case = Case(
        "recorded", {"a": np.full((3, 4), 2, np.float32), "b": np.full((4, 5), 3, np.float32)}
    )
    assert check(operator, kernel, case, fuzz=50) == ""
    sizes = {(a[0], a[1], b[1]) for a, b in kernel.shapes()}
    assert sizes >= {(17, 4, 5), (3, 17, 5), (3, 4, 17), (1, 1, 1), (2, 2, 2), (0, 4, 5)}
    assert max(b * c for _, b, c in sizes) >= 2**17 + 3
    assert len(sizes) > 60
    assert all(np.all(inputs["a"] == 2) and np.all(inputs["b"] == 3) for inputs in kernel.seen)


def test_ranks_of_several_inputs(tmp_path: Path) -> None:
    """All inputs with the largest rank change together, where the operator requires it."""
    tensors = f"inputs: {{a: {TENSOR}, b: {TENSOR}, factor: {TENSOR}}}\noutputs: {{y: {TENSOR}}}\n"
    operator = write_operator(tmp_path, "Sum", tensors, SUM)
    kernel = Recording(lambda inputs: {"y": (inputs["a"] + inputs["b"]) * inputs["factor"]})
    (case,) = cases([{"a": (2, 3), "b": (2, 3), "factor": (1,)}], [integers(0, 9)], dtype="float32")
    assert check(operator, kernel, case) == ""
    assert {len(a) for a, _, _ in kernel.shapes()} == {1, 2, 3, 4, 5, 6}


def test_shapes_that_the_reference_refuses(tmp_path: Path) -> None:
    refusing = MATMUL.replace(
        'return {"y": (', 'assert input_shapes["a"][0] % 2, "odd rows"\n    return {"y": (', 1
    )
    operator = write_operator(tmp_path, "Product", MATMUL_TENSORS, refusing)
    kernel = Recording(lambda inputs: {"y": inputs["a"] @ inputs["b"]})
    (case,) = cases([{"a": (3, 4), "b": (4, 5)}], [integers(0, 9)], dtype="float32")
    assert check(operator, kernel, case, fuzz=50) == ""
    assert kernel.seen
    assert all(a[0] % 2 for a, _ in kernel.shapes())


def test_memory_of_the_reference_limits_sizes(tmp_path: Path) -> None:
    operator = write_operator(tmp_path, "Mean", MEAN_TENSORS, MEAN)
    kernel = Recording(lambda inputs: {"y": inputs["x"].mean(keepdims=True).reshape(1)})
    (case,) = cases([{"x": (2, 3)}], [uniform(-1, 1)], dtype="float32")
    assert check(operator, kernel, case) == ""
    sizes = {prod(shape) for (shape,) in kernel.shapes()}
    assert 2**11 < max(sizes) < 2**14
    assert 0 not in sizes  # the mean of nothing is a warning


def test_values_for_other_shapes_may_fail(tmp_path: Path) -> None:
    operator = write_operator(tmp_path, "Mean", MEAN_TENSORS, MEAN)
    kernel = Recording(lambda inputs: {"y": inputs["x"].mean(keepdims=True).reshape(1)})

    def make(shape: tuple[int, ...], dtype: Any, random: Any, index: int) -> Array:
        assert shape[0] == 2, "two rows"
        return np.arange(prod(shape), dtype=dtype).reshape(shape)

    (case,) = cases([{"x": (2, 2, 2)}], [Values("rows", "rows", make)], dtype="float32")
    assert check(operator, kernel, case) == ""
    assert {shape[0] for (shape,) in kernel.shapes()} == {2}


def test_rounding_of_larger_shapes_is_tolerated(tmp_path: Path) -> None:
    operator = write_operator(tmp_path, "Mean", MEAN_TENSORS, MEAN)

    def rounding(inputs: Mapping[str, Array]) -> dict[str, Array]:
        x = inputs["x"]
        return {"y": x.mean(keepdims=True).reshape(1) + np.float32(1e-3 * (x.size / 6) ** 0.4)}

    (case,) = cases([{"x": (2, 3)}], [uniform(1, 2)], dtype="float32")
    checked = CheckedCase(operator, {"CPU kernel": Recording(rounding)}, Tolerance(0, 1e-3), case)
    assert check_own_shapes([checked], 60).problem == ""


def test_integers_beyond_float32_are_left_out(tmp_path: Path) -> None:
    """Some runtimes hand integers over as float32."""
    reference = MATMUL.replace('inputs["a"] @ inputs["b"]', '1000 * inputs["a"] @ inputs["b"]')
    operator = write_operator(tmp_path, "Product", MATMUL_TENSORS, reference)
    kernel = Recording(lambda inputs: {"y": 1000 * inputs["a"] @ inputs["b"]})
    (case,) = cases([{"a": (3, 4), "b": (4, 5)}], [integers(50, 50)], dtype="int32")
    assert check(operator, kernel, case) == ""
    assert {a[1] for a, _ in kernel.shapes()} == {0, 1, 2, 3, 4}  # 1000 * 50 * 50 * 7 > 2^24
    assert any(a[0] == 33 for a, _ in kernel.shapes())


def test_smallest_shape_of_several_inputs(tmp_path: Path) -> None:
    operator = write_operator(tmp_path, "Product", MATMUL_TENSORS, MATMUL)

    def product(inputs: Mapping[str, Array]) -> dict[str, Array]:
        y = inputs["a"] @ inputs["b"]
        y[-1:, -1:] += inputs["a"].shape[1] > 10
        return {"y": y}

    (case,) = cases([{"a": (3, 4), "b": (4, 5)}], [integers(0, 9)], dtype="float32")
    problem = check(operator, Recording(product), case)
    assert "to the shapes of tests/check/test_own_shapes.py" in problem
    assert '{"a": (1, 11), "b": (11, 1)}' in problem
    assert "if the operator has no such shapes, raise ValueError in output_shapes of" in problem


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    repository = generate(tmp_path_factory.mktemp("twice"), DESCRIPTION)
    for test in (repository.path / "tests").glob("test_*.py"):
        test.write_text(TESTS)
    reference = repository.path / "twice_reference.py"
    reference.write_text(reference.read_text().replace('np.array(inputs["x"])', '2 * inputs["x"]'))
    write(repository, RIGHT)
    repository.scons("check", "require_target=0")
    return repository


def write(repository: Repository, math: str) -> None:
    path = repository.path / "twice_compute.h"
    before, _, after = path.read_text().partition("    (void)params;\n")
    end = after[after.index("    return NULL;\n") :]
    begin = before.replace("#include", "#include <stdlib.h>\n#include <string.h>\n\n#include", 1)
    x, y = ("const struct opkit_tensor *x = &inputs->x", "struct opkit_tensor *y = &outputs->y")
    path.write_text(f"{begin}    (void)params;\n    {x};\n    {y};\n    {math}\n{end}")


@pytest.mark.slow
def test_right_kernel_is_quiet(generated: Repository) -> None:
    printed = generated.scons("check").stdout
    assert re.search(r"the CPU kernel also ran on \d\d shapes of the check's own\n", printed)
    notes = [line for line in printed.splitlines() if line.startswith(("note", "error"))]
    assert all("aarch64" in note or "simulation" in note for note in notes)
    for option in ("quick=1", "case=1x3x5x3-uniform"):
        assert "own" not in generated.scons(option, "check").stdout


@pytest.mark.slow
@pytest.mark.parametrize("math", slow_first(3, WRONG))
def test_wrong_kernel(generated: Repository, tmp_path: Path, math: str) -> None:
    elements, problem = WRONG[math]
    repository = generated.copy(tmp_path)
    write(repository, math)
    run = repository.scons("check", check=False)
    assert run.returncode != 0
    text = " ".join(run.stdout.split())
    assert "CPU kernel of Twice, with a shape of the check's own, " in text
    assert problem in text
    found = re.search(r"add it to the shapes of tests/test_twice\.py:4: ({.*?})", text)
    assert found
    (shape,) = ast.literal_eval(found[1]).values()
    assert elements <= prod(shape) <= 1.3 * elements


@pytest.mark.slow
@pytest.mark.nightly
def test_added_shape_repeats_the_failure(generated: Repository, tmp_path: Path) -> None:
    repository = generated.copy(tmp_path)
    write(repository, f"{RIGHT} if ({LAST} == 16) y->float32[0] = 9;")
    text = " ".join(repository.scons("check", check=False).stdout.split())
    (line,) = re.findall(r"add it to the shapes of tests/test_twice\.py:4: {(.*?)}", text)
    (problem,) = re.findall(r"the kernel gives 9.0, the reference (\S+)", text)
    (test,) = (repository.path / "tests").glob("test_*.py")
    test.write_text(test.read_text().replace("cases([", f"cases([{{{line}}}] + ["))
    printed = repository.scons("quick=1", "check", check=False).stdout
    assert f"reference {problem}" in " ".join(printed.split())


@pytest.mark.slow
@pytest.mark.nightly
def test_random_shapes(generated: Repository, tmp_path: Path) -> None:
    repository = generated.copy(tmp_path)
    printed = repository.scons("fuzz=70", "check").stdout
    (count,) = re.findall(r"also ran on (\d+) shapes", printed)
    assert int(count) >= 70 + 20
    write(repository, f"{RIGHT} if ({LAST} == 127 && x->size < 10000) y->float32[0] = 9;")
    printed = repository.scons("fuzz=500", "check", check=False).stdout
    (again,) = re.findall(r"the same shapes again: (fuzz=500:\d+)\n", printed)
    failure = printed[printed.index("with a shape of the check's own") :].partition("=====")[0]
    assert failure in repository.scons(again, "check", check=False).stdout
    refused = repository.scons("fuzz=many", "check", check=False)
    assert "fuzz: invalid 'many' (expected a number up to 99999, or N:SEED" in refused.stderr
