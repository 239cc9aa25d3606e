"""Operators that keep a name of ONNX's own: no class, and the vendor's own in the simulator."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import onnx
import pytest
import vermin
from click.testing import CliRunner
from onnx import TensorProto, helper

from opkit import repository, runtimes
from opkit.description.reader import DescriptionError
from opkit.runtimes import parse
from opkit.runtimes.rknn2.build import BUILD
from opkit.runtimes.rknn2.c_files import c_files
from opkit.runtimes.rknn2.converter_class import files
from opkit.runtimes.rknn2.describe import settings
from opkit.runtimes.rknn2.files import FILES, readme
from opkit.runtimes.rknn2.scons.deploy import lines
from opkit.runtimes.rknn2.toolkit2 import (
    LAST_OPSETS,
    LATER_OPERATORS,
    LIST_CONSTANTS,
    MAX_OPSET,
    ONNX_OPERATORS,
    opset_of,
)
from rknn_op.verbs.lint import command as lint
from tests.check.target_repositories import counts
from tests.marks import quick_first
from tests.repositories import ROOT, Repository, generate
from tests.runtimes.rknn2.test_simulator import toolkit_python

TENSORS = """\
inputs: {x: {type: VX_TYPE_TENSOR}, grid: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR}}
"""
GRID_SAMPLE = f"""\
name: GridSample
op_type: GridSample
runtimes: [rknn2]
{TENSORS}params:
  mode: {{type: string, default: bilinear}}
  align_corners: {{type: int, default: 0}}
"""
REFERENCE = '''\
"""Bilinear sampling with zeros outside of the image."""

import numpy as np


def output_shapes(input_shapes, params):
    if input_shapes["grid"][-1] != 2:
        raise ValueError("grid must have pairs")
    n, channels, _, _ = input_shapes["x"]
    return {"y": (n, channels, *input_shapes["grid"][1:3])}


def reference(inputs, params):
    x, grid = inputs["x"], inputs["grid"]
    height, width = x.shape[2:]
    columns = ((grid[..., 0] + 1) * width - 1) / 2
    rows = ((grid[..., 1] + 1) * height - 1) / 2
    batch = np.arange(len(x))[:, None, None]
    y = np.zeros(output_shapes({"x": x.shape, "grid": grid.shape}, params)["y"], np.float32)
    for row in (np.floor(rows), np.floor(rows) + 1):
        for column in (np.floor(columns), np.floor(columns) + 1):
            weight = (1 - abs(rows - row)) * (1 - abs(columns - column))
            weight *= (0 <= row) & (row < height) & (0 <= column) & (column < width)
            inside = row.clip(0, height - 1).astype(int), column.clip(0, width - 1).astype(int)
            y += weight[:, None] * x[batch, :, inside[0], inside[1]].transpose(0, 3, 1, 2)
    return {"y": y}
'''
MATH = r"""
#include <math.h>
#include "generated/gridsample.h"

static float pixel(const struct opkit_tensor *x, size_t plane, float row, float column)
{
    const size_t height = x->shape[2], width = x->shape[3];

    if (row < 0 || column < 0 || row >= (float)height || column >= (float)width) {
        return 0;
    }
    return x->float32[(plane * height + (size_t)row) * width + (size_t)column];
}

static const char *gridsample_compute(const struct gridsample_inputs *inputs,
                                      const struct gridsample_params *params,
                                      struct gridsample_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->x;
    const size_t channels = x->shape[1], points = outputs->y.shape[2] * outputs->y.shape[3];

    (void)params->mode;
    (void)params->align_corners;
    for (size_t i = 0; i < outputs->y.size; i++) {
        const size_t plane = i / points, image = plane / channels;
        const float *place = inputs->grid.float32 + 2 * (image * points + i % points);
        const float column = ((place[0] + 1) * (float)x->shape[3] - 1) / 2;
        const float row = ((place[1] + 1) * (float)x->shape[2] - 1) / 2;
        float sum = 0;

        for (int corner = 0; corner < 4; corner++) {
            const float r = floorf(row) + (float)(corner / 2);
            const float c = floorf(column) + (float)(corner % 2);
            sum += (1 - fabsf(row - r)) * (1 - fabsf(column - c)) * pixel(x, plane, r, c);
        }
        outputs->y.float32[i] = sum;
    }
    return NULL;
}
"""
TEST = """\
import pytest

