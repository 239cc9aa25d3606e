"""docs/pytorch.md with real PyTorch: its examples run, and its models are scanned.

PyTorch is optional and may be in another Python, with onnx and onnxscript.
"""

from __future__ import annotations

import importlib.util
import json
import os
import runpy
import shlex
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from click.testing import CliRunner, Result

from rknn_op.cli import main
from tests.models.architecture_table import TOOLKIT_VARIABLE, run_elsewhere, with_torch
from tests.pages import assert_printed, blocks, console
from tests.repositories import ROOT
from tests.rknn_op.command import process

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs/pytorch.md").read_text()
PROGRAM = Path(__file__).with_name("torch_models.py")
SEQUENCES = PROGRAM.with_name("torch_sequences.py")
TOOLKIT = os.environ.get(TOOLKIT_VARIABLE, "")
PYTHON_VARIABLE = "RKNN_OP_TORCH_PYTHON"
REQUIRE_VARIABLE = "RKNN_OP_REQUIRE_TORCH"
ADVICE = (
    "no Python with PyTorch. Run `pip install torch onnxscript`, or "
    f"`{PYTHON_VARIABLE}=$(.ci/torch_environment .venv-torch) pytest`"
)


@pytest.fixture(scope="session")
def torch_python() -> str:
    """Return the Python that has PyTorch."""
    is_here = all(importlib.util.find_spec(name) for name in ("torch", "onnxscript"))
    python = os.environ.get(PYTHON_VARIABLE) or (sys.executable if is_here else "")
    if not python and os.environ.get(REQUIRE_VARIABLE) == "1":
        pytest.fail(ADVICE)
    if not python:
        pytest.skip(ADVICE)
    return python


