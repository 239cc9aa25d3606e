"""recorded(): the cases in a folder of files; the reference and the kernels run on them."""

from __future__ import annotations

import io
import os
import pickle
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opkit.check.case_makers import encoded
from opkit.check.mistakes import CheckError
from opkit.check.operators import operator_of
from opkit.runtimes.invocation import Array
from opkit.testing import Case
from tests.check.target_repositories import counts, need
from tests.mutation import mutants
from tests.repositories import Repository, generate
from tests.runtimes.rknn2.test_simulator import toolkit_python

DESCRIPTION = """\
name: Scale
framework: onnx
target_platform: RK3588
runtimes: [rknn2]
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR}}
params: {factor: {type: VX_TYPE_FLOAT32, default: 1.0}}
"""
X = np.arange(12, dtype="float32").reshape(3, 4)


def of_scale(x: Array = X, factor: float = 2.0, y: Array | None = None) -> bytes:
    return encoded(
        {"x": x}, {"y": x * x.dtype.type(factor) if y is None else y}, {"factor": factor}
    )


# ---- Files ---------------------------------------------------------------------------------------


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., list[Case]]:
    """Return a function that writes files, evaluates a call in a test, and checks its cases."""

    def evaluate(
        files: Mapping[str, bytes], call: str = "recorded()", description: str = DESCRIPTION
    ) -> list[Case]:
        operator_of.cache_clear()
        (tmp_path / "op.yml").write_text(description)
        folder = tmp_path / "tests/data"
        folder.mkdir(parents=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)
        text = f"from opkit.testing import recorded\n\nfound = {call}\n"
        names: dict[str, Any] = {}
        exec(compile(text, str(tmp_path / "tests/test_scale.py"), "exec"), names)
        found: list[Case] = names["found"]
        for case in found:
            operator_of(tmp_path).check(case)
        return found

    return evaluate


def test_each_file_is_a_case(read: Callable[..., list[Case]]) -> None:
    half = X.astype("float16")
    files = {"scale_2.npz": of_scale(half), "scale_1.npz": of_scale(factor=0.5), "notes.txt": b""}
    first, second = read(files, "recorded('data', max_ulp=1, max_error={'y': 0.5})")
    assert [str(first), str(second)] == ["scale_1", "scale_2"]
    assert first.params == {"factor": 0.5}
    np.testing.assert_array_equal(first.inputs["x"], X)
    np.testing.assert_array_equal(second.recorded["y"], half * 2)
    assert [second.inputs["x"].dtype, second.recorded["y"].dtype] == ["float16", "float16"]
    assert (first.recorded_tolerance.max_ulp, first.recorded_tolerance.max_error) == (1, {"y": 0.5})


def test_outputs_may_be_absent(read: Callable[..., list[Case]]) -> None:
    (case,) = read({"a.npz": encoded({"x": X}, {}, {})})
    assert case.recorded == {}


def test_same_values_are_the_same_bytes() -> None:
    fortran, swapped = np.asfortranarray(X), X.astype(">f4")
    assert of_scale() == of_scale(fortran, y=X * 2) == of_scale(swapped, y=X * 2)
    assert encoded({}, {}, {"a": np.float32(0.5), "b": np.array([1, 2])}) == encoded(
        {}, {}, {"b": [1, 2], "a": 0.5}
    )


def test_scalar_is_not_an_array_of_one() -> None:
    with np.load(io.BytesIO(encoded({"x": np.float32(3)}, {}, {})), allow_pickle=False) as file:
        assert file["inputs/x"].shape == ()


def zipped(**members: bytes) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return content.getvalue()


def saved(**arrays: Any) -> bytes:
    content = io.BytesIO()
    np.savez(content, **arrays)
    return content.getvalue()


