"""`rknn-op rewrite`, `scan` and `graft --rewrite`, through the command."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from click.testing import Result
from onnx import TensorProto, helper

from tests.models.models import (
    constant,
    detection_head,
    frozen_graph,
    model,
    saved,
    saved_graph,
    weights,
)
from tests.models.models import value as value_info
from tests.models.test_graft import TOOLKIT, needs_toolkit, repositories
from tests.models.test_scan import toolkit_of
from tests.rknn_op.command import assert_error, rknn_op, succeeded

__all__ = ["repositories"]

X = [value_info("x", [1, 4, 8, 8])]
Y = [value_info("y", [1, 4, 8, 8])]


def chain(*op_types: str, opset: int = 17, size: int | str = 8, **attributes: Any) -> Any:
    """Return a model of convolutions with an operator between them, `/OPERATOR`."""
    nodes, name = [], "x"
    for index, op_type in enumerate(op_types):
        after = "y" if index == len(op_types) - 1 else f"b{index}"
        nodes += [
            helper.make_node("Conv", [name, f"w{index}"], [f"a{index}"], f"/conv{index}"),
            helper.make_node(op_type, [f"a{index}"], [after], f"/{op_type}", **attributes),
        ]
        name = after
    filters = [weights(f"w{index}", 4, 4, 1, 1) for index in range(len(op_types))]
    shape = [1, 4, size, size]
    return model(nodes, [value_info("x", shape)], [value_info("y", shape)], filters, opset)


def rewrite(file: Path, *options: object) -> Result:
    """Rewrite a model as `out.onnx` beside it."""
    return rknn_op("rewrite", file, "-o", file.with_name("out.onnx"), *options)


def rewritten(file: Path, *options: object) -> Any:
    """Return the rewritten model; nothing is left."""
    result = rewrite(file, *options)
    assert result.exit_code == 0, result.output
    return onnx.load(file.with_name("out.onnx"))


def refused(file: Path, *options: object) -> str:
    """Return the message about a model that is not written."""
    before = sorted(file.parent.iterdir())
    result = rewrite(file, *options)
    assert result.exit_code == 1, result.output
    assert isinstance(result.exception, SystemExit), result.output
    assert sorted(file.parent.iterdir()) == before
    return result.stderr


def outputs(proto: Any, *arrays: Any) -> list[Any]:
    """Return the outputs of a model by onnxruntime."""
    session = onnxruntime.InferenceSession(proto.SerializeToString())
    names = [each.name for each in session.get_inputs()]
    return [*session.run(None, dict(zip(names, arrays, strict=True)))]


def types(proto: Any) -> list[str]:
    """Return the operators of a model, in order."""
    return [node.op_type for node in proto.graph.node]


def by_user(folder: Path, name: str, text: str) -> Path:
    """Write a form of the user; return its file."""
    file = folder / "rewrites" / f"{name}.py"
    file.parent.mkdir(exist_ok=True)
    file.write_text(
        f"from rknn_op.models.rewriting.form import ConditionError, form, sizes\n\n\n{text}"
    )
    return file


# ---- Missing operators ---------------------------------------------------------------------------


def test_missing_operators_are_rewritten(tmp_path: Path) -> None:
    """The new model has no missing operator, and the same outputs and names."""
    file = saved(chain("Selu", "Softsign"), tmp_path)
    result = rewrite(file)
    assert result.exit_code == 0, result.output
    rows = [line.split() for line in result.stdout.splitlines()]
    assert rows[0] == "node operator becomes float32 float16 simulator".split()
    assert [row[:2] for row in rows[1:3]] == [["/Selu", "Selu"], ["/Softsign", "Softsign"]]
    assert result.stdout.count("equal") == 2  # the output in float32 and in float16
    proto = onnx.load(tmp_path / "out.onnx")
    assert not {"Selu", "Softsign"} & {*types(proto)}
    assert [node.name for node in proto.graph.node if node.op_type == "Conv"] == [
        "/conv0",
        "/conv1",
    ]
    assert [*proto.graph.output] == [*onnx.load(file).graph.output]
    x = np.random.default_rng(1).standard_normal((1, 4, 8, 8), np.float32)
    [actual], [expected] = outputs(proto, x), outputs(onnx.load(file), x)
    np.testing.assert_allclose(actual, expected, atol=1e-6)
    succeeded("scan", tmp_path / "out.onnx")


@pytest.mark.parametrize("opset", [14, 16, 17, 18, 19])
def test_every_opset(tmp_path: Path, opset: int) -> None:
    rewritten(saved(chain("Selu", "Softsign", opset=opset), tmp_path))


@pytest.mark.parametrize(
    ("options", "left"),
    [
        (["--op", "Selu"], ["Softsign"]),
        (["--node", "/Softsign"], ["Selu"]),
        (["--op", "Selu", "--node", "/Softsign"], []),
    ],
)
def test_chosen_nodes(tmp_path: Path, options: Sequence[str], left: Sequence[str]) -> None:
    proto = rewritten(saved(chain("Selu", "Softsign"), tmp_path), *options)
    assert [each for each in types(proto) if each in ("Selu", "Softsign")] == left


def test_operators_of_the_cpu(tmp_path: Path) -> None:
    """They are missing nowhere, and rewritten on demand: here by the user's form."""
    by_user(tmp_path, "erf", ERF)
    file = saved(chain("Erf"), tmp_path)
    assert "no operator is missing on rk3588" in refused(file)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        assert "Erf" not in types(rewritten(file, "--all"))


