"""`rknn-op graft --quantize`: the int8 model of a graft, through the command."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from onnx import TensorProto, helper

from rknn_op.cli import main
from rknn_op.models.grafting.closeness import closeness
from tests.models.models import constant, model, saved, value
from tests.models.test_graft import (
    SOURCES,
    TOOLKIT,
    chain,
    detector,
    graft,
    made,
    needs_toolkit,
    refused,
    repositories,
    weights,
)
from tests.pages import assert_printed, blocks, console
from tests.repositories import ROOT

__all__ = ["repositories"]

PAGE = (ROOT / "docs/quantized.md").read_text()


# ---- The comparison ------------------------------------------------------------------------------

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("actual", "expected", "found"),
    [
        ([3, 4], [3, 4], (1, 0, 0)),
        ([1, 0], [0, 1], (0, 1, 1)),
        ([2, 1, 2], [1, 2, 2], (8 / 9, 1, 2 / 3)),
        ([-1, -1], [1, 1], (-1, 2, 2)),
        ([0, 0], [0, 0], (1, 0, 0)),
        ([0, 0], [0, 3], (0, 3, 1.5)),
        ([INF, NAN, 4], [INF, NAN, 2], (1, 2, 2 / 3)),
        ([INF, 4], [3, 4], (1, INF, INF)),
        ([NAN, 4], [3, 4], (1, INF, INF)),
        ([], [], (1, 0, 0)),
    ],
)
def test_closeness(
    actual: list[float], expected: list[float], found: tuple[float, float, float]
) -> None:
    result = closeness(np.array(actual, np.float32), np.array(expected, np.float32))
    assert (result.cosine, result.largest, result.mean) == pytest.approx(found)


# ---- The command, with a script in place of the toolkit ------------------------------------------

FAKE = """\
#!{python}
import json, sys
from pathlib import Path
import numpy as np

work = json.loads(Path(sys.argv[2]).read_text())
Path("{log}").open("a").write(json.dumps(work) + "\\n")
if work["step"] == "calibrate":
    parameters = {{"b": ["b", 0.01, -128], "t1": ["t1_int8", 0.5, -4]}}
    Path(work["parameters"]).write_text(json.dumps(parameters))
else:
    folder = Path(work["results"])
    folder.mkdir()
    wrong = [np.zeros((2, 4), "float32"), np.full((2, 4), 0.25, "float32")]
    wrong[0][0, 0] = 0.5
    for index, [file] in enumerate(work["samples"]):
        x = np.load(file)
        y = x + wrong[index] if work["step"] == "int8" else x + {float16}
        np.savez(folder / f"{{index}}.npz", y)
        if index == 0:
            np.save("x.npy", x)
            np.save(f"{{folder}}/y.npy", y)
            np.save("half.npy", np.where(np.arange(8).reshape(2, 4) < {low}, 0, x))
    files = "x.npy", f"{{folder}}/y.npy"
    layers = [["Conv", "a", *files], ["Add", "b", "x.npy", "half.npy"], ["cstSelu", "t1", *files]]
    Path(work["layers"]).write_text(json.dumps(layers))
    Path(work["package"]).write_text(work["step"])