from opkit.testing import cases, check_cpu_kernel, uniform

SHAPES = [{"x": (2, 3, 4, 5), "grid": (2, 3, 6, 2)}]
CASES = cases(SHAPES, [uniform(-1, 1)]) + cases(SHAPES, [uniform(-1.5, 1.5)], dtype="float32")
HUGE = cases(SHAPES, [uniform(-1e5, 1e5)], dtype="float32")


@pytest.mark.parametrize("case", CASES + HUGE, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=64, max_error=1e-6)
"""


# ---- The description -----------------------------------------------------------------------------


def described(op_type: str, runtimes: str = "rknn2") -> str:
    return f"name: Window\nruntimes: [{runtimes}]\nop_type: {op_type}\n{TENSORS}"


@pytest.mark.parametrize(
    ("op_type", "is_standard"),
    {
        "GridSample": True,
        "CumSum": True,
        "Scatter": True,
        "cstGridSample": False,
        "GridSample2": False,
        "grid_sample": False,
    }.items(),
)
def test_names(op_type: str, is_standard: bool) -> None:
    spec, found = runtimes.complaints(described(op_type))
    assert spec is not None
    assert settings(spec).is_standard == is_standard
    assert [each.severity for each in found] == ["note"] * is_standard


@pytest.mark.parametrize("op_type", ["gridsample", "GRIDSAMPLE", "Gridsample"])
def test_name_that_differs_in_case(op_type: str) -> None:
    spec, (complaint,) = runtimes.complaints(described(op_type))
    assert spec is not None
    assert not settings(spec).is_standard
    assert str(complaint) == (
        f"op.yml:3: op_type: {op_type} is not ONNX's GridSample: names of operators are "
        "case-sensitive; write GridSample, or a name that differs in more than case"
    )
    assert complaint.severity == "warning"


def test_operator_of_a_later_opset_is_refused() -> None:
    with pytest.raises(DescriptionError, match="'Gelu' is an operator of ONNX that opset 19 does"):
        parse(described("Gelu"))


@pytest.mark.parametrize("others", ["pplnn, rknn2", "rknn, rknn2"])
def test_other_runtimes_use_the_name(others: str) -> None:
    spec = parse(described("GridSample", others))
    assert settings(spec).op_type == "GridSample"
    assert spec.name == "Window"


def test_opsets_are_those_of_onnx() -> None:
    def has(op_type: str, opset: int) -> bool:
        try:
            return not onnx.defs.get_schema(op_type, opset, "").deprecated
        except onnx.defs.SchemaError:
            return False

    for name in ONNX_OPERATORS - LATER_OPERATORS:
        assert has(name, opset_of(name)), name
        assert opset_of(name) == MAX_OPSET or not has(name, opset_of(name) + 1), name
    assert not [name for name in LATER_OPERATORS for opset in range(1, 20) if has(name, opset)]
    assert {*LAST_OPSETS, *LATER_OPERATORS, *LIST_CONSTANTS} <= ONNX_OPERATORS


def test_note_of_lint(tmp_path: Path) -> None:
    path = tmp_path / "op.yml"
    path.write_text(GRID_SAMPLE)
    text = CliRunner().invoke(lint, [str(path)])
    assert text.exit_code == 0
    assert text.stdout.startswith(f"{path}:2: op_type: GridSample is an operator of ONNX: RKNN-")
    for part in ("would ignore a class", "librknnrt 2.x", "1.6.0 aborts in rknn_init"):
        assert part in text.stdout
    assert text.stderr == "no problems\n"
    github = CliRunner().invoke(lint, ["--format", "github", str(path)])
    assert github.stdout.startswith("::notice file=")


# ---- The files -----------------------------------------------------------------------------------


def test_files() -> None:
    generated = {path.removeprefix("rknn2/"): text for path, text in files_of(GRID_SAMPLE).items()}
    assert sorted(generated) == ["convert.py", "gridsample_node.py", "make_onnx.py"]
    assert "OPSET = 19" in generated["make_onnx.py"]
    assert "CLASSES = []  # none: the toolkit has its own GridSample" in generated["convert.py"]
    assert "CustomOp(" not in generated["convert.py"].replace("module.CustomOp()", "")
    for path, text in generated.items():
        assert vermin.detect(text)[1] <= (3, 8), path


def files_of(text: str) -> dict[str, str]:
    return dict(files(parse(text)))


def test_texts_name_the_runtime() -> None:
    assert '.op_type = "GridSample",' in c_files(parse(GRID_SAMPLE))["rknn2/gridsample_custom_op.c"]
    custom = GRID_SAMPLE.replace("op_type: GridSample\n", "")
    for text, is_standard in ((GRID_SAMPLE, True), (custom, False)):
        spec = parse(text)
        deployment = lines("build/rk3588/librkcst_gridsample.so", settings(spec).oldest_runtime)
        assert ("librknnrt 2.0.0 or later" in deployment) == is_standard
        assert ("librknnrt 1.6.0 or later" in deployment) != is_standard
        name = "GridSample" if is_standard else "cstGridSample"
        assert f"nodes `{name}` (inputs: x, grid) |" in readme(spec).commands
        notes = BUILD.notes(spec)
        assert ("needs librknnrt 2.x (1.6.0 aborts in rknn_init)" in notes) == is_standard
        assert bool(FILES.texts(spec).converter) != is_standard


def test_scripts_are_clean(tmp_path: Path) -> None:
    longest = max(ONNX_OPERATORS - LATER_OPERATORS, key=len)
    for path, text in files_of(
        GRID_SAMPLE.replace("op_type: GridSample", f"op_type: {longest}")
    ).items():
        (tmp_path / Path(path).name).write_text(text)
    ruff = [sys.executable, "-m", "ruff"]
    options = ["--isolated", "--no-cache", "--line-length=100", str(tmp_path)]
    for arguments in (["format", "--check"], ["check", "--select=E,F,W,B,UP,SIM", "--ignore=B905"]):
        result = subprocess.run(
            [*ruff, *arguments, "--target-version=py38", *options],
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, result.stdout + result.stderr


CLASS = "rknn2/gridsample_custom_op.py"
NODE = "rknn2/gridsample_node.py"


def test_switch_and_back(tmp_path: Path) -> None:
    made = generate(tmp_path, GRID_SAMPLE.replace("op_type: GridSample\n", "")).path
    op_yml = made / "op.yml"
    custom = op_yml.read_text()
    (made / "rknn2/notes.md").write_text("the user's\n")
    mine = {
        path: path.read_bytes()
        for path in (*made.glob("gridsample_*"), *made.glob("tests/*.py"), made / "rknn2/notes.md")
    }
    assert len(mine) >= 4
    before = {path: path.read_bytes() for path in made.rglob("*.*") if path.is_file()}
    assert (made / CLASS).is_file()
    op_yml.write_text(f"{custom}op_type: GridSample\n")
    repository.update(made)
    assert (made / NODE).is_file()
    assert not (made / CLASS).exists()
    assert {path: path.read_bytes() for path in mine} == mine
    op_yml.write_text(custom)
    repository.update(made)
    assert {path: path.read_bytes() for path in made.rglob("*.*") if path.is_file()} == before


# ---- The scripts, without the toolkit ------------------------------------------------------------


def write(folder: Path, text: str, reference: str) -> Path:
    """Write a repository's files for the converter."""
    (folder / "rknn2").mkdir(parents=True)
    (folder / "op.yml").write_text(text)
    (folder / f"{parse(text).lower}_reference.py").write_text(reference)
    for path, content in files_of(text).items():
        (folder / path).write_text(content)
    return folder


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-B", "rknn2/make_onnx.py", "m.onnx", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_model_of_one_node(tmp_path: Path) -> None:
    made = make(write(tmp_path / "r", GRID_SAMPLE, REFERENCE), "x=1x2x4x5", "grid=1x3x3x2")
    assert made.stdout == "wrote m.onnx\n", made.stderr
    model = onnx.load(tmp_path / "r/m.onnx")
    (node,) = model.graph.node
    assert (node.op_type, node.domain, list(node.input)) == ("GridSample", "", ["x", "grid"])
    assert [(each.domain, each.version) for each in model.opset_import] == [("", 19)]
    assert model.ir_version == 7
    attributes = {each.name: helper.get_attribute_value(each) for each in node.attribute}
    assert attributes == {"mode": b"bilinear", "align_corners": 0}