class Bomb:
    """Exits if it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return exit, (3,)


PARAMS = np.array("{}")
BAD_FILES = {
    "nothing": (b"", "File is not a zip file (expected NAME.npz with the arrays inputs/INPUT"),
    "text": (b"hello\n", "File is not a zip file"),
    "truncated": (of_scale()[:-30], "File is not a zip file"),
    "pickle": (pickle.dumps(Bomb()), "File is not a zip file"),
    "objects": (saved(**{"inputs/x": np.array([Bomb()]), "params": PARAMS}), "Object arrays"),
    "foreign": (saved(x=X, y=X), "unknown array 'x'"),
    "escape": (saved(**{"inputs/x": X, "\x1b[2J": X}), "unknown array '\\x1b[2J'"),
    "no input": (saved(params=PARAMS), "it has no array inputs/INPUT"),
    "no params": (saved(**{"inputs/x": X}), "it has no array 'params' with a JSON object"),
    "list": (saved(**{"inputs/x": X, "params": np.array("[]")}), "no array 'params' with a JSON"),
    "no JSON": (saved(**{"inputs/x": X, "params": np.array("{'a'}")}), "Expecting property name"),
    "header": (
        zipped(
            **{
                "inputs/x.npy": b"\x93NUMPY\1\0\x46\0{'descr': '<f4', 'fortran_order': False, "
                b"'shape': (9000000000000000,)}\n"
            }
        ),
        "is not a recorded case",
    ),
}


@pytest.mark.parametrize("name", [*BAD_FILES, "too large"])
def test_invalid_file_is_one_message(read: Callable[..., list[Case]], name: str) -> None:
    if name == "too large":  # only here: it takes as long to make as to collect some hundred tests
        content, reason = (
            zipped(**{"inputs/x.npy": bytes(257 << 20)}),
            "its arrays have 269,484,032",
        )
    else:
        content, reason = BAD_FILES[name]
    with pytest.raises(CheckError) as raised:
        read({"a.npz": of_scale(), "b.npz": content})
    message = str(raised.value)
    assert message.startswith("tests/data/b.npz: is not a recorded case: ")
    assert reason in message
    assert "\n" not in message
    assert len(message) < 400


def test_damaged_files_raise_nothing_else(read: Callable[..., list[Case]], tmp_path: Path) -> None:
    read({"a.npz": of_scale()})
    for damaged in mutants([of_scale()], 200):
        (tmp_path / "tests/data/a.npz").write_bytes(damaged)
        names: dict[str, Any] = {}
        text = "from opkit.testing import recorded\nfound = recorded()"
        try:
            exec(compile(text, str(tmp_path / "tests/test_scale.py"), "exec"), names)
            for case in names["found"]:
                operator_of(tmp_path).check(case)
        except CheckError as error:
            assert str(error).startswith("tests/data/a.npz: ")


WRONG_CASES = {
    "inputs": (encoded({"z": X}, {}, {}), "the case has the inputs z; op.yml has: x"),
    "outputs": (
        encoded({"x": X}, {"z": X}, {}),
        "the case has the unknown recorded output 'z'; op.yml has: y",
    ),
    "params": (encoded({"x": X}, {}, {"a": 1}), "the case sets the unknown param 'a'; op.yml has"),
    "text": (encoded({"x": np.array(["a"])}, {}, {}), "input 'x' is <U1"),
    "scalar": (encoded({"x": np.float32(1)}, {}, {}), "input 'x' has shape ()"),
    "integers": (
        of_scale(y=np.zeros((3, 4), "int32")),
        "output 'y' is int32 in the case, but float32 in the class that RKNN-Toolkit2 calls, as "
        "the first input says; write `dtype: int32` in op.yml at outputs.y, or record the case",
    ),
}


@pytest.mark.parametrize("name", WRONG_CASES)
def test_foreign_case_names_its_file(read: Callable[..., list[Case]], name: str) -> None:
    content, problem = WRONG_CASES[name]
    with pytest.raises(CheckError) as raised:
        read({"b.npz": content})
    assert str(raised.value).startswith(f"tests/data/b.npz: {problem}")


WRONG_CALLS = {
    "recorded('other')": "recorded(): tests/other is not a folder (expected NAME.npz with the arr",
    "recorded()": "recorded(): tests/data has no recorded case (expected NAME.npz with the arrays",
    "recorded(max_ulp={'z': 1})": "max_ulp={'z': 1}: unknown output 'z' (expected y)",
    "recorded(max_error=-1)": "max_error=-1; write a finite number, 0 or larger",
}


@pytest.mark.parametrize("call", WRONG_CALLS)
def test_invalid_call_names_its_line(read: Callable[..., list[Case]], call: str) -> None:
    with pytest.raises(CheckError, match=re.escape(WRONG_CALLS[call])) as raised:
        read({}, call)
    assert "test_scale.py:3: " in str(raised.value)


def test_tolerance_of_every_number_is_refused(read: Callable[..., list[Case]]) -> None:
    with pytest.raises(CheckError, match=r"test_scale.py:3: max_error=1e\+39 tolerates every"):
        read({"a.npz": of_scale()}, "recorded(max_error=1e39)")


# ---- A repository --------------------------------------------------------------------------------

TESTS = """\
import pytest
from opkit.testing import check_cpu_kernel, recorded