print("9.9.9")
"""


def dataset(folder: Path) -> Path:
    """Write two samples of the model `chain`, whose Selu does not change positive numbers."""
    samples = folder / "samples"
    samples.mkdir()
    np.savez(samples / "a.npz", t0=np.arange(1, 9, dtype=np.float32).reshape(2, 4))
    np.savez(samples / "b.npz", t0=np.full((2, 4), 2, np.float32))
    return samples


def fake(folder: Path, float16: float = 0, low: int = 4) -> Path:
    """Write a program that plays the toolkit: its int8 outputs differ by known numbers."""
    python = folder / "python"
    text = FAKE.format(python=sys.executable, log=folder / "log", float16=float16, low=low)
    python.write_text(text)
    python.chmod(0o755)
    return python


def works(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "log").read_text().splitlines()]


def quantized(
    folder: Path, root: Path, *options: object, proto: Any = None, **of_fake: Any
) -> Result:
    file = saved(proto or chain([1.5]), folder)
    python, samples = fake(folder, **of_fake), dataset(folder)
    words = ("--toolkit", python, "--quantize", "--dataset", samples, *options)
    return graft(file, [root], folder / "out.onnx", *words)


def table(result: Result, title: str) -> list[list[str]]:
    """Return the rows of a table, by their columns."""
    text = result.stdout.partition(f"{title}:\n")[2].partition("\n\n")[0]
    return [re.split(" {2,}", line) for line in text.splitlines()[1:]]


def test_tables(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    metric = tmp_path / "metric.py"
    metric.write_text(
        "def total(outputs, inputs, index):\n"
        "    assert inputs['t0'].flat[0] == index + 1\n"
        "    return outputs['t1'].sum()\n"
    )
    result = quantized(tmp_path, repositories["Selu"], "--metric", f"{metric}:total")
    assert result.exit_code == 0, result.output
    # The cosine of sample a: 204.5 / sqrt(204 * 205.25); of sample b 1.
    assert table(result, "The outputs, over all samples") == [
        ["t1", "float16", "1.00000", "0", "0", "1 to 8"],
        ["t1", "int8", "0.99939", "0.5", "0.156", "1 to 8"],
    ]
    # The calibrated range: (-128 + 4) * 0.5 to (127 + 4) * 0.5.
    assert table(result, "The custom nodes, for the first sample") == [
        ["n0", "t1", "float16", "1.00000", "0", "0", "1 to 8", "-", "-", "-"],
        ["n0", "t1", "int8", "0.99939", "0.5", "0.0625", "1 to 8", "-62 to 65.5", "0.5", "-4"],
    ]
    # The cosine of layer b: sqrt(174 / 204), of 5 to 8 and 1 to 8; with 1, 2 and six times 2.55 it
    # is 26 * 2.55 / sqrt(174 * 44.015).
    low = "Add b, 0.92355 (0.75760 within its range, 0 to 2.55)"
    assert f"first layer with a cosine below 0.99: {low}\n" in result.stdout
    means = "original 26, float16 26, int8 27.25"
    assert f"The metric, mean over all samples: {means}\n" in result.stdout
    assert (tmp_path / "out.rknn").read_text() == "int8"
    assert (tmp_path / "out.onnx").is_file()
    steps = [(each["step"], each["algorithm"]) for each in works(tmp_path)]
    assert steps == [("float16", "normal"), ("calibrate", "normal"), ("int8", "normal")]


def test_long_names_are_shortened(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    proto = chain([1.5])
    proto.graph.node[0].name = "n" * 30
    first = quantized(tmp_path, repositories["Selu"], proto=proto)
    again = tmp_path / "again"
    again.mkdir()
    proto.graph.node[0].name += "n"
    second = quantized(again, repositories["Selu"], proto=proto)
    for result, name in ((first, "n" * 30), (second, f"{'n' * 20}... (31 characters)")):
        rows = table(result, "The custom nodes, for the first sample")
        assert [row[0] for row in rows] == [name] * 2


def test_layers_that_are_close(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    result = quantized(tmp_path, repositories["Selu"], low=0)
    lowest = "No layer has a cosine below 0.99; the lowest: Conv a, 0.99939\n"
    assert lowest in result.stdout


def test_wrong_float16_model(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    result = quantized(tmp_path, repositories["Selu"], float16=3)
    assert result.exit_code == 1, result.output
    assert "error: output 't1' of the simulator: 8 of 8 elements differ" in result.stderr
    assert not {*tmp_path.glob("out.*")}


def test_wrong_reference(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    """It is found before the conversion, with numbers of the first sample."""
    root = made(tmp_path, "Selu", SOURCES["Selu"])
    reference = root / "selu_reference.py"
    reference.write_text(reference.read_text().replace('params["alpha"] > 2', "x.max() > 2"))
    result = quantized(tmp_path, root)
    assert result.exit_code == 1, result.output
    assert "node 'n0' is the first that differs: output 'y'" in result.stderr
    assert not (tmp_path / "log").exists()
    assert not {*tmp_path.glob("out.*")}


def test_original_that_cannot_run(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    """The outputs of the grafted model, with the reference, are in its place."""
    proto = chain([1.5], domains=["rknn_cst"])
    proto.graph.node[0].op_type, proto.graph.node[0].domain = "cstSelu", "rknn_cst"
    result = quantized(tmp_path, repositories["Selu"], proto=proto)
    assert result.exit_code == 0, result.output
    assert "outputs are not compared: onnxruntime has no rknn_cst.cstSelu" in result.stdout
    assert table(result, "The outputs, over all samples") == [
        ["t1", "float16", "1.00000", "0", "0", "1 to 8"],
        ["t1", "int8", "0.99939", "0.5", "0.156", "1 to 8"],
    ]
    rows = table(result, "The custom nodes, for the first sample")
    assert [row[2:6] for row in rows] == [
        ["float16", "1.00000", "0", "0"],
        ["int8", "0.99939", "0.5", "0.0625"],
    ]


@pytest.mark.parametrize("name", ["n0", "t1"])
def test_hybrid(tmp_path: Path, repositories: Mapping[str, Path], name: str) -> None:
    options = ("--hybrid", name, "--hybrid", "n0", "--algorithm", "mmse")
    result = quantized(tmp_path, repositories["Selu"], *options)
    assert result.exit_code == 0, result.output
    assert works(tmp_path)[-1]["hybrid"] == ["t1_int8"]
    assert {each["algorithm"] for each in works(tmp_path)} == {"mmse"}
    [_, row] = table(result, "The custom nodes, for the first sample")
    assert row[-3:] == ["-", "-", "-"]


def test_text_file_as_dataset(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    """The paths are relative to it."""
    folder = tmp_path / "data"
    folder.mkdir()
    for name in "ab":
        np.save(folder / f"{name}.npy", np.ones((2, 4), np.float32))
    (folder / "list.txt").write_text("a.npy\n\n  b.npy \n")
    options = ("--dataset", folder / "list.txt")
    result = quantized(tmp_path, repositories["Selu"], *options)
    assert result.exit_code == 0, result.output
    assert "int8, 2 samples of " in result.stdout
    (folder / "list.txt").unlink()
    for file in tmp_path.glob("out.*"):
        file.unlink()
    words = ("--toolkit", tmp_path / "python", "--quantize", "--dataset", folder)
    again = graft(tmp_path / "model.onnx", [repositories["Selu"]], tmp_path / "out.onnx", *words)
    assert table(again, "The outputs, over all samples") == table(
        result, "The outputs, over all samples"
    )


# ---- Errors --------------------------------------------------------------------------------------


def write(folder: Path, arrays: Mapping[str, Any]) -> None:
    """Write the files of a dataset: arrays, dicts of arrays, or texts."""
    for name, content in arrays.items():
        file = folder / name
        if isinstance(content, str):
            file.write_text(content)
        elif isinstance(content, dict):
            np.savez(file, **content)
        else:
            np.save(file, content)


RIGHT = np.ones((2, 4), np.float32)


@pytest.mark.parametrize(
    ("files", "name", "message"),
    [
        ({}, "none", "none: No such file or directory (expected a folder of .npz files"),
        ({}, ".", "has no samples (expected a folder of .npz files"),
        ({"list.txt": "\n"}, "list.txt", "list.txt: has no samples"),
        (
            {"list.txt": "a.npy\n"},
            "list.txt",
            "list.txt:1: {folder}/a.npy: cannot be read: No such",
        ),
        ({"list.txt": "\na.jpg\n"}, "list.txt", "list.txt:2: {folder}/a.jpg: is not an .npy file"),
        ({"a.npy": RIGHT, "list.txt": "a.npy a.npy"}, "list.txt", "txt:1: 2 .npy files (expected"),
        ({"a.npy": "no array"}, ".", "a.npy: is not an .npy file: "),
        ({"a.npy": RIGHT.astype(float)}, ".", "a.npy: 't0': is float64 (expected float32)"),
        ({"a.npy": RIGHT[0]}, ".", "a.npy: 't0': has shape [4] (expected [2, 4])"),
        ({"a.npz": {"t0": RIGHT}, "b.npz": {"t": RIGHT}}, ".", "b.npz: has 't' (expected 't0')"),
        ({"a.npz": {"t0": RIGHT[:1]}}, ".", "a.npz: 't0': has shape [1, 4] (expected [2, 4])"),
    ],
)
def test_invalid_dataset(
    tmp_path: Path,
    repositories: Mapping[str, Path],
    files: Mapping[str, Any],
    name: str,
    message: str,
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    write(folder, files)
    file, python = saved(chain([1.5]), tmp_path), fake(tmp_path)
    words = ("--toolkit", python, "--quantize", "--dataset", folder / name)
    text = refused(file, [repositories["Selu"]], *words)
    assert message.format(folder=folder) in text
    assert text.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--hybrid", "other"], "--hybrid other: the model has no such node (expected one of n0)"),
        (["--metric", "none.py:f"], "--metric none.py:f: no such file (expected FILE.py:function)"),
        (["--metric", "{folder}/m.py:other"], "has no function 'other'"),
        (["--metric", "{folder}/m.py:fails"], "m.py:fails, line 2: ZeroDivisionError: division"),
        (["--metric", "{folder}/m.py:text"], "m.py:text: ValueError: could not convert string"),
        (["--metric", "{folder}/bad.py:f"], "bad.py:f: SyntaxError: "),
    ],
)
def test_invalid_options(
    tmp_path: Path, repositories: Mapping[str, Path], options: list[str], message: str
) -> None:
    (tmp_path / "bad.py").write_text("def\n")
    (tmp_path / "m.py").write_text(
        "def fails(outputs, inputs, index):\n    return 1 / 0\n\n\n"
        "def text(outputs, inputs, index):\n    return 'a'\n"
    )
    words = [each.format(folder=tmp_path) for each in options]
    result = quantized(tmp_path, repositories["Selu"], *words)
    assert result.exit_code == 1, result.output
    [error] = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert message in error
    assert "Traceback" not in result.stderr
    assert not {*tmp_path.glob("out.*")}


def test_invalid_command_lines(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    samples, file = dataset(tmp_path), saved(chain([1.5]), tmp_path)

    def message(*options: object) -> str:
        result = graft(file, [repositories["Selu"]], tmp_path / "out.onnx", *options)
        assert result.exit_code == 2, result.output
        assert not {*tmp_path.glob("out.*")}
        return result.stderr

    both = ("--quantize", "--toolkit", "python")
    assert "requires --dataset FILE|FOLDER and --toolkit PYTHON" in message("--quantize")
    assert "requires --dataset FILE|FOLDER and --toolkit PYTHON" in message(*both)
    assert "require --quantize" in message("--hybrid", "n0")
    assert "--inputs: not with --quantize" in message(
        *both, "--dataset", samples, "--inputs", samples / "a.npz"
    )
    of_algorithm = message(*both, "--dataset", samples, "--algorithm", "best")
    assert "'best' is not one of 'normal', 'mmse', 'kl_divergence'" in of_algorithm


# ---- The toolkit ---------------------------------------------------------------------------------


def without_numbers(line: str) -> str:
    """Return a line without its numbers and the widths of columns."""
    return " ".join(re.sub(r"(?<![\w.])-?\d+(\.\d+)?(e-\d+)?(?![\w.])", "#", line).split())


@pytest.mark.slow
@needs_toolkit
def test_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """GridSample and TopK, through both commands of the page."""
    monkeypatch.chdir(tmp_path)
    for name in ("GridSample", "TopK"):
        made(tmp_path, name, SOURCES[name])
    saved(detector(), tmp_path, "head.onnx")
    script, metric = blocks("python", PAGE)
    (tmp_path / "metric.py").write_text(metric)
    subprocess.run([sys.executable, "-c", script], check=True)
    for command, expected in console(PAGE):
        result = CliRunner().invoke(main, command.replace("PYTHON", TOOLKIT).split()[1:])
        assert result.exit_code == 0, result.output
        lines = (result.stdout + result.stderr).splitlines()
        printed = [without_numbers(line) for line in lines if not line.startswith("warning: ")]
        assert_printed([*map(without_numbers, expected)], "\n".join(printed))
        for row in table(result, "The outputs, over all samples"):
            assert float(row[2]) > {"float16": 0.99999, "int8": 0.9}[row[1]], result.stdout
    assert b"cstGridSample" in (tmp_path / "out.rknn").read_bytes()


@pytest.mark.slow
@pytest.mark.nightly
@needs_toolkit
def test_selection_behind_a_convolution(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    """TopK gets the steps of int8: its outputs are those of the rounded numbers."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["features"], name="conv"),
        helper.make_node("TopK", ["features", "k"], ["scores", "indices"], name="top"),
    ]
    outputs = [value("scores", None), value("indices", None, TensorProto.INT64)]
    constants = [constant("w", weights(4, 3, 1, 1)), constant("k", np.array([3]))]
    file = saved(model(nodes, [value("x", [1, 3, 6, 6])], outputs, constants, opset=16), tmp_path)
    samples = tmp_path / "samples"
    samples.mkdir()
    random = np.random.default_rng(1)
    for index in range(4):
        np.save(samples / f"{index}.npy", random.uniform(-1, 1, (1, 3, 6, 6)).astype(np.float32))
    metric = tmp_path / "metric.py"
    metric.write_text(
        "import numpy as np\n"
        "def distinct(outputs, inputs, index):\n"
        "    return len(np.unique(outputs['scores']))\n"
    )
    words = ("--toolkit", TOOLKIT, "--quantize", "--dataset", samples, "--algorithm")
    more = ("kl_divergence", "--metric", f"{metric}:distinct")
    result = graft(file, [repositories["TopK"]], tmp_path / "out.onnx", *words, *more)
    assert result.exit_code == 0, result.output
    rows = table(result, "The custom nodes, for the first sample")
    assert [row[1:3] for row in rows] == [
        ["scores", "float16"],
        ["scores", "int8"],
        ["indices", "float16"],
        ["indices", "int8"],
    ]
    low, high = map(float, rows[1][7].split(" to "))
    scale = float(rows[1][8])
    assert high - low == pytest.approx(255 * scale, rel=0.01)
    assert float(rows[1][4]) < 4 * scale
    assert [row[8] for row in rows[2:]] == ["-", "-"]
    of_int8 = re.findall(r"original (\S+), float16 \S+, int8 (\S+)", result.stdout)
    [(original, rounded)] = of_int8
    assert float(rounded) < float(original)


@pytest.mark.slow
@pytest.mark.nightly
@needs_toolkit
def test_errors_of_the_toolkit(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    nodes = [
        helper.make_node("Selu", ["x"], ["a"], name="n", alpha=1.5, gamma=1.25),
        helper.make_node("Cast", ["a"], ["y"], name="cast", to=TensorProto.INT32),
    ]
    outputs = [value("y", [2, 4], TensorProto.INT32)]
    file = saved(model(nodes, [value("x", [2, 4])], outputs), tmp_path)
    samples = tmp_path / "samples"
    samples.mkdir()
    np.save(samples / "0.npy", np.ones((2, 4), np.float32))
    words = ("--toolkit", TOOLKIT, "--quantize", "--dataset", samples)
    message = refused(file, [repositories["Selu"]], *words, "--hybrid", "cast")
    assert "--hybrid cast: has no output in int8, because it is fused or computes no" in message
