"""`scons check pplnn=BUILD`: the cases in ppl.nn's x86 engine.

A stand-in takes the place of ppl.nn's tool; test_real_engine.py has the real one.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

from opkit import runtimes
from opkit.build.options import Request
from opkit.check.cases import Case
from opkit.check.operators import Operator
from opkit.runtimes.invocation import LeftOutError, RunOptions, RunResult
from opkit.runtimes.pplnn import kernels
from opkit.runtimes.pplnn.kernels import EngineKernel
from opkit.runtimes.pplnn.one_node_model import Signature, one_node_model
from opkit.runtimes.pplnn.scons import checkout
from opkit.runtimes.pplnn.scons.checkout import executor
from tests.check.target_repositories import counts
from tests.marks import quick_first
from tests.repositories import EXAMPLES, Repository, generate_example
from tests.runtimes.pplnn.checkouts import make_checkout
from tests.runtimes.pplnn.checkouts import run as apply
from tests.runtimes.pplnn.operators import description, make_repository
from tests.runtimes.pplnn.test_engines import EVERY_KIND

CASES = """\
import pytest

from opkit.testing import cases, check_cpu_kernel, special, uniform

K = [{"k": 4}]
VALUES = [
    *cases([{"x": (2, 40)}], [uniform(-1, 1), special()], K, dtype="float32"),
    *cases([{"x": (2, 5)}], [uniform(-1, 1)], K, dtype="float16"),
]


@pytest.mark.parametrize("case", VALUES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)
"""
STAND_IN = Path(__file__).parent / "engine_stand_in.py"
X = np.array([[3, 1, 2, 9], [6, 5, 8, 7]], np.float32)


def make_tool(build: Path, script: str) -> Path:
    """Write a shell script as the tool of a build folder."""
    tool = build / "tools/pplnn"
    tool.parent.mkdir(parents=True, exist_ok=True)
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)
    return tool


def stand_in(root: Path) -> str:
    """Return the script of a tool with the operator of a repository."""
    path = os.pathsep.join([str(Path(__file__).parents[3]), *filter(None, sys.path)])
    return f'PYTHONPATH={path} exec {sys.executable} -B {STAND_IN} {root} "$@"'


@pytest.fixture
def top_k(tmp_path: Path) -> Operator:
    """Return TopK, which has two outputs, without a build."""
    root = tmp_path / "top_k"
    root.mkdir()
    shutil.copy(EXAMPLES / "top_k/top_k.yml", root / "op.yml")
    shutil.copy(EXAMPLES / "top_k/topk_reference.py", root)
    return Operator(root)


def run(operator: Operator, script: str, x: Any = X, **params: Any) -> RunResult:
    """Run a case of TopK in a tool."""
    tool = make_tool(operator.root / "build", script)
    kernel = EngineKernel(operator.spec, executor(tool, "0.10.0"), operator.root)
    prepared = operator.prepare(Case("case", {"x": x}, {"k": 2, **params}))
    return kernel.run(prepared.invocation, RunOptions(limit=0.2))


def test_outputs(top_k: Operator) -> None:
    result = run(top_k, stand_in(top_k.root), largest=0)
    assert (result.fault, result.status) == ("", 0)
    assert result.outputs["values"].tolist() == [[1, 2], [5, 6]]
    assert result.outputs["indices"].tolist() == [[1, 2], [1, 0]]
    assert result.outputs["indices"].dtype == np.int64


def test_halves_are_floats_in_the_model(top_k: Operator) -> None:
    """The stand-in refuses a file of another size than float32's."""
    values = run(top_k, stand_in(top_k.root), X.astype(np.float16)).outputs["values"]
    assert values.dtype == np.float16
    assert values.tolist() == [[9, 3], [8, 7]]


def test_declared_halves_are_left_out(top_k: Operator) -> None:
    description = top_k.root / "op.yml"
    text = description.read_text()
    x = "x: {type: VX_TYPE_TENSOR"
    description.write_text(text.replace(x, f"{x}, dtype: float16"))
    with pytest.raises(LeftOutError, match=r"op\.yml says float16 for 'x'"):
        run(Operator(top_k.root), "exit 1", X.astype(np.float16))


