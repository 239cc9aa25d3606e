"""`rknn-op library`, and `rknn-op create --library`."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from clang_format import get_executable
from onnx import defs

from opkit import repository
from opkit.files.skeletons import once_only_files
from opkit.runtimes import available, parse, selected
from opkit.version import VERSION
from rknn_op.creation import operator_library
from rknn_op.creation.description_texts import adapted, with_kernels
from rknn_op.creation.operator_library import LibraryOperator
from tests.check.target_repositories import counts
from tests.marks import quick_first
from tests.repositories import (
    EXAMPLE_NAMES,
    LIBRARY,
    ROOT,
    Repository,
    example_folder,
    generate_example,
)
from tests.rknn_op.command import assert_error, rknn_op, snapshot, succeeded

DESCRIPTION = """\
name: Sample
framework: onnx
runtimes: [rknn2, pplnn]
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR}}
"""
PAGE = ROOT / "docs/operators.md"


def listed(*arguments: str) -> list[str]:
    """Return the names in the list of operators."""
    done = succeeded("library", *arguments)
    return [line.split()[0] for line in done.stdout.splitlines()]


def test_list_has_a_line_for_every_folder() -> None:
    assert listed() == [*LIBRARY]
    assert len(LIBRARY) == len(EXAMPLE_NAMES)
    lines = rknn_op("library").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert "Exp                e to the power of x, element by element" in lines
    assert "ScatterND          Data with some elements or slices replaced or changed by..." in lines


def test_list_of_a_runtime_and_a_word() -> None:
    of_rknn = [name for name, each in LIBRARY.items() if "rknn" in each.spec.runtimes]
    assert listed("--runtime", "rknn") == of_rknn
    assert listed("CONVO") == ["CausalConvWithState", "ConvInteger", "DeformConv", "QLinearConv"]
    assert listed("hyperbolic cos", "--runtime", "rknn2") == ["Acosh", "Cosh"]
    assert [each["operator"] for each in json.loads(rknn_op("library", "l1", "--json").stdout)] == [
        "ReduceL1"
    ]


@pytest.mark.parametrize(
    "name", ["GatherND", "gathernd", "gather_nd", "GATHERND", "slices of data"]
)
def test_single_operator_has_its_facts(name: str) -> None:
    lines = rknn_op("library", name).stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[:6] == [
        "GatherND: ONNX, opset 11 and later, for rknn2, pplnn",
        "The elements or slices of data at indices: ONNX's GatherND.",
        "Inputs: data, indices.",
        "Outputs: output.",
        "Params: batch_dims.",
        "Refused by an error: indices out of range; an output of more than 6 dimensions.",
    ]
    assert lines[6].startswith("Error: in random calls the results are equal")
    assert lines[-1] == "Make it: rknn-op create --library GatherND -p ./GatherND"


def test_name_goes_before_other_matches() -> None:
    assert rknn_op("library", "sinh").stdout.startswith("Sinh: ")  # not also Asinh
    assert rknn_op("library", "or").stdout.startswith("Or: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["CumSun"], "with 'CumSun' in its name or summary; did you mean 'CumSum'?"),
        (["einsum", "--runtime", "rknn"], "no operator for rknn with 'einsum' in its name"),
        (["\x1b[31m"], "`rknn-op library` lists all"),
    ],
)
def test_no_match(arguments: list[str], message: str) -> None:
    done = rknn_op("library", *arguments)
    assert_error(done, "the library has no operator", message)
    assert "\x1b" not in done.stderr


def test_list_as_json() -> None:
    entries = json.loads(rknn_op("library", "--json").stdout)
    found = {entry["operator"]: entry for entry in entries}
    assert [*found] == [*LIBRARY]
    assert found["Exp"] == {
        "operator": "Exp",
        "onnx": 6,
        "framework": "tensorflow",
        "runtimes": ["rknn", "rknn2", "pplnn"],
        "summary": "e to the power of x, element by element: ONNX's Exp.",
        "refuses": ["input of integers"],
    }
    assert found["CumSum"]["onnx"] == 11


@pytest.mark.slow
def test_every_operator_of_onnx_has_an_answer() -> None:
    names = {each.name for each in defs.get_all_schemas() if each.domain == ""}
    assert len(names) >= 203  # of onnx 1.23
    answers = dict(
        line.split(": ", 1) for line in succeeded("library", "--why").stdout.splitlines()
    )
    training = {"Adagrad", "Adam", "Gradient", "Momentum"}
    assert {*answers} == names - {*LIBRARY} | training
    starts = {
        "Unique": "the shape of its output depends on values: cut the model before it",
        "Scan": "a custom operator has no body with nodes of its own: export",
        "SequenceAt": "a custom operator has tensors only: export the model with tensors",
        "RandomNormal": "a custom operator gives the same outputs for the same inputs: make",
        "StringSplit": "cut the model behind it, and compute it in the application",
        "Adam": "export the model for inference",
        "Softmax": "it is on the list of rk3588's NPU (RKNN-Toolkit2 ",
        "Cast": "it is on the list of the runtime's CPU (RKNN-Toolkit2 ",
        "SoftmaxCrossEntropyLoss": "it is not yet in the library; rknn-op create --from MODEL st",
    }
    assert {name: answers[name][: len(start)] for name, start in starts.items()} == starts
    # The converter refuses it, which no list of the chip says.
    assert answers["If"].startswith("a custom operator has no branches")
    assert {name for name in answers if not re.search(r"\w{3}[^:]*\.$", answers[name])} == set()


@pytest.mark.parametrize("name", ["nonzero", "NON_ZERO", "NonZero"])
def test_reason_of_one_operator(name: str) -> None:
    lines = succeeded("library", "--why", name).stdout.splitlines()
    assert lines[0].startswith("NonZero: the shape of its output depends on values: cut the ")
    assert max(map(len, lines)) <= 80


def test_reason_of_an_operator_that_onnx_lacks() -> None:
    found = " ".join(succeeded("library", "--why", "InverseMelScale").stdout.split())
    assert "multiply by the bank's pseudoinverse, a constant MatMul, and" in found


def test_reason_without_onnx(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in the environment of a user's first command."""
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert succeeded("library", "--why", "loop").stdout.startswith(
        "Loop: a custom operator has no "
    )
    assert_error(rknn_op("library", "--why", "Softmax"), "onnx is not installed")