CONSTANTS = {
    "TopK": ("k", "int", "k=2", [2]),
    "CumSum": ("axis", "int", "axis=1", 1),
    "Tile": ("repeats", "ints", "repeats=1,2", [1, 2]),
}


@pytest.mark.parametrize("op_type", CONSTANTS)
def test_constants_are_initializers(op_type: str, tmp_path: Path) -> None:
    _, _, argument, value = CONSTANTS[op_type]
    made = make(
        write(tmp_path / "r", constant_text(op_type), CONSTANT_REFERENCE), "x=2x3", argument
    )
    assert made.stdout == "wrote m.onnx\n", made.stderr
    (tensor,) = onnx.load(tmp_path / "r/m.onnx").graph.initializer
    array = onnx.numpy_helper.to_array(tensor)
    assert array.tolist() == value
    assert array.dtype.name == "int64"


def constant_text(op_type: str) -> str:
    name, type_, _, _ = CONSTANTS[op_type]
    outputs = "y: {type: VX_TYPE_TENSOR}"
    if op_type == "TopK":
        outputs += ", indices: {type: VX_TYPE_TENSOR, dtype: int64}"
    return (
        f"name: Constants\nop_type: {op_type}\nruntimes: [rknn2]\n"
        f"inputs: {{x: {{type: VX_TYPE_TENSOR}}}}\noutputs: {{{outputs}}}\n"
        f"params: {{{name}: {{type: {type_}, source: 'const:{name}'}}}}\n"
    )