@pytest.mark.parametrize(
    ("script", "fault"),
    quick_first(
        2,
        [
            ("kill -SEGV $$", "the engine's process ended by SIGSEGV"),
            ("echo about; exit 3", "the engine's process ended with exit status 3\n  about"),
            (
                'printf "\\033[0;31m[ERROR][now][a.cc:1] \\033[0mTopK: k is 9\\n" >&2; exit 255',
                "the engine's process ended with exit status 255\n  TopK: k is 9",
            ),
            ("exit 0", "output 'values' is nothing, not float32 [2, 2]"),
            (
                'printf -- "----- output info -----\\noutput[0]:\\n    name: values\\n'
                '    dim(s): 2 3\\n    data type: FLOAT32\\n"',
                "output 'values' is float32 [2, 3], not float32 [2, 2]",
            ),
            ("exec yes", "the engine printed more than 4,194,304 bytes"),
            ("exec sleep 60", "the engine did not end within 0.7 s"),
        ],
    ),
)
def test_faults(script: str, fault: str, top_k: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    if "did not end" in fault:
        monkeypatch.setattr(kernels, "LOAD_LIMIT", 0.5)
    result = run(top_k, script)
    assert result.fault == fault
    assert result.timed_out == ("did not end" in fault)


def test_build_without_operator(top_k: Operator, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    text = (top_k.root / "op.yml").read_text().replace("name: TopK", "name: Other")
    (other / "op.yml").write_text(text)
    fault = run(top_k, stand_in(other)).fault
    assert "unsupported op: domain[custom], type[TopK]" in fault
    assert "the build lacks the operator: run `python3 pplnn/apply.py PPLNN`" in fault


def test_attributes() -> None:
    """Each kind of param, at the limits of its type."""
    spec = runtimes.parse(EVERY_KIND)
    values = {
        "truth": False,
        "character": 65,
        "i8": 127,
        "u8": 0,
        "i16": 32767,
        "u16": 1,
        "i32": 2**31 - 1,
        "u32": 2,
        "i64": -(2**63) + 1,
        "u64": 2**63 - 2,
        "f32": -0.0,
        "f64": 1.5,
        "pair": [-1, 2],
        "scales": [0.1, -4.0],
        "mode": "\u00e9",
    }
    inputs = {"x": Signature((2, 300), np.float32), "index": Signature((1,), np.int64)}
    outputs = {name: Signature((2, 300), np.float32) for name in ("y", "numbers", "flags")}
    model = onnx.load_from_string(one_node_model(spec, inputs, outputs, values))
    onnx.checker.check_model(model)
    (node,) = model.graph.node
    assert (node.domain, node.op_type) == ("my.domain", "everyKind")
    assert [*node.input] == [*inputs]
    assert [*node.output] == [*outputs]
    found = {each.name: helper.get_attribute_value(each) for each in node.attribute}
    expected = {**values, "scales": [float(np.float32(0.1)), -4.0], "mode": "\u00e9".encode()}
    assert found == expected
    assert np.signbit(found["f32"])
    (x, _) = model.graph.input
    assert [dim.dim_value for dim in x.type.tensor_type.shape.dim] == [2, 300]


def test_defaults_have_no_attribute() -> None:
    spec = runtimes.parse(EVERY_KIND)
    values = {param.name: param.default for param in spec.params} | {"pair": [1, 2]}
    signature = Signature((1,), np.float32)
    model = onnx.load_from_string(one_node_model(spec, {"x": signature}, {"y": signature}, values))
    assert [each.name for each in model.graph.node[0].attribute] == ["pair"]


# ---- scons ----


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return generate_example(tmp_path_factory.mktemp("engine"), "top_k", "pplnn")


@pytest.mark.slow
def test_check(repository: Repository, tmp_path: Path) -> None:
    make_tool(tmp_path, stand_in(repository.path))
    (repository.path / "tests/test_topk.py").write_text(CASES)
    checked = repository.scons("check", "quick=1", f"pplnn={tmp_path}").stdout
    assert counts(checked) == {"CPU kernel": 3, "ppl.nn 0.10.0 x86": 3}


@pytest.mark.parametrize(
    ("version", "commit", "name"),
    [
        ("0.10.0", "0123456789abcdef", "ppl.nn 0.10.0 x86"),
        ("0.0.0", "0123456789abcdef", "ppl.nn 01234567 x86"),  # between two releases
        ("0.0.0", "", "ppl.nn 0.0.0 x86"),
    ],
)
def test_kernel_name_has_version(version: str, commit: str, name: str, tmp_path: Path) -> None:
    make_tool(tmp_path, f"echo 'ppl.nn version: [{version}], commit: [{commit}]'")
    assert [each.name for each in checkout.engines({checkout.OPTION: str(tmp_path)})] == [name]


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("", "has none of tools/pplnn, bin/pplnn, pplnn; to build it: cmake -S PPLNN -B BUILD"),
        ("echo no >&2; exit 4", "is not ppl.nn's tool: --use-x86 --version ends with status 4"),
        ("echo \"unknown option(s): '--use-x86'.\"; exit 255", "has no x86 engine; to build it"),
    ],
)
def test_refused_builds(script: str, problem: str, repository: Repository, tmp_path: Path) -> None:
    if script:
        make_tool(tmp_path, script)
    refused = repository.scons("check", f"pplnn={tmp_path}", check=False)
    assert refused.returncode != 0
    assert problem in refused.stderr
    assert "Traceback" not in refused.stderr


def warnings(build: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the warnings of `scons` about a build, in the working directory."""
    checkout.check({checkout.OPTION: str(build)}, Request(frozenset(), {}, (), False))
    return capsys.readouterr().err


def test_stale_build(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_repository(tmp_path / "ResizeArea", description())
    build, checkout = tmp_path / "build", make_checkout(tmp_path / "ppl.nn")
    assert apply(root, checkout) == 0
    tool = make_tool(build, "echo 'ppl.nn version: [0.10.0], commit: [abc]'")
    (build / "CMakeCache.txt").write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={checkout.root}\n")
    monkeypatch.chdir(root)
    assert warnings(build, capsys) == ""
    os.utime(root / "generated/resizearea.h", (2**31, 2**31))  # with the same content
    assert warnings(build, capsys) == ""
    os.utime(tool, (0, 0))
    assert f"is older than {checkout.root}/src/ppl/nn/" in warnings(build, capsys)
    (root / "resizearea_compute.h").write_text("/* changed */\n")
    expected = f"has another state of the operator; run python3 pplnn/apply.py {checkout.root}, and"
    assert expected in warnings(build, capsys)
    (build / "CMakeCache.txt").unlink()  # nothing is known of a copied tool
    assert f"{tool} is older than generated/" in warnings(build, capsys)
    (root / "pplnn/overlay.json").unlink()
    assert warnings(build, capsys) == ""