def test_node_in_a_branch(tmp_path: Path) -> None:
    """Nodes of subgraphs are rewritten in place, with their constants in the model's graph."""
    branches = {
        name: helper.make_graph(
            [helper.make_node(op_type, ["x"], [name], f"/{name}")],
            name,
            [],
            [value_info(name, [1, 4, 8, 8])],
        )
        for name, op_type in (("then", "Selu"), ("else", "Relu"))
    }
    node = helper.make_node(
        "If", ["is"], ["y"], then_branch=branches["then"], else_branch=branches["else"]
    )
    inputs = [*X, value_info("is", [], TensorProto.BOOL)]
    file = saved(model([node], inputs, Y, opset=17), tmp_path)
    arrays: dict[str, Any] = {"x": np.ones((1, 4, 8, 8), np.float32), "is": np.array(True)}
    np.savez(tmp_path / "in.npz", **arrays)
    proto = rewritten(file, "--node", "/then", "--inputs", tmp_path / "in.npz")
    x = np.random.default_rng(1).standard_normal((1, 4, 8, 8), np.float32)
    for condition in (True, False):
        [actual], [expected] = (
            outputs(each, x, np.array(condition)) for each in (proto, onnx.load(file))
        )
        np.testing.assert_allclose(actual, expected, atol=1e-6)


def test_what_cannot_be_rewritten_is_left(tmp_path: Path) -> None:
    """The model is written as far as possible; the status says that nodes are left."""
    nodes = [
        helper.make_node("Selu", ["x"], ["a"], "/selu"),
        helper.make_node("Hardmax", ["a"], ["b"], "/hardmax"),
        helper.make_node("NonZero", ["b"], ["places"], "/places"),
        helper.make_node("Cast", ["b"], ["y"], "/cast", to=TensorProto.FLOAT),
    ]
    outputs = [*Y, value_info("places", [4, None], TensorProto.INT64)]
    file = saved(model(nodes, X, outputs, opset=17), tmp_path)
    result = rewrite(file, "--target", "rk3566")  # whose list has no Hardmax
    assert result.exit_code == 1, result.output
    left = result.stdout.partition("Left:\n")[2].splitlines()[:2]
    assert left[0] == "/hardmax: Hardmax: no form is known"
    assert left[1].startswith("/places: NonZero: the shape of its output depends on values")
    assert types(onnx.load(tmp_path / "out.onnx")) == ["Elu", "Mul", "Hardmax", "NonZero", "Cast"]
    (tmp_path / "out.onnx").unlink()
    message = refused(file, "--target", "rk3566", "--op", "Hardmax")
    assert "node '/hardmax' (Hardmax) cannot be rewritten: no form is known" in message


