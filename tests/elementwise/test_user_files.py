"""The user's files of an elementwise operator: complaints about them, and a check as generated."""

from __future__ import annotations

import runpy
import shutil
from pathlib import Path

import numpy as np
import pytest

from opkit.files.source_check import unknown_names, unread_params
from opkit.runtimes import parse
from rknn_op.upkeep.linting import lint
from tests.check.target_repositories import counts
from tests.elementwise.loops import scalar_file
from tests.files.texts import generated_files, once_only_files
from tests.repositories import Repository, generate

DESCRIPTION = """\
name: Blend
runtimes: [rknn, rknn2, pplnn]
elementwise: true
inputs: {x: {type: VX_TYPE_TENSOR}, y: {type: VX_TYPE_TENSOR, doc: added}}
outputs: {output: {type: VX_TYPE_TENSOR}}
params: {gain: {type: VX_TYPE_FLOAT32, default: 1.5}}
"""
SPEC = parse(DESCRIPTION)


def complaints(folder: Path, body: str) -> list[str]:
    """Return the complaints about a body of the function."""
    own = once_only_files(SPEC)
    for path in ("blend_reference.py", "blend_scalar.h"):
        (folder / path).write_text(own[path])
    if body:
        (folder / "blend_scalar.h").write_text(scalar_file(SPEC, body))
    return [str(each) for each in (*unknown_names(folder, SPEC), *unread_params(folder, SPEC))]


def test_params_of_the_function(tmp_path: Path) -> None:
    assert complaints(tmp_path, "") == []
    assert complaints(tmp_path, "return x * params->gain + y;") == []
    (unread,) = complaints(tmp_path, "return x + y;")
    assert unread.startswith("blend_scalar.h: param 'gain' is not read; ")
    (unknown,) = complaints(tmp_path, "return x * params->gain + params->bias;")
    assert "'bias' is not in the params" in unknown
    assert unknown.startswith("blend_scalar.h:")


def test_skeleton_of_the_function() -> None:
    text = once_only_files(SPEC)["blend_scalar.h"]
    declaration = (
        "static inline float blend_of(float x, float y, const struct blend_params *params)"
    )
    assert f"\n{declaration}\n{{\n" in text
    assert " *   y             added\n" in text
    assert "/* Write the real math here. Until then, the result is the first input. */" in text


@pytest.mark.parametrize(
    ("dtypes", "output", "declaration", "result"),
    [
        (["int32", "int64"], "int32", "int32_t a_of(int32_t i0, int64_t i1,", "return i0;"),
        (["bool", "uint8"], "bool", "bool a_of(bool i0, uint8_t i1,", "return i0;"),
        (["float16", "int16"], "int8", "int8_t a_of(float i0, int16_t i1,", "return 0;"),
    ],
)
def test_types_of_the_function(
    dtypes: list[str], output: str, declaration: str, result: str
) -> None:
    inputs = ", ".join(
        f"i{index}: {{type: VX_TYPE_TENSOR, dtype: {dtype}}}" for index, dtype in enumerate(dtypes)
    )
    spec = parse(
        f"name: A\nruntimes: [pplnn]\nelementwise: true\ninputs: {{{inputs}}}\n"
        f"outputs: {{y: {{type: VX_TYPE_TENSOR, dtype: {output}}}}}\n"
    )
    text = once_only_files(spec)["a_scalar.h"]
    assert declaration in text
    assert f"    {result}\n" in text


def test_reference_of_the_skeleton(tmp_path: Path) -> None:
    """It knows the shape of the output, without memory of that size."""
    (tmp_path / "reference.py").write_text(once_only_files(SPEC)["blend_reference.py"])
    functions = runpy.run_path(str(tmp_path / "reference.py"))
    shapes = {"x": (2**40, 1, 3), "y": [5, 1]}
    assert functions["output_shapes"](shapes, {}) == {"output": (2**40, 5, 3)}
    with pytest.raises(ValueError, match="broadcast"):
        functions["output_shapes"]({"x": (2,), "y": (3,)}, {})
    arrays = {"x": np.arange(3.0).reshape(3, 1), "y": np.ones(2)}
    (result,) = functions["reference"](arrays, {}).values()
    np.testing.assert_array_equal(result, [[0, 0], [1, 1], [2, 2]])