@pytest.mark.parametrize("name", ["Trilu", "Inverse"])  # of ONNX, and of onnxruntime
def test_reason_of_an_operator_of_the_library(name: str) -> None:
    made = f"{name}: it is in the library; make it: rknn-op create --library {name} -p ./{name}."
    found = succeeded("library", "--why", name.upper()).stdout
    assert " ".join(found.split()) == made


def test_reason_of_an_unknown_operator() -> None:
    done = rknn_op("library", "--why", "Uniqe")
    assert_error(done, "ONNX has no operator 'Uniqe'; did you mean 'Unique'?")
    done = rknn_op("library", "--why", "\x1b[31m")
    assert_error(done, "`rknn-op library --why` lists those that the library lacks")
    assert "\x1b" not in done.stderr
    done = rknn_op("library", "--why", "If", "--runtime", "rknn2")
    assert (done.exit_code, "--why: not with --runtime" in done.stderr) == (2, True)


def test_page_is_made_from_the_folders() -> None:
    """If not: `rknn-op library --markdown > docs/operators.md`."""
    assert PAGE.read_text() == rknn_op("library", "--markdown").stdout


@pytest.mark.parametrize("name", quick_first(1, ["Exp", "ResizeArea", "Selu", "TopK"]))
def test_create_makes_the_repository_of_a_folder(name: str, tmp_path: Path) -> None:
    folder = LIBRARY[name].folder
    (tmp_path / "template").mkdir()
    expected = generate_example(tmp_path / "template", folder.name).path
    done = succeeded("create", "--library", name, "-p", tmp_path / name)
    assert done.stderr == ""
    assert "all of it is yours from now on" in done.stdout
    repository.update(expected)
    found = snapshot(tmp_path / name)
    made = snapshot(expected)
    different = {".cruft.json", "README.md"}  # name the origin
    assert [path for path in {*found, *made} - different if found.get(path) != made.get(path)] == []


SOURCE = """
## Source of the math

* Source: Sample of the operator library of rknn-op {version}, for ONNX, opset 16 and later.
* Refused by an error: integers; images of more than 3 channels, which no model of a detector has,
  as far as known.
* Error: in random calls the results differ by at most 3e-06 + 1e-05 of the result, compared with
  onnxruntime 1.2.3.
* Speed: the time of the CPU kernel relative to that of onnxruntime 1.2.3 with AVX2 is 0.60 x with
  SSE2, on one thread of an x86-64 PC (x 2x3).

"""