@pytest.fixture(scope="module")
def page(torch_python: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which the page's programs ran."""
    folder = tmp_path_factory.mktemp("page")
    for text in blocks("python", PAGE):
        name = text.partition("\n")[0].removeprefix("# ")
        (folder / name).write_text(text)
        run_elsewhere(torch_python, name, cwd=folder)
    return folder


@pytest.fixture(scope="module")
def exported(torch_python: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the models that PyTorch exported."""
    folder = tmp_path_factory.mktemp("exported")
    run_elsewhere(torch_python, PROGRAM, folder)
    return folder


def scan(*arguments: object) -> Result:
    """Run the command."""
    return CliRunner().invoke(main, ["scan", *map(str, arguments)])


def missing(file: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(scan(file, "--json").stdout)["missing"]
    return found


# ---- The page ------------------------------------------------------------------------------------


def test_commands_of_the_page(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(page)
    (export, _), (command, expected) = console(PAGE)
    assert export == "python export.py"
    program, verb, *arguments = shlex.split(command)
    assert (program, verb) == ("rknn-op", "scan")
    assert_printed(expected, scan(*arguments).stdout)


@pytest.mark.parametrize("file", ["model.onnx", "model_dynamo_false.onnx"])
def test_node_of_an_operator_of_pytorch(page: Path, file: str) -> None:
    [operator] = missing(page / file)
    assert (operator["domain"], operator["op_type"]) == ("com.example", "SoftClip")
    [node] = operator["nodes"]
    for tensor in (*node["inputs"], *node["outputs"]):
        assert (tensor["shape"], tensor["dtype"]) == ([1, 8, 6, 6], "float32")
    assert node["attributes"] == {"limit": 2.0}
    proto = onnx.load(page / file)
    onnx.checker.check_model(proto)
    assert not proto.functions


def test_recorded_tensors(page: Path, tmp_path: Path) -> None:
    """PyTorch's case has the names of the case that `create` records, and the outputs too."""
    repository = tmp_path / "soft_clip"
    options = ["--from", page / "model.onnx", "--op", "SoftClip", "-p", repository]
    result = CliRunner().invoke(main, ["create", *map(str, options)])
    assert result.exit_code == 0, result.output
    [created] = (repository / "tests/data").glob("*.npz")
    with np.load(created) as expected, np.load(page / "pytorch.npz") as found:
        assert set(found) == {*expected, "outputs/output"}
        assert json.loads(str(found["params"])) == json.loads(str(expected["params"]))
        x, y = found["inputs/input"], found["outputs/output"]
        assert (x.shape, x.dtype) == (expected["inputs/input"].shape, np.float32)
    np.testing.assert_allclose(y, 2 * np.tanh(x / 2), rtol=1e-5)
    tests = (repository / "tests/test_softclip_model.py").read_text()
    assert 'recorded("data"' in tests


# ---- Models --------------------------------------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.parametrize("suffix", ["", "_old"])
@pytest.mark.parametrize(
    ("name", "expected"),
    [("detection_head", ["GridSample"]), ("text_encoder", []), ("audio", ["STFT"])],
)
def test_exported_models(exported: Path, name: str, suffix: str, expected: list[str]) -> None:
    file = exported / f"{name}{suffix}.onnx"
    if (name, suffix) == ("audio", "_old"):  # the older exporter does not know complex numbers
        assert not file.exists()
        return
    onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    assert [each["op_type"] for each in missing(file)] == expected
    nodes = [node for each in missing(file) for node in each["nodes"]]
    shapes = [tensor["shape"] for node in nodes for tensor in (*node["inputs"], *node["outputs"])]
    assert all(isinstance(size, int) for shape in shapes for size in shape)


# ---- Models of sequences, with the library's operators -------------------------------------------


@pytest.fixture(scope="module")
def sequences(torch_python: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the models of sequences, and of a toolkit with torch."""
    folder = tmp_path_factory.mktemp("sequences")
    run_elsewhere(torch_python, SEQUENCES, folder)
    if TOOLKIT:
        with_torch(TOOLKIT, torch_python, folder / "toolkit")
    return folder


def assert_grafted(folder: Path, name: str, operators: dict[str, int]) -> None:
    """Check and graft the operators of a model; count their nodes, which have equal outputs."""
    roots = [f"{name}/{each}" for each in operators]
    checked = process("check", "-p", *roots, cwd=folder)
    assert checked.returncode == 0, checked.stdout
    options = ["--toolkit", "toolkit/python"] if TOOLKIT else []
    done = process(
        "graft", f"{name}.onnx", "-p", *roots, "-o", f"{name}_out.onnx", *options, cwd=folder
    )
    assert done.returncode == 0, done.stdout + done.stderr
    tables = [
        text.splitlines()[2:] for text in done.stdout.split("\n\n") if text.startswith("Each")
    ]
    [lines] = tables
    assert all(line.endswith(" equal") for line in lines)
    grafted = onnx.load(folder / f"{name}_out.onnx")
    assert [each.version for each in grafted.opset_import if not each.domain] == [19]
    types = [node.op_type for node in grafted.graph.node]
    assert {each: types.count(f"cst{each}") for each in operators} == operators
    assert (folder / f"{name}_out.rknn").exists() == bool(TOOLKIT)


@pytest.mark.nightly
def test_vision_transformer(sequences: Path) -> None:
    """From opset 23 on, attention is one node; the converter reads opset 19."""
    made = process("create", "--from", "vit.onnx", "--all", "-p", "vit", cwd=sequences)
    assert made.returncode == 0, made.stderr
    assert_grafted(sequences, "vit", {"Attention": 2, "Gelu": 2})
    options = ["--toolkit", "toolkit/python"] if TOOLKIT else []
    done = process("rewrite", "vit.onnx", "-o", "rewritten.onnx", *options, cwd=sequences)
    assert done.returncode == 0, done.stdout + done.stderr
    types = {node.op_type for node in onnx.load(sequences / "rewritten.onnx").graph.node}
    assert types.isdisjoint({"Attention", "Gelu"})


def test_mamba(sequences: Path) -> None:
    """An operator of an own domain may be the library's: create says how to take it."""
    tried = process("create", "--from", "mamba.onnx", "--all", "-p", "draft", cwd=sequences)
    command = "rknn-op create --library SelectiveScan"
    assert command in " ".join(tried.stdout.split())
    made = process(*command.split()[1:], "-p", "mamba/SelectiveScan", cwd=sequences)
    assert made.returncode == 0, made.stderr
    assert_grafted(sequences, "mamba", {"SelectiveScan": 2})
    reference = runpy.run_path(str(sequences / "mamba/SelectiveScan/selectivescan_reference.py"))
    with np.load(sequences / "call.npz") as call:
        found = reference["reference"](dict(call), {"delta_softplus": 1})
        for name in ("y", "present_state"):  # PyTorch's, in a plain loop
            np.testing.assert_allclose(found[name], call[name], rtol=1e-4, atol=1e-4)