def test_readme_names_the_files() -> None:
    own = once_only_files(SPEC)
    yours, _, generated = own["README.md"].partition("* Yours")[2].partition("* Generated")
    assert "`blend_scalar.h`" in yours
    assert "`rknn_kernel_blend.vx`" not in yours
    assert "`rknn_kernel_blend.vx`" in generated
    assert "/pplnn/blend_shapes.h linguist-generated" in own[".gitattributes"]
    assert "/rknn_kernel_blend.vx linguist-generated" in own[".gitattributes"]


def test_an_operator_without_the_key_has_no_such_file() -> None:
    spec = parse(DESCRIPTION.replace("elementwise: true", "elementwise: false"))
    own = once_only_files(spec)
    assert {"blend_compute.h", "pplnn/blend_shapes.h", "rknn_kernel_blend.vx"} <= {*own}
    assert "blend_scalar.h" not in own
    assert "generated/blend_compute.h" not in generated_files(spec, own["blend_reference.py"])


MATH = "return x * params->gain + fmaxf(y, 0.0f);"
REFERENCE = '    return {"output": np.array(arrays[0])}'
REAL_REFERENCE = """\
    gain = np.float32(params["gain"])
    with np.errstate(invalid="ignore", over="ignore"):
        return {"output": arrays[0] * gain + np.fmax(arrays[1], np.float32(0))}"""


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return generate(tmp_path_factory.mktemp("blend"), DESCRIPTION)


def test_lint(repository: Repository) -> None:
    scalar, compute = (repository.path / f"blend_{name}.h" for name in ("scalar", "compute"))
    before = scalar.read_text()
    scalar.write_text(scalar_file(SPEC, "return x * params->gain + strlen(y);"))
    (found,) = lint(repository.path)
    assert found.file == str(scalar)
    assert found.line is not None
    assert scalar.read_text().splitlines()[found.line - 1].lstrip().startswith("return x")
    assert found.problem == "rknn_kernel_blend.vx: `strlen` does not exist in OpenCL C"
    scalar.write_text(before)
    compute.write_text("")
    (found,) = lint(repository.path)
    compute.unlink()
    assert (found.file, found.field) == (str(repository.path / "op.yml"), "elementwise")
    line = (repository.path / "op.yml").read_text().splitlines()[(found.line or 0) - 1]
    assert line == "elementwise: true"
    assert found.column == len("elementwise: ") + 1
    assert found.problem.startswith("blend_compute.h has the math of whole tensors")
    assert lint(repository.path) == []


@pytest.mark.slow
@pytest.mark.nightly
def test_check(repository: Repository) -> None:
    """As generated, with real math, and without the key, on all runtimes."""
    path = repository.path
    kernels = {"CPU kernel", "CPU kernel, rknn2", "CPU kernel, pplnn", "VX kernel"}
    run = repository.scons("quick=1", "check").stdout
    assert {*counts(run)} == kernels

    (path / "blend_scalar.h").write_text(
        scalar_file(SPEC, MATH).replace('#include "g', '#include <math.h>\n\n#include "g')
    )
    failed = repository.scons("quick=1", "check", check=False)
    assert failed.returncode != 0  # the reference still returns x
    reference = path / "blend_reference.py"
    reference.write_text(reference.read_text().replace(REFERENCE, REAL_REFERENCE))
    repository.scons("quick=1", "check")
    repository.scons("quick=1", "check", "mutate=4")

    own = path.with_name("own")
    shutil.copytree(path, own, ignore=shutil.ignore_patterns("build"))
    description = own / "op.yml"
    description.write_text(description.read_text().replace("elementwise: true\n", ""))
    run = Repository(own).scons("quick=1", "check").stdout
    assert "write blend_compute.h: op.yml has no `elementwise: true` any more" in run
    assert {*counts(run)} == kernels


@pytest.mark.slow
def test_words_that_vx_kernels_lack_stop_the_build(repository: Repository) -> None:
    scalar = repository.path / "blend_scalar.h"
    before = scalar.read_text()
    scalar.write_text(before.replace("return ", 'return (float)strlen("") + '))
    run = repository.scons("quick=1", "check", check=False)
    scalar.write_text(before)
    assert run.returncode == 2
    assert "rknn_kernel_blend.vx: `strlen` does not exist in OpenCL C" in run.stderr
