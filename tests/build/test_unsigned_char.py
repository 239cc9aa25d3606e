"""A char is unsigned in C, as on the devices, and signed in .vx files, as in OpenCL."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.check.target_repositories import counts, need
from tests.repositories import Repository, generate

DESCRIPTION = """\
name: Letter
runtimes: [rknn, pplnn, rknn2]
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR, same_as: x}}
params: {letter: {type: VX_TYPE_CHAR}}
"""
REFERENCE = """\
import numpy as np


def output_shapes(input_shapes, params):
    return {"y": input_shapes["x"]}


def reference(inputs, params):
    return {"y": np.full_like(inputs["x"], params["letter"])}
"""
UNSIGNED = "typedef int char_is_unsigned[(char)-1 > 0 ? 1 : -1];\n"
"""A static assertion for both C11 and C++11."""
MATH = """\
for (size_t i = 0; i < outputs->y.size; i++) {
        const char letter = (char)params->letter;
        outputs->y.float32[i] = letter;
    }
    return NULL;"""
CASES = """\
import pytest

from opkit.testing import cases, check_cpu_kernel, uniform

LETTERS = [{"letter": number} for number in (127, 128, 200, 255)]
CASES = cases([{"x": (3,)}], [uniform(-1, 1)], LETTERS)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)
"""


@pytest.fixture(scope="module")
def letter(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    repository = generate(tmp_path_factory.mktemp("letter"), DESCRIPTION)
    root = repository.path
    (root / "letter_reference.py").write_text(REFERENCE)
    compute = root / "letter_compute.h"
    text = compute.read_text().replace("return NULL;", MATH)
    compute.write_text(text.replace("#include", f"{UNSIGNED}#include", 1))
    (root / "src").mkdir()
    for name in ("more.c", "more.cpp"):
        (root / "src" / name).write_text(UNSIGNED)
    with (root / "op.yml").open("a") as file:
        file.write("sources: [src/more.c, src/more.cpp]\nkernels: [cpu]\n")
    (root / "tests/test_letter.py").write_text(CASES)
    return repository


@pytest.mark.slow
@pytest.mark.nightly
def test_params_from_128(letter: Repository) -> None:
    need("gcc", "gcc")
    run = letter.scons("check", "quick=1", "sanitize=undefined", path=os.environ["PATH"])
    assert run.returncode == 0
    kernels = ("pplnn", "rknn2", "undefined")
    expected = dict.fromkeys(["CPU kernel", *(f"CPU kernel, {name}" for name in kernels)], 4)
    found = counts(run.stdout)
    assert {name: found.get(name) for name in expected} == expected


@pytest.mark.slow
def test_every_target(letter: Repository) -> None:
    letter.scons("target=all")


@pytest.mark.slow
@pytest.mark.nightly
def test_makefile(letter: Repository) -> None:
    need("make", "make")
    need("gcc", "gcc")
    letter.scons("target=x64")
    subprocess.run(["make", "-f", "makefile.linux.x64"], cwd=letter.path, check=True)


@pytest.mark.slow
def test_char_of_vx_kernel_is_signed(copy_of_fresh: Repository) -> None:
    kernel = copy_of_fresh.path / "rknn_kernel_myoperator.vx"
    signed = UNSIGNED.replace("unsigned", "signed").replace(">", "<")
    kernel.write_text(f"{signed}{kernel.read_text()}")
    assert counts(copy_of_fresh.scons("check").stdout)["VX kernel"] == 6