CASES = recorded(max_ulp=1)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)


@pytest.mark.parametrize("case", CASES[:1], ids=str)
def test_kernel_of_another_factor(case, monkeypatch):
    monkeypatch.setitem(case.params, "factor", 1.0)
    check_cpu_kernel(case, changes_reference=True)
"""
REFERENCE = """\
import numpy as np


def output_shapes(input_shapes, params):
    return {"y": input_shapes["x"]}


def reference(inputs, params):
    return {"y": inputs["x"] * np.float32(params["factor"])}
"""
COPY, MATH = "= inputs->x.float32[i];", "= inputs->x.float32[i] * params->factor;"


@pytest.fixture(scope="module")
def scale(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Return an operator with recorded cases; each test edits its files for a time."""
    repository = generate(tmp_path_factory.mktemp("scale"), DESCRIPTION)
    root = repository.path
    header = root / "scale_compute.h"
    header.write_text(header.read_text().replace("    (void)params;\n", "").replace(COPY, MATH))
    (root / "scale_reference.py").write_text(REFERENCE)
    (root / "tests/test_scale.py").write_text(TESTS)
    (root / "tests/data").mkdir()
    files = {"layer_1": of_scale(), "layer_2": of_scale(X.astype("float16"), 0.1)}
    # A framework computes layer_2 in float16, from a rounded factor: 1 ulp off.
    for name, content in files.items():
        (root / f"tests/data/{name}.npz").write_bytes(content)
    return repository


@contextmanager
def changed(file: Path, before: str, after: str) -> Iterator[None]:
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after))
    try:
        yield
    finally:
        file.write_text(text)


def table(printed: str) -> list[tuple[str, ...]]:
    """Return kernel, case, largest error and ulp of each row of the table of cases, sorted."""
    _, _, printed = printed.partition("cases ====")
    row = r"^(reference|(?:CPU kernel|simulator)(?:, \S+)?)  +(\S+) +(\S+) +(\S+) +\S"
    return sorted(re.findall(row, printed, re.MULTILINE))


@pytest.mark.slow
def test_reference_and_kernel_are_compared(scale: Repository) -> None:
    checked = scale.scons("-Q", "check", "verbose=1").stdout
    assert table(checked) == [
        ("CPU kernel", "layer_1", "0", "0"),
        ("CPU kernel", "layer_1", "0", "0"),  # its test replaces the reference
        ("CPU kernel", "layer_2", "0", "0"),
        ("reference", "layer_1", "0", "0"),
        ("reference", "layer_2", "0.000488", "1"),
    ]
    assert counts(checked) == {"reference": 2, "CPU kernel": 3}
    assert "note: 1 of 3 cases left out on reference\n" in checked
    assert (
        "reference leaves out cases that change the reference: the recorded outputs are of the "
        "unchanged one (1 of 3)"
    ) in " ".join(checked.split())