CONSTANT_REFERENCE = """\
import numpy as np


def output_shapes(input_shapes, params):
    rows, columns = input_shapes["x"]
    if "k" in params:
        return {"y": (rows, params["k"]), "indices": (rows, params["k"])}
    factors = params.get("repeats", (1, 1))
    return {"y": (rows * factors[0], columns * factors[1])}


def reference(inputs, params):
    if "axis" in params:
        return {"y": np.cumsum(inputs["x"], params["axis"])}
    return {"y": np.tile(inputs["x"], params["repeats"])}
"""
REFUSALS = {
    "another default": (
        GRID_SAMPLE.replace("default: 0", "default: 1"),
        "op.yml: params.align_corners.default is 1, but 0 in ONNX, which a node without the",
    ),
    "another text": (
        GRID_SAMPLE.replace("default: bilinear", "default: nearest"),
        "op.yml: params.mode.default is nearest, but bilinear in ONNX",
    ),
    "unknown attribute": (
        GRID_SAMPLE + "  border: {type: int, default: 0}\n",
        "not ONNX's GridSample of opset 19: Unrecognized attribute: border",
    ),
    "too many inputs": (
        GRID_SAMPLE.replace("inputs: {", "inputs: {more: {type: VX_TYPE_TENSOR}, "),
        "not ONNX's GridSample of opset 19: ",
    ),
}


@pytest.mark.parametrize("name", quick_first(1, REFUSALS))
def test_description_that_is_not_onnx(name: str, tmp_path: Path) -> None:
    text, problem = REFUSALS[name]
    shapes = ["x=1x2x4x5", "grid=1x3x3x2", *(["more=1"] if "more" in text else [])]
    made = make(write(tmp_path / "r", text, REFERENCE), *shapes)
    assert made.returncode == 1
    assert made.stderr.startswith(f"error: {problem}")
    assert made.stderr.count("\n") == 1