def test_large_constant_indices(tmp_path: Path) -> None:
    """Those of a detection head are larger than what counts as weights elsewhere."""
    indices = np.indices((1, 8, 60, 40)).transpose(1, 2, 3, 4, 0).reshape(-1, 4)
    nodes = [helper.make_node("GatherND", ["x", "indices"], ["y"], "/gather", batch_dims=0)]
    ends = [value_info("x", [1, 9, 60, 40]), value_info("y", [1, 8 * 60 * 40])]
    proto = model(nodes, ends[:1], ends[1:], [constant("indices", indices)], opset=17)
    assert "Gather" in types(rewritten(saved(proto, tmp_path)))


def test_model_in_float16(tmp_path: Path) -> None:
    nodes = [helper.make_node("Softsign", ["x"], ["y"], "/softsign")]
    ends = [value_info(name, [1, 4, 8, 8], TensorProto.FLOAT16) for name in ("x", "y")]
    assert "Div" in types(rewritten(saved(model(nodes, ends[:1], ends[1:], opset=17), tmp_path)))


def test_model_in_float64(tmp_path: Path) -> None:
    """No chip has it: the form is in float32, between Casts."""
    nodes = [helper.make_node("Softsign", ["x"], ["y"], "/softsign")]
    ends = [value_info(name, [1, 4, 8, 8], TensorProto.DOUBLE) for name in ("x", "y")]
    proto = rewritten(saved(model(nodes, ends[:1], ends[1:], opset=17), tmp_path))
    assert types(proto) == ["Cast", "Abs", "Add", "Div", "Cast"]


@pytest.mark.parametrize("opset", [23, 25])
def test_opset_of_the_converter(tmp_path: Path, opset: int) -> None:
    """Attention is in newer opsets alone, and so is an attribute of it."""
    x = [value_info("x", [1, 4, 8, 8])]
    nodes = [
        helper.make_node("Attention", ["x", "x", "x"], ["a"], "/attention", is_causal=1),
        helper.make_node("Gelu", ["a"], ["y"], "/gelu"),
    ]
    out = rewritten(saved(model(nodes, x, [value_info("y", [1, 4, 8, 8])], opset=opset), tmp_path))
    assert [(each.domain, each.version) for each in out.opset_import] == [("", 19)]
    assert types(out).count("MatMul") == 2


# ---- Mistakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "phrase"),
    [
        (["--op", "Celu"], "--op Celu: "),
        (["--node", "/selu"], "has none (expected /Selu, /conv0)"),
        (["--target", "rv1126"], "--target rv1126: its models are not rewritten"),
        (["--target", "rk9"], "rk9"),
        (["--max-error", "nan"], "--max-error: invalid nan"),
        (["--toolkit", "no/python"], "--toolkit no/python: cannot be started"),
        (["--op", "Conv"], "node '/conv0' (Conv) cannot be rewritten: no form is known"),
    ],
)
def test_mistakes(tmp_path: Path, options: Sequence[str], phrase: str) -> None:
    assert phrase in refused(saved(chain("Selu"), tmp_path), *options)


def test_existing_file(tmp_path: Path) -> None:
    (tmp_path / "out.onnx").touch()
    assert "out.onnx: exists" in refused(saved(chain("Selu"), tmp_path))


def test_frozen_graphs_are_not_rewritten(tmp_path: Path) -> None:
    message = refused(saved_graph(frozen_graph(), tmp_path))
    assert "models of tensorflow are not rewritten; make a custom operator" in message


