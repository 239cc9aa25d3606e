"""A whole model in the vendor's librknnrt: several operators, and nodes with different attributes.

Runs if LIBRKNNRT is set; see test_librknnrt_check.py.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from opkit.check.executors import abi_of, emulated
from opkit.check.operators import Operator
from opkit.runtimes.invocation import Array
from opkit.toolchains.abi import ABIS
from tests.compiling import OPKIT, build
from tests.repositories import Repository
from tests.rknn_op.command import succeeded
from tests.rknn_op.test_bundle import SDK, bundle
from tests.runtimes.rknn2.support import HEADERS
from tests.runtimes.rknn2.test_simulator import toolkit_python

LIBRKNNRT = os.environ.get("LIBRKNNRT", "")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not LIBRKNNRT, reason="set LIBRKNNRT to run the vendor's runtime"),
]

CLAMPED: dict[str, Any] = {
    "points": [-1.0, 0.0, 1.0],
    "values": [0.0, 1.0, 0.5],
    "outside": "clamp",
}
EXTENDED: dict[str, Any] = {"points": [0.0, 2.0], "values": [-1.0, 3.0], "outside": "extend"}
CROPPED: dict[str, Any] = {"axes": [0, 1], "shape": [3, 8]}
INPUT = np.linspace(-2, 2, 120).astype("float16").astype("float32").reshape(5, 6, 4)


def write_model(path: Path, curve: str = "Curve", crop: str = "Crop") -> None:
    """Write a model of three nodes, of operators that the toolkit does not know."""
    nodes = [
        helper.make_node(curve, ["x"], ["a"], "first", domain="theirs", **CLAMPED),
        helper.make_node(crop, ["a"], ["b"], "middle", domain="theirs", **CROPPED),
        helper.make_node(curve, ["b"], ["y"], "last", domain="theirs", **EXTENDED),
    ]
    x, y = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("x", [5, 6, 4]), ("y", [3, 8, 4]))
    )
    graph = helper.make_graph(nodes, "model", [x], [y])
    opsets = [helper.make_opsetid("", 12), helper.make_opsetid("theirs", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=7), path)


def expected(curve: Path, crop: Path) -> Array:
    """Return the output of the model, with every tensor in float16."""
    steps = [(curve, "x", CLAMPED), (crop, "input_data", CROPPED), (curve, "x", EXTENDED)]
    array = INPUT
    for root, name, params in steps:
        (result,) = Operator(root).reference.reference({name: array}, params).values()
        array = result.astype("float16").astype("float32")
    return array


@pytest.fixture
def operators(example: Callable[..., Repository]) -> tuple[Path, Path]:
    """Return the repositories of the model's operators."""
    curve, crop = (example(name, "rknn2").path for name in ("piecewise_linear", "center_crop_pad"))
    return curve, crop


def run_in_librknnrt(
    folder: Path, model: str, operators: tuple[Path, Path], *options: str
) -> Array:
    """Return the output of a model in the application that `bundle` makes of it."""
    library = Path(LIBRKNNRT).absolute()
    abi = abi_of(library)
    words = ["-t", "rk3588", "--abi", abi, "--model", model, "-o", "app", *options]
    made = bundle("-p", *operators, *words, cwd=folder)
    assert made.returncode == 0, made.stderr

    app = folder / "app"
    build(
        app / "run_model",
        app / "main.c",
        app / f"lib/{abi}/libcustom_ops.a",
        HEADERS,
        f"-I{SDK}",
        f"-I{app / 'include'}",
        f"-L{library.parent}",
        "-lrknnrt",
        "-lm",
        "-Wl,--allow-shlib-undefined",
        abi=ABIS[abi],
    )
    npu = OPKIT / "runtimes/rknn2/librknnrt/npu.c"
    build(app / "npu.so", npu, "-shared", "-ldl", "-lpthread", abi=ABIS[abi])
    INPUT.tofile(app / "x.bin")
    variables = {"LD_LIBRARY_PATH": str(library.parent), "LD_PRELOAD": str(app / "npu.so")}
    command = [*emulated(abi, variables), "./run_model", "-o", ".", "model.rknn", "x.bin"]
    run = subprocess.run(command, cwd=app, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return np.fromfile(app / "output_0.bin", "float32").reshape(3, 8, 4)


def test_operators_in_one_model(operators: tuple[Path, Path], tmp_path: Path) -> None:
    python = toolkit_python()
    write_model(tmp_path / "0.onnx")
    for number, (root, old) in enumerate(zip(operators, ["Curve", "Crop"], strict=True)):
        script = root / "rknn2/make_onnx.py"
        models = [f"{number + 1}.onnx", "--from", f"{number}.onnx"]
        subprocess.run([python, script, *models, "--rename", old], cwd=tmp_path, check=True)
    output = run_in_librknnrt(tmp_path, "2.onnx", operators, "--toolkit", python)
    np.testing.assert_allclose(output, expected(*operators), rtol=2e-3, atol=1e-3)


def test_int8_model(operators: tuple[Path, Path], tmp_path: Path) -> None:
    """The kernels get the numbers of int8 as float32, and their outputs are rounded to int8."""
    curve, crop = operators
    write_model(tmp_path / "model.onnx", curve.name, crop.name)
    (tmp_path / "samples").mkdir()
    np.save(tmp_path / "samples/0.npy", INPUT)
    words = ("--quantize", "--dataset", tmp_path / "samples", "--toolkit", toolkit_python())
    output = tmp_path / "int8.onnx"
    succeeded("graft", tmp_path / "model.onnx", "-p", curve, crop, "-o", output, *words)
    result = run_in_librknnrt(tmp_path, "int8.rknn", operators)
    wanted = expected(*operators)
    scale = (wanted.max() - wanted.min()) / 255
    assert scale / 4 < np.abs(result - wanted).max() < 4 * scale
    steps = (result - result.min()) / scale
    np.testing.assert_allclose(steps, np.rint(steps), atol=0.1)