def sample(folder: Path, facts: str, measured: str) -> LibraryOperator:
    """Return the operator of a library of one."""
    own = folder / "library/sample"
    own.mkdir(parents=True)
    (own / "sample.yml").write_text(DESCRIPTION)
    (own / "library.yml").write_text(facts)
    (own.parent / operator_library.MEASURED).write_text(measured)
    return operator_library.named_operator(own.parent, "Sample")


def test_readme_says_the_source(tmp_path: Path) -> None:
    operator = sample(
        tmp_path,
        "onnx: 16\nrefuses:\n  - integers\n  - images of more than 3 channels, which no model of a "
        "detector has, as far as known\n",
        "Sample: {onnxruntime: 1.2.3, vectors: AVX2, rtol: 1.0e-5, atol: 3.0e-6, "
        "inputs: x 2x3, times: {SSE2: 0.6}}",
    )
    readme = operator.files(operator.spec)["README.md"].decode()
    section = SOURCE.format(version=VERSION)
    assert section in readme
    plain = once_only_files(operator.spec, selected(operator.spec))["README.md"]
    before, _, after = plain.partition("\n## Your first edit\n")
    assert readme.replace(section, "") == f"{before}{after[after.index('## Commands') :]}"


def test_readme_leaves_unknown_facts_out(tmp_path: Path) -> None:
    operator = sample(tmp_path, "{}", "{}")
    readme = operator.files(operator.spec)["README.md"].decode()
    _, _, section = readme.partition("## Source of the math\n\n")
    [line, *_] = section.split("\n\n")
    assert (
        line
        == f"* Source: Sample of the operator library of rknn-op {VERSION}, for models of onnx."
    )


def test_readme_of_exact_results(tmp_path: Path) -> None:
    facts = "{onnxruntime: 1.2.3, vectors: AVX2, rtol: 0.0, atol: 0.0, inputs: x, times: {SSE2: 1}}"
    operator = sample(tmp_path, "onnx: 16", f"Sample: {facts}")
    line = "* Error: in random calls the results are equal, compared with onnxruntime 1.2.3."
    assert line in operator.files(operator.spec)["README.md"].decode()


def test_create_writes_the_source_into_the_readme(tmp_path: Path) -> None:
    rknn_op("create", "--library", "GridSample", "-p", tmp_path / "sample")
    readme = (tmp_path / "sample/README.md").read_text()
    assert f"GridSample of the operator library of rknn-op {VERSION}" in readme
    assert (
        "* Refused by an error: mode cubic with images of 3 dimensions, which ONNX does not define."
        in readme
    )


@pytest.mark.slow
def test_create_for_another_runtime(tmp_path: Path) -> None:
    folder = tmp_path / "sample"
    done = rknn_op("create", "--library", "GridSample", "--runtime", "pplnn", "-p", folder)
    assert (done.exit_code, done.stderr) == (0, "")
    others = {*available()} - {"pplnn"}
    assert not any((folder / name).exists() for name in others)
    assert "runtimes: [pplnn]" in (folder / "op.yml").read_text()
    Repository(folder).scons("-Q", "target=x64")


def test_create_with_a_gpu_kernel(tmp_path: Path) -> None:
    for name, kernels in (("plain", ()), ("gpu", ("--kernel", "gpu"))):
        succeeded("create", "--library", "LayerNormalization", "-p", tmp_path / name, *kernels)
    new = {*snapshot(tmp_path / "gpu")} - {*snapshot(tmp_path / "plain")}
    assert {path for path in new if "layernormalization" in path} == {
        "rknn2/layernormalization_kernel.cl",
        "rknn2/layernormalization_gpu.h",
        "tests/test_layernormalization_gpu.py",
    }
    assert "docs/gpu.md" in new
    assert "kernels: [cpu, gpu]\n" in (tmp_path / "gpu/op.yml").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["Einsum", "--kernel", "gpu"], "--kernel gpu: the library's Einsum has no such kernel"),
        (["Einsum", "--kernel", "npu"], "kernels[1]: unknown kernel 'npu' (expected cpu, gpu)"),
        (["IsNaN", "--kernel", "gpu"], "outputs.y.dtype: the GPU kernel gets no bool"),
        (
            ["Mish", "--runtime", "pplnn", "--kernel", "gpu"],
            "'gpu' is a kernel of the runtime rknn2, which is not in `runtimes`",
        ),
    ],
)
def test_kernel_that_an_operator_cannot_have(
    words: list[str], message: str, tmp_path: Path
) -> None:
    assert_error(rknn_op("create", "--library", *words, "-p", tmp_path / "made"), message)
    assert not (tmp_path / "made").exists()