def test_random_numbers(tmp_path: Path) -> None:
    """Outputs differ from run to run: the cause is named, not --max-error."""
    nodes = [
        helper.make_node("Selu", ["x"], ["a"], "/selu"),
        helper.make_node("RandomNormalLike", ["x"], ["noise"], "/draw"),
        helper.make_node("Add", ["a", "noise"], ["y"], "/add"),
    ]
    message = refused(saved(model(nodes, X, Y, opset=17), tmp_path))
    assert "node '/draw' (RandomNormalLike) draws random numbers" in message
    assert message.endswith(
        "make the noise an input of the model, and let the application draw it\n"
    )


def test_unknown_shape(tmp_path: Path) -> None:
    """A form needs the shape; the message names the node."""
    by_user(
        tmp_path,
        "celu",
        '@form("Celu", first=True)\n'
        "def celu(op, x, *, alpha):\n"
        '    raise ConditionError(f"has no fixed width, {sizes(x)}")\n',
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        file = saved(chain("Celu", size="n"), tmp_path)
        np.savez(tmp_path / "in.npz", x=np.ones((1, 4, 8, 8), np.float32))
        message = refused(file, "--inputs", tmp_path / "in.npz")
    assert (
        "node '/Celu' (Celu) cannot be rewritten: celu: the shape of a0 is unknown; schema: "
        in message
    )


def test_input_and_attribute_that_a_form_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does not hold for a node that sets them."""
    monkeypatch.chdir(tmp_path)
    text = "@form('{0}')\ndef mine(op, x):\n    return op.{1}(x)\n"
    by_user(tmp_path, "clip", text.format("Clip", "Relu"))
    by_user(tmp_path, "transpose", text.format("Transpose", "Relu"))
    nodes = [
        helper.make_node("Clip", ["x", "low"], ["a"], "/clip"),
        helper.make_node("Transpose", ["a"], ["y"], "/transpose", perm=[0, 1, 3, 2]),
    ]
    file = saved(model(nodes, X, Y, [constant("low", np.float32(0))], opset=17), tmp_path)
    lines = refused(file, "--op", "Clip", "--op", "Transpose").splitlines()
    assert "node '/clip' (Clip) cannot be rewritten: " in lines[0]
    assert lines[0].endswith("mine: input 1 is set")
    assert lines[1].endswith("cannot be rewritten: mine: attribute perm is [0, 1, 3, 2]")


# ---- Forms of the user ---------------------------------------------------------------------------

ERF = '''\
@form("Erf", error=1e-3)
def erf(op, x):
    """Tanh of a cubic polynomial."""
    return op.Tanh(op.Mul(x, op.Add(op.Mul(op.Mul(x, x), 0.10091), 1.12838)))
'''


def test_form_of_a_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is found from a folder of the workspace, and comes before the tool's own."""
    (tmp_path / "rknn-op.toml").touch()
    (tmp_path / "models").mkdir()
    monkeypatch.chdir(tmp_path / "models")
    by_user(tmp_path, "erf", ERF)
    file = saved(chain("Erf"), tmp_path / "models")
    result = rewrite(file, "--op", "Erf")
    assert result.exit_code == 0, result.output
    assert "erf, 5 nodes" in result.stdout
    assert "Tanh" in types(onnx.load(tmp_path / "models/out.onnx"))


QUOTIENT = "op.Div(x, op.Add(op.Abs(x), 1.0))"
WRONG = {
    "differs": ("op.Add(x, 1.0)", "mine: output y differs: 256 of 256 elements differ"),
    "differs in float16": (
        f"op.Sub(op.Add({QUOTIENT}, 1000.0), 1000.0)",
        "mine: output y differs in float16",
    ),
    "overflow": (
        f"op.Div(op.Mul({QUOTIENT}, 3e5), 3e5)",
        "mine: /Softsign/Mul_3_output_0 has numbers up to",
    ),
    "integers": (
        f"op.Add({QUOTIENT}, op.Cast(op.Sub("
        "op.Add(op.Cast(x, to=7), 4001), op.Add(op.Cast(x, to=7), 4001)), to=1))",
        "has integers up to 4,00",
    ),
    "another shape": (
        "op.Reshape(x, [1, -1])",
        "mine: output y differs: is float32 [1, 256] (expected",
    ),
    "another operator": ("op.Softsign(x)", "mine: the chip lacks Softsign"),
    "unknown operator": ("op.Nothing(x)", "mine: opset 17 has no Nothing"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_forms_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    """The next form is taken; without one, the reasons are the message."""
    body, reason = WRONG[case]
    monkeypatch.chdir(tmp_path)
    decorator = '@form("Softsign", error=1e-3, first=True)'
    by_user(tmp_path, "mine", f"{decorator}\ndef mine(op, x):\n    return {body}\n")
    file = saved(chain("Softsign"), tmp_path)
    assert "Abs" in types(rewritten(file))
    (tmp_path / "out.onnx").unlink()
    monkeypatch.setattr("rknn_op.models.rewriting.candidates.schema_form", lambda *_: None)
    monkeypatch.setattr("rknn_op.models.rewriting.candidates.own_forms", dict)
    assert reason in refused(file)


@pytest.mark.parametrize(
    ("text", "line", "phrase"),
    [
        ("def broken(\n", 4, "SyntaxError"),
        ("raise KeyError('a')\n", 4, "KeyError: 'a'"),
        (
            '@form("Selu", first=True)\ndef broken(op, x, **more):\n    return x.y\n',
            6,
            "AttributeError",
        ),
    ],
)
def test_errors_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, line: int, phrase: str
) -> None:
    """One line with file and line."""
    monkeypatch.chdir(tmp_path)
    file = by_user(tmp_path, "broken", text)
    message = refused(saved(chain("Selu"), tmp_path))
    assert message.startswith(f"error: {file.relative_to(tmp_path)}:{line}: {phrase}")
    assert message.count("\n") == 1


# ---- scan ----------------------------------------------------------------------------------------


def test_scan_runs_no_code_of_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    by_user(tmp_path, "broken", "raise KeyError('a')\n")
    assert "or rewritten, exact" in rknn_op("scan", saved(chain("Selu"), tmp_path)).stdout


def test_scan_shows_the_form(tmp_path: Path) -> None:
    file = saved(chain("Tan"), tmp_path)
    text = " ".join(rknn_op("scan", file).stdout.split())
    assert "or rewritten, exact: Sin, Cos and Div: 1 Sin, 1 Cos on the CPU" in text
    assert "1 Div on the NPU; moves 3.6 KB" in text
    [missing] = json.loads(rknn_op("scan", file, "--json").stdout)["missing"]
    [node] = missing["nodes"]
    assert node["rewrite"]["npu"] == {"Div": 1}
    assert node["rewrite"]["cpu"] == {"Cos": 1, "Sin": 1}


# ---- graft --rewrite -----------------------------------------------------------------------------


def test_graft_rewrites_first(tmp_path: Path, repositories: Mapping[str, Path]) -> None:
    """What is left becomes custom."""
    nodes = [
        helper.make_node("Selu", ["x"], ["a"], "/selu"),
        helper.make_node("TopK", ["a", "k"], ["y", "indices"], "/top"),
    ]
    ends = [value_info("y", [1, 4, 8, 2]), value_info("indices", [1, 4, 8, 2], TensorProto.INT64)]
    file = saved(model(nodes, X, ends, [constant("k", [2])], opset=17), tmp_path)
    output = tmp_path / "out.onnx"
    result = succeeded("graft", file, "-p", repositories["TopK"], "--rewrite", "-o", output)
    assert "/selu" in result.stdout
    assert "/top: cstTopK" in result.stdout
    found = types(onnx.load(output))
    assert "Selu" not in found
    assert found[-1] == "cstTopK"


def test_graft_without_a_node_that_is_left(
    tmp_path: Path, repositories: Mapping[str, Path]
) -> None:
    file = saved(chain("Selu"), tmp_path)
    result = rknn_op(
        "graft", file, "-p", repositories["Selu"], "--rewrite", "-o", tmp_path / "out.onnx"
    )
    assert_error(result, "is rewritten, so that no custom operator is needed; run: rknn-op rewrite")


# ---- The toolkit ---------------------------------------------------------------------------------


def test_refusal_of_the_toolkit(tmp_path: Path) -> None:
    """Each form that it refuses is dropped, and named."""
    file = saved(chain("Softsign"), tmp_path)
    message = refused(file, "--toolkit", toolkit_of(tmp_path, [], "build: no such rank"))
    assert "schema: RKNN-Toolkit2: build: no such rank" in message


SIMULATOR = """\
#!{python}
import json, sys
from pathlib import Path
import numpy as np
import onnx
import onnxruntime

work = json.loads(Path(sys.argv[2]).read_text())
statuses = []
for each in work["models"]:
    model = onnx.load(each["model"])
    session = onnxruntime.InferenceSession(model.SerializeToString())
    if not each["inputs"]:
        Path(each["package"]).touch()
        Path(each["log"]).touch()
        statuses.append(0)
        continue
    with np.load(each["inputs"]) as file:
        inputs = dict(zip([one.name for one in session.get_inputs()], file.values()))
    outputs = session.run(None, inputs)
    types = {{node.op_type for node in model.graph.node}}
    if {broken!r} <= types:
        outputs[0] = outputs[0] + 0.5
    np.savez(each["outputs"], *outputs)
    Path(each["package"]).touch()
    fails = "Conv" in types and not each["rules"]
    advice = "You can add disable_rules=['fuse_a'] in its config()!"
    Path(each["log"]).write_text(advice if fails else "")
    statuses.append(int(fails))
    with Path(__file__).with_name("builds").open("a") as file:
        file.write("model " if "Conv" in types else "form ")
print(json.dumps(dict(version="9.9", statuses=statuses)))
"""
"""A toolkit whose simulator is wrong where some operators are in one model.

A rule of it fails for models with a Conv. It writes into a file what it builds.
"""


def simulator_of(folder: Path, *broken: str) -> Path:
    """Return a Python with such a toolkit, wrong where these operators are in one model."""
    file = folder / "python"
    file.write_text(SIMULATOR.format(python=sys.executable, broken={*broken}))
    file.chmod(0o755)
    return file


def test_scalar_inputs_are_not_simulated(tmp_path: Path) -> None:
    """The simulator supports none; the message says so."""
    nodes = [
        helper.make_node("Softsign", ["x"], ["a"], "/softsign"),
        helper.make_node("Mul", ["a", "scale"], ["y"], "/scale"),
    ]
    file = saved(model(nodes, [*X, value_info("scale", [])], Y, opset=17), tmp_path)
    result = rewrite(file, "--toolkit", simulator_of(tmp_path, "Conv", "Neg"))
    assert result.exit_code == 0, result.output
    assert "RKNN-Toolkit2 9.9: the model is not simulated: the simulator does not" in result.stderr
    assert "RKNN-Toolkit2 9.9" not in result.stdout


def test_form_that_is_wrong_in_the_model_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is found by the simulator's own tensors, and the next form is taken.

    Only that one is simulated then, and a rule that fails is tried once for a model.
    """
    monkeypatch.chdir(tmp_path)
    text = (
        f"@form('Softsign', first=True)\ndef mine(op, x):\n    return op.Neg(op.Neg({QUOTIENT}))\n"
    )
    by_user(tmp_path, "mine", text)
    toolkit = simulator_of(tmp_path, "Conv", "Neg")
    result = rewrite(saved(chain("Selu", "Softsign"), tmp_path), "--toolkit", toolkit)
    assert result.exit_code == 0, result.output
    assert result.stderr.startswith(
        "warning: node '/Softsign': mine: right alone, wrong in the simulated model; softsign is "
    )
    assert "RKNN-Toolkit2 9.9 with disable_rules=['fuse_a']:" in result.stdout
    builds = (tmp_path / "builds").read_text().split()
    assert builds == ["form", "form", *3 * ["model"], "form", *2 * ["model"]]


def test_sensitive_output_is_named_once(tmp_path: Path) -> None:
    """It is sensitive in float16 and in the simulator."""
    nodes = [
        helper.make_node("Selu", ["x"], ["a"], "/selu"),
        helper.make_node("Mul", ["a", "c"], ["b"], "/mul"),
        helper.make_node("Sin", ["b"], ["y"], "/sin"),
    ]
    file = saved(model(nodes, X, Y, [constant("c", np.float32(500))], opset=17), tmp_path)
    result = rewrite(file, "--toolkit", simulator_of(tmp_path, "Sin"))
    assert result.exit_code == 0, result.output
    assert result.stderr.count("output 'y' changes by up to ") == 1


BROKEN = '''\
@form("GridSample", first=True)
def four_gathers(op, x, grid, *, mode, padding_mode, align_corners):
    """Four Gathers of the flattened plane, and their weights."""
    _, channels, height, width = x.shape
    points = grid.shape[1] * grid.shape[2]
    flat = op.Reshape(x, [channels, height * width])

    def floors(axis, size):
        at = op.Reshape(op.Slice(grid, [axis], [axis + 1], [3]), [points])
        at = op.Sub(op.Mul(op.Add(at, 1.0), size / 2), 0.5)
        low = op.Floor(at)
        return low, op.Sub(at, low)

    (column, right), (row, below) = floors(0, width), floors(1, height)
    total = None
    for y in (0.0, 1.0):
        for x_ in (0.0, 1.0):
            at_x, at_y = op.Add(column, x_), op.Add(row, y)
            inside_x, inside_y = op.Clip(at_x, 0.0, width - 1.0), op.Clip(at_y, 0.0, height - 1.0)
            index = op.Cast(op.Add(op.Mul(inside_y, float(width)), inside_x), to=7)
            weight_x = right if x_ else op.Sub(1.0, right)
            weight_y = below if y else op.Sub(1.0, below)
            weight = op.Mul(weight_x, weight_y)
            for at, inside in ((at_x, inside_x), (at_y, inside_y)):
                weight = op.Mul(weight, op.Clip(op.Sub(1.0, op.Abs(op.Sub(at, inside))), 0.0, 1.0))
            part = op.Mul(op.Gather(flat, index, axis=1), weight)
            total = part if total is None else op.Add(total, part)
    return op.Reshape(total, [1, channels, grid.shape[1], grid.shape[2]])
'''


@pytest.mark.slow
@needs_toolkit
def test_form_that_the_toolkit_breaks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Right on this PC and wrong in the simulator: it is named, and the next one is taken."""
    monkeypatch.chdir(tmp_path)
    by_user(tmp_path, "grid", BROKEN)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["features"], "/conv"),
        helper.make_node("GridSample", ["features", "grid"], ["y"], "/sample"),
    ]
    inputs = [*X, value_info("grid", [1, 8, 8, 2])]
    file = saved(model(nodes, inputs, Y, [weights("w", 4, 4, 1, 1)], opset=17), tmp_path)
    result = rewrite(file, "--toolkit", TOOLKIT)
    assert result.exit_code == 0, result.output
    assert "node '/sample': four_gathers: output y differs in the simulator" in result.stderr
    assert "grid_sample is tried" in result.stderr
    assert "four_gathers" not in result.stdout
    assert result.stdout.count("equal") >= 3


@pytest.mark.slow
@needs_toolkit
def test_simulated_model(tmp_path: Path) -> None:
    file = saved(detection_head(), tmp_path)
    result = rewrite(file, "--toolkit", TOOLKIT)
    assert result.exit_code == 0, result.output
    assert "RKNN-Toolkit2 2.5.0:" in result.stdout