def custom_model() -> Any:
    value = helper.make_tensor_value_info
    node = helper.make_node("cstGridSample", ["x", "grid"], ["y"], domain="rknn_cst")
    tensors = [value("x", TensorProto.FLOAT, [1, 2, 4, 5]), value("grid", 1, [1, 3, 3, 2])]
    graph = helper.make_graph([node], "g", tensors, [value("y", 1, [1, 2, 3, 3])])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("rknn_cst", 1)])


def test_rename_back(tmp_path: Path) -> None:
    folder = write(tmp_path / "r", GRID_SAMPLE, REFERENCE)
    onnx.save(custom_model(), folder / "old.onnx")
    made = make(folder, "--from", "old.onnx", "--rename", "cstGridSample")
    assert made.stdout == "wrote m.onnx\n", made.stderr
    model = onnx.load(folder / "m.onnx")
    assert (model.graph.node[0].op_type, model.graph.node[0].domain) == ("GridSample", "")
    assert ("", 19) in [(each.domain, each.version) for each in model.opset_import]
    onnx.checker.check_model(model)


# ---- The toolkit ---------------------------------------------------------------------------------


def script(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [toolkit_python(), "-B", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_scripts_with_the_toolkit(tmp_path: Path) -> None:
    folder = write(tmp_path / "r", GRID_SAMPLE, REFERENCE)
    made = script(folder, "rknn2/make_onnx.py", "m.onnx", "x=2x3x4x5", "grid=2x3x6x2")
    assert made.stdout == "wrote m.onnx\n", made.stderr
    converted = script(folder, "rknn2/convert.py", "m.onnx", "--target", "rk3568")
    agree = "m_rk3568.rknn: RKNN-Toolkit2's own GridSample and the reference agree\n"
    assert agree in converted.stdout, converted.stderr
    assert b"GridSample" in (folder / "m_rk3568.rknn").read_bytes()
    path = folder / "gridsample_reference.py"
    path.write_text(REFERENCE.replace("grid[..., 0] + 1", "grid[..., 0] + 2"))
    wrong = script(folder, "rknn2/convert.py", "m.onnx")
    assert wrong.returncode == 1
    assert "error: 'y' of RKNN-Toolkit2's own GridSample differs from the" in wrong.stderr


CUSTOM = """\
name: Halved
runtimes: [rknn2]
inputs: {a: {type: VX_TYPE_TENSOR}}
outputs: {b: {type: VX_TYPE_TENSOR, same_as: a}}
"""
HALF = """\
def output_shapes(input_shapes, params):
    return {"b": input_shapes["a"]}


def reference(inputs, params):
    return {"b": inputs["a"] / 2}
"""
CONVERSIONS = """\
import json, sys
import onnx
from onnx import helper
sys.path.insert(0, "rknn2")
import convert, make_onnx

def one_node():
    tensors = {"x": ([1, 2, 4, 5], "float32"), "grid": ([1, 3, 3, 2], "float32")}
    return make_onnx.make_model(tensors, {})


model = one_node()
model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "N"
onnx.save(model, "dynamic.onnx")
results = {}
try:
    with convert.Converter([]).converted("dynamic.onnx", "rk3588"):
        pass
except convert.ConversionError as error:
    results["dynamic"] = str(error)
half = helper.make_node("cstHalved", ["y"], ["b"], domain="rknn_cst")
model = one_node()
model.graph.node.append(half)
model.graph.output[0].name = "b"
model.opset_import.append(helper.make_opsetid("rknn_cst", 1))
onnx.save(model, "both.onnx")
del model.graph.node[0]
onnx.save(model, "without.onnx")
print(json.dumps(results))
"""


@pytest.mark.slow
def test_other_operators_and_refusals(tmp_path: Path) -> None:
    folder = write(tmp_path / "r", GRID_SAMPLE, REFERENCE)
    write(tmp_path / "half", CUSTOM, HALF)
    made = script(folder, "-c", CONVERSIONS)
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout.splitlines()[-1])["dynamic"] == (
        "input 'x' has the shape [0, 2, 4, 5], with sizes that are not fixed; a custom operator "
        "with such a shape crashes on the board"
    )
    both = script(
        folder, "rknn2/convert.py", "both.onnx", "--custom-op", "../half/rknn2/halved_custom_op.py"
    )
    assert "both_rk3588.rknn: simulated, outputs [1, 2, 3, 3]; not compared" in both.stdout, (
        both.stderr
    )
    without = script(folder, "rknn2/convert.py", "without.onnx")
    assert without.stderr.endswith("error: the model has no node of the type GridSample\n")


@pytest.fixture(scope="module")
def grid_sample(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    made = generate(tmp_path_factory.mktemp("standard"), GRID_SAMPLE)
    for path, text in {
        "gridsample_reference.py": REFERENCE,
        "gridsample_compute.h": MATH,
        "tests/test_gridsample.py": TEST,
    }.items():
        assert (made.path / path).is_file()
        (made.path / path).write_text(text)
    return made


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.slow
def test_scons_check_compares_with_the_vendors(grid_sample: Repository) -> None:
    checked = grid_sample.scons("check", f"rknn2_python={toolkit_python()}")
    assert "note: op.yml:3: op_type: GridSample is an operator of ONNX" in checked.stderr
    text = words(checked.stdout)
    assert counts(checked.stdout) == {"CPU kernel": 3, "vendor's GridSample, rk3588": 2}
    assert "note: 1 of 3 cases left out on vendor's GridSample, rk3588" in text
    assert (
        "vendor's GridSample, rk3588 leaves out cases with numbers beyond float16, the simulator's"
    ) in text


@pytest.mark.slow
@pytest.mark.nightly
def test_wrong_reference_differs_from_the_vendors(grid_sample: Repository, tmp_path: Path) -> None:
    """The math has the same error, as in an operator that misreads ONNX's definition."""
    copy = Repository(tmp_path / "GridSample")
    shutil.copytree(grid_sample.path, copy.path)
    for path, old, new in (
        (
            "gridsample_reference.py",
            "(grid[..., 0] + 1) * width - 1)",
            "(grid[..., 0] + 1) * (width - 1))",
        ),
        (
            "gridsample_compute.h",
            "(place[0] + 1) * (float)x->shape[3] - 1)",
            "(place[0] + 1) * (float)(x->shape[3] - 1))",
        ),
    ):
        file = copy.path / path
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new))
    checked = copy.scons("check", f"rknn2_python={toolkit_python()}", check=False)
    assert checked.returncode == 2
    text = words(checked.stdout + checked.stderr)
    assert "2 of 2 cases on the vendor's GridSample, rk3588: wrong elements in output 'y'" in text
    assert re.search("the vendor's GridSample gives .*, the reference ", text)
    assert "the simulator ran the vendor's own GridSample, not the reference: check the" in text
    assert counts(checked.stdout)["CPU kernel"] == 3


@pytest.mark.slow
@pytest.mark.nightly
def test_bundle_with_a_custom_operator(grid_sample: Repository, tmp_path: Path) -> None:
    copy = tmp_path / "GridSample"
    shutil.copytree(grid_sample.path, copy)
    halved = generate(tmp_path, CUSTOM).path
    (halved / "halved_reference.py").write_text(HALF)
    made = script(copy, "-c", CONVERSIONS)
    assert made.returncode == 0, made.stderr
    arguments = ["--target", "rk3588", "--abi", "aarch64", "-o", str(tmp_path / "out")]
    model = ["--model", str(copy / "both.onnx"), "--toolkit", toolkit_python()]
    result = subprocess.run(
        [sys.executable, "-m", "rknn_op", "bundle", str(halved), str(copy), *arguments, *model],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert b"GridSample" in (tmp_path / "out/model.rknn").read_bytes()
    assert "needs librknnrt 2.0.0 or later" in (tmp_path / "out/README.md").read_text()
    assert b"\0GridSample\0" in (tmp_path / "out/lib/aarch64/libcustom_ops.a").read_bytes()