@pytest.mark.slow
def test_files_of_templates_are_formatted_and_linted(tmp_path: Path) -> None:
    """As if written by hand, for each runtime alone, too."""
    shutil.copy(ROOT / ".clang-format", tmp_path)
    for operator in (each for each in LIBRARY.values() if each.templates):
        every = [operator.spec.runtimes, *([name] for name in operator.spec.runtimes)]
        texts = {"-".join(names): adapted(operator.text, names)[0] for names in every}
        if (operator.folder / "rknn2").is_dir() or operator.spec.name in ("Mish", "Celu"):
            texts["gpu"] = with_kernels(texts["rknn2"], ["gpu"])
        for name, text in texts.items():
            folder = tmp_path / operator.spec.name / name
            for path, data in operator.files(parse(text)).items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(data)
    ruff = [sys.executable, "-m", "ruff"]
    settings = ["--config", str(ROOT / "pyproject.toml"), "--no-cache"]
    headers = map(str, tmp_path.rglob("*.h"))
    for command in (
        [*ruff, "format", "--check", *settings, str(tmp_path)],
        [*ruff, "check", "--ignore=D103,I", *settings, str(tmp_path)],
        [get_executable("clang-format"), "--dry-run", "-Werror", *headers],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["Exp", "Mish"])
def test_create_for_onnx(name: str, tmp_path: Path) -> None:
    """Of an operator for RKNN-Toolkit 1.x, too: without its kernels, and with the other tests."""
    folder = tmp_path / "made"
    done = rknn_op("create", "--library", name, "--runtime", "rknn2", "-p", folder)
    assert (done.exit_code, done.stderr) == (0, "")
    assert parse((folder / "op.yml").read_text()).framework == "onnx"
    assert not [*folder.glob("rknn_kernel_*")]
    tests = [f"test_{name.lower()}.py"]
    assert [path.name for path in (folder / "tests").glob("*.py")] == tests
    own = example_folder(name.lower()) / "tests" / tests[0]
    assert (folder / "tests" / tests[0]).read_bytes() == own.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("runtime", available())
def test_cases_with_integers_suit_a_single_runtime(runtime: str, tmp_path: Path) -> None:
    """TruncateDiv's: each runtime has other types of integers."""
    folder = tmp_path / "made"
    done = rknn_op("create", "--library", "TruncateDiv", "--runtime", runtime, "-p", folder)
    assert (done.exit_code, done.stderr) == (0, "")
    printed = Repository(folder).scons("-Q", "check", "target=x64").stdout
    assert counts(printed)["CPU kernel"] == 35


def test_create_by_default_in_the_folder_of_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    succeeded("create", "--library", "CumSum")
    assert (tmp_path / "CumSum/cumsum_compute.h").is_file()


def test_dry_run_makes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "sample"
    done = succeeded("create", "--library", "GridSample", "-p", folder, "--dry-run")
    assert "gridsample_compute.h" in done.stdout
    assert not folder.exists()


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("CumSun", "did you mean 'CumSum'?"),
        ("Conv", "`rknn-op library` lists them"),
        ("\x1b[31m", "`rknn-op library` lists them"),
    ],
)
def test_unknown_name(name: str, hint: str, tmp_path: Path) -> None:
    done = rknn_op("create", "--library", name, "-p", tmp_path / "new")
    assert_error(done, "the library has no operator", hint)
    assert "\x1b" not in done.stderr


def test_several_operators_in_any_spelling(tmp_path: Path) -> None:
    folder = tmp_path / "lib"
    done = succeeded("create", "--library", "gelu", "gather_nd", "--library", "TOPK", "-p", folder)
    made = [f"{folder / name}" for name in ("GatherND", "Gelu", "TopK")]
    assert sorted(done.stdout.split()) == made
    assert sorted(path.name for path in folder.iterdir()) == ["GatherND", "Gelu", "TopK"]
    refused = rknn_op("create", "--library", "Selu", "Gelu", "-p", folder)
    assert_error(refused, f"{folder / 'Gelu'} already exists")
    assert not (folder / "Selu").exists()


@pytest.mark.parametrize("other", [("-c", "op.yml"), ("--from", "model.onnx")])
def test_sources_exclude_each_other(other: tuple[str, str]) -> None:
    done = rknn_op("create", "--library", "Exp", *other)
    assert done.exit_code == 2
    assert "Descriptions (-c), --from and --library exclude each other." in done.stderr