@pytest.mark.slow
def test_wrong_reference_is_named(scale: Repository) -> None:
    """It differs from the framework, and the right kernel from it."""
    root = scale.path
    with changed(root / "scale_reference.py", '["factor"])}', '["factor"]) + 1}'):
        failed = scale.scons("-Q", "check", check=False).stdout
    assert [row[0] for row in table(failed) if row[2] != "0"] == [
        *("CPU kernel", "CPU kernel", "CPU kernel"),
        *("reference", "reference"),
    ]
    flat = " ".join(failed.split())
    assert "2 of 2 cases on the reference: wrong elements in output 'y', compared with the" in flat
    assert (
        "the worst is y[0, 0]: the reference gives 1.0, the recorded output 0.0 (1065353216 ulp "
        "apart, allowed: 1 ulp) each element is the recorded output's plus 1 x[0, 0] = 0.0 "
        "factor = 2.0"
    ) in flat
    assert "3 of 3 cases on the CPU kernel: wrong elements in output 'y'" in flat


@pytest.mark.slow
def test_wrong_kernel_is_not_the_reference(scale: Repository) -> None:
    with changed(scale.path / "scale_compute.h", MATH, COPY):
        failed = scale.scons("-Q", "check", check=False).stdout
    assert [row[0] for row in table(failed) if row[3] not in "01"] == ["CPU kernel", "CPU kernel"]
    assert "on the reference" not in failed


@pytest.mark.slow
def test_other_shape_of_the_reference_is_named(scale: Repository) -> None:
    data = scale.path / "tests/data/layer_3.npz"
    data.write_bytes(of_scale(y=X.T.copy()))
    try:
        failed = scale.scons("-Q", "check", check=False).stdout
    finally:
        data.unlink()
    assert (
        "the reference returns 'y' with shape (3, 4), but the recorded output has shape (4, 3)"
    ) in " ".join(failed.split())


@pytest.mark.slow
def test_broken_file_is_one_message(scale: Repository) -> None:
    data = scale.path / "tests/data/layer_3.npz"
    data.write_bytes(of_scale()[:-30])
    try:
        failed = scale.scons("-Q", "check", check=False)
    finally:
        data.unlink()
    assert "tests/data/layer_3.npz: is not a recorded case: File is not a zip file" in failed.stdout
    assert "Traceback" not in failed.stdout + failed.stderr


def test_git_keeps_the_bytes(scale: Repository) -> None:
    assert "\n*.npz binary\n" in (scale.path / ".gitattributes").read_text()


@pytest.mark.slow
@pytest.mark.nightly
def test_report_shows_the_reference(scale: Repository) -> None:
    scale.scons("-Q", "report")
    page = (scale.path / "build/report.html").read_text()
    assert "<h3>reference</h3>" in page


@pytest.mark.slow
@pytest.mark.nightly
def test_mutate_runs_recorded_cases(scale: Repository) -> None:
    assert "your cases notice" in scale.scons("-Q", "check", "mutate=2").stdout


@pytest.mark.slow
@pytest.mark.nightly
def test_gdb_runs_a_recorded_case(scale: Repository) -> None:
    assert scale.scons("-Q", "gdb", "case=layer_2").stdout.splitlines()[-1].startswith("gdb ")


@pytest.mark.slow
@pytest.mark.nightly
def test_sanitizers_run_recorded_cases(scale: Repository) -> None:
    need("gcc", "gcc")
    checked = scale.scons(
        "-Q", "sanitize=address,undefined", "quick=1", "verbose=1", "check", path=os.environ["PATH"]
    ).stdout
    rows = [row[1:] for row in table(checked) if row[0] == "CPU kernel, address,undefined"]
    assert {*rows} == {("layer_1", "0", "0"), ("layer_2", "0", "0")}


@pytest.mark.slow
@pytest.mark.nightly
def test_simulator_runs_recorded_cases(scale: Repository) -> None:
    checked = scale.scons("-Q", f"rknn2_python={toolkit_python()}", "check", "verbose=1").stdout
    assert [row[1] for row in table(checked) if row[0] == "simulator, rk3588"] == [
        *("layer_1", "layer_2"),
    ]
