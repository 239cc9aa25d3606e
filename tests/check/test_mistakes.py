"""Errors of the user are one message with the user's own line, without a traceback."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opkit.check.mistakes import CheckError, user_message
from opkit.check.operators import Operator
from opkit.check.session import Session
from opkit.common.errors import OpkitError
from opkit.testing import Case, cases, check_cpu_kernel, integers, special, uniform
from tests.repositories import installed_opkit

DESCRIPTION = """\
name: Shrink
inputs: {input: {type: VX_TYPE_TENSOR}}
outputs: {output: {type: VX_TYPE_TENSOR}}
params:
  size: {type: VX_TYPE_ARRAY, length: 2}
  factor: {type: VX_TYPE_FLOAT32, default: 2}
"""
SHAPES = 'return {"output": input_shapes["input"]}'  # line 5, of a function that begins in line 4
MATH = 'return {"output": inputs["input"]}'  # line 9, of a function that begins in line 8
REFERENCE = f"""\
import numpy as np


def output_shapes(input_shapes, params):
    {SHAPES}


def reference(inputs, params):
    {MATH}
"""


@pytest.fixture
def shrink(tmp_path: Path) -> Operator:
    """Return an operator without kernels, as these mistakes stop a check before any kernel runs."""
    (tmp_path / "op.yml").write_text(DESCRIPTION)
    (tmp_path / "shrink_reference.py").write_text(REFERENCE)
    return Operator(tmp_path)


def case(name: str = "a", shape: tuple[int, ...] = (2, 3), **settings: Any) -> Case:
    return Case(name, {"input": np.ones(shape, np.float16)}, {"size": [4, 4], **settings})


def replace(shrink: Operator, old: str, new: str) -> None:
    assert old in REFERENCE
    (shrink.root / "shrink_reference.py").write_text(REFERENCE.replace(old, new))


# ---- In the reference ----------------------------------------------------------------------------

IN_MATH = {
    "return None": '8: reference returns None; write return {"output": ...}',
    "return inputs['input']": "8: reference returns a ndarray; write return {",
    "return {'outputs': inputs['input']}": "8: reference returns nothing for 'output'; write",
    "return {'output': 1, 'more': 1}": "8: reference returns the unknown output 'more'; op.yml has",
    "return {'output': np.sum(inputs['input'], 2)}": "9: AxisError: axis 2 is out of bounds for",
    "return {'output': params['sizes']}": "9: KeyError: 'sizes'; the inputs are input, the "
    "params size, factor",
    "return {'output': 1 // 0}": "9: ZeroDivisionError: ",
    "return {'output': inputs['input'].astype('half1')}": "9: TypeError: data type 'half1' not",
    "import sys; sys.exit(0)": "9: exit(0) is called, which ends the check; delete the call",
    "return {'output': inputs['input'][:1]}": "8: the reference returns 'output' with shape "
    "(1, 3), but its output_shapes says (2, 3)",
    "return {'output': [[1], [2, 3]]}": "8: reference returns an invalid array for 'output'",
    "return {'output': 'text'}": "8: reference returns 'output' with dtype <U4; expected floats",
    "return {'output': inputs['input'] * 1j}": "8: reference returns 'output' with dtype complex64",
    "inputs['input'] += 1; return {'output': inputs['input']}": "8: the reference changes its",
    "params['size'][0] = 1; return {'output': inputs['input']}": "8: reference changes the param "
    "'size'; copy it first",
    "params['size'] = [4, 5]; return {'output': inputs['input']}": "8: reference changes the param",
    "params['more'] = 1; return {'output': inputs['input']}": "8: reference changes the param 'mor",
    "return {'output': np.zeros((2, 3), int)}": "8: the reference returns 'output' as int64, but "
    "the output is float16; convert it with .astype(np.float32), or write the output's dtype in",
    "return {'output': inputs['input'] > 0}": "8: the reference returns 'output' as bool, but the",
    "return reference(inputs, params)": "9: RecursionError: maximum recursion depth exceeded",
}
IN_SHAPES = {
    "return None": '4: output_shapes returns None; write return {"output": ...}',
    "return {'output': (2, params['factr'])}": "5: KeyError: 'factr'; the inputs are input, the",
    "return {'output': (2, 1.5)}": "4: output_shapes returns (2, 1.5) for 'output'; expected a",
    "return {'output': 6}": "4: output_shapes returns 6 for 'output'; expected a tuple of integers",
    "return {'output': (0, 3)}": "8: the reference returns 'output' with shape (2, 3), but its",
    "params['size'].sort(); params['size'][0] = 1; return {'output': (2, 3)}": "4: output_shapes "
    "changes the param 'size'; copy it first",
    "raise SystemExit": "5: exit(None) is called, which ends the check",
}
IN_FILE = {
    "import nump": "1: ModuleNotFoundError: No module named 'nump'",
    "import numpy as np; np.flaot": "1: AttributeError: module 'numpy' has no attribute 'flaot'",
    "import numpy as np; np.sum(": "1: SyntaxError: '(' was never closed",
    "raise SystemExit(0)": "1: exit(0) is called, which ends the check; delete the call",
}
PLACES = {MATH: IN_MATH, SHAPES: IN_SHAPES, "import numpy as np": IN_FILE}


@pytest.mark.parametrize(
    ("place", "mistake"), [(place, mistake) for place in PLACES for mistake in PLACES[place]]
)
def test_reference_error(place: str, mistake: str, shrink: Operator) -> None:
    replace(shrink, place, mistake)
    with pytest.raises(CheckError) as raised:
        shrink.prepare(case())
    message = str(raised.value)
    assert message.startswith(f"shrink_reference.py:{PLACES[place][mistake]}")
    context = "\n    input: float16 2x3\n    size = [4, 4]\n    factor = 2.0"
    assert message.endswith(context) == (place != "import numpy as np")


@pytest.mark.parametrize(
    ("old", "message"),
    [
        ("def reference(inputs, params)", "function reference(inputs, params) not found"),
        (
            "def output_shapes(input_shapes, params)",
            "function output_shapes(input_shapes, params) not",
        ),
    ],
)
def test_missing_reference_function(old: str, message: str, shrink: Operator) -> None:
    replace(shrink, old, old.replace("s(", "(").replace("e(", "(").replace("output", "x"))
    with pytest.raises(CheckError, match=rf"^shrink_reference\.py: {re.escape(message)}"):
        shrink.prepare(case())


def test_wrong_signature_error_has_function_line(shrink: Operator) -> None:
    replace(shrink, "reference(inputs, params)", "reference(inputs)")
    with pytest.raises(
        CheckError, match=r"^shrink_reference\.py:8: TypeError: reference\(\) takes"
    ):
        shrink.prepare(case())


def test_missing_reference(shrink: Operator) -> None:
    reference = shrink.root / "shrink_reference.py"
    reference.unlink()
    with pytest.raises(OpkitError) as raised:
        shrink.prepare(case())
    assert str(raised.value) == f"{reference} not found; run `scons target=x64` to create it"


def test_failed_import_is_retried(shrink: Operator) -> None:
    replace(shrink, "import numpy as np", "import nump")
    with pytest.raises(CheckError):
        shrink.prepare(case())
    (shrink.root / "shrink_reference.py").write_text(REFERENCE)
    assert shrink.prepare(case()).expected["output"].shape == (2, 3)


def test_error_without_user_line_has_no_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ZeroDivisionError) as raised:
        exec(compile("1 / 0", "<frozen>", "exec"))
    assert user_message(raised.value, tmp_path) == ""
    assert user_message(
        raised.value, tmp_path, "mine.py:3"
    ) == "mine.py:3: ZeroDivisionError: " + str(raised.value)


def test_error_in_installed_package_has_line_of_its_caller(shrink: Operator) -> None:
    """Also if the environment is in the repository."""
    package = shrink.root / ".venv/lib/python3/site-packages/halves.py"
    package.parent.mkdir(parents=True)
    package.write_text("def half(x):\n    return x / 0\n")
    load = f"import sys; sys.path.insert(0, {str(package.parent)!r}); import halves"
    replace(shrink, "import numpy as np", load)
    reference = shrink.root / "shrink_reference.py"
    reference.write_text(reference.read_text().replace(MATH, "return halves.half(1)"))
    with pytest.raises(CheckError, match=r"^shrink_reference\.py:9: ZeroDivisionError: "):
        shrink.prepare(case())


def test_reference_gets_copies_of_params(shrink: Operator) -> None:
    replace(shrink, MATH, 'params["size"].append(1); return {"output": inputs["input"]}')
    given = [4, 4]
    for name in ("first", "second"):
        with pytest.raises(CheckError, match="reference changes the param 'size'"):
            shrink.prepare(case(name, size=given))
    assert given == [4, 4]


def test_params_with_nan_are_unchanged(shrink: Operator) -> None:
    (shrink.root / "op.yml").write_text(
        DESCRIPTION.replace("name: Shrink\n", "name: Shrink\nruntimes: [pplnn]\n")
    )
    made = case(factor=np.float32("nan"))
    assert shrink.prepare(made).expected["output"].shape == (2, 3)


# ---- Warnings ------------------------------------------------------------------------------------


def test_reference_warning_is_shown_once(shrink: Operator) -> None:
    replace(shrink, MATH, 'return {"output": np.exp(inputs["input"] * 1e3)}')
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for name in "abc":
            shrink.prepare(case(name))
    (warning,) = caught
    assert (Path(warning.filename).name, warning.lineno) == ("shrink_reference.py", 9)
    assert "overflow" in str(warning.message)


def test_reference_of_special_values_warns_of_nothing(shrink: Operator) -> None:
    replace(shrink, MATH, 'return {"output": np.exp(inputs["input"]) - np.inf}')
    made = cases([{"input": (3, 50)}], [special()], [{"size": [1, 1]}])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shrink.prepare(made[0])


def test_one_special_input_is_enough_for_no_warning(tmp_path: Path) -> None:
    described = "{x: {type: VX_TYPE_TENSOR}, input: {type: VX_TYPE_TENSOR}}"
    (tmp_path / "op.yml").write_text(
        DESCRIPTION.replace("{input: {type: VX_TYPE_TENSOR}}", described)
    )
    (tmp_path / "shrink_reference.py").write_text(
        REFERENCE.replace(MATH, 'return {"output": np.exp(inputs["input"] * 1e3)}')
    )
    arrays = {"x": np.ones(2, np.float16), "input": np.array([1, np.inf], np.float16)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Operator(tmp_path).prepare(Case("a", arrays, {"size": [1, 1]}))
        with pytest.raises(CheckError, match="overflow"):
            Operator(tmp_path).prepare(Case("b", arrays | {"input": arrays["x"]}, {"size": [1, 1]}))


def test_opkit_emits_no_warnings(shrink: Operator) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        every_half = np.arange(2**16, dtype=np.uint16).view(np.float16)
        shrink.prepare(Case("all", {"input": every_half}, {"size": [1, 1], "factor": 1e300}))
        for dtype in ("float16", "float32", "int8", "uint8", "int16"):
            made = cases(
                shapes=[{"input": (3, 50)}],
                values=[special(), uniform(0, 100), integers(0, 100)],
                params=[{"size": [1, 1]}],
                dtype=dtype,
            )
            for one in made:
                shrink.prepare(one)
        cases(shapes=[{"input": (9,)}], values=[uniform(-1e9, 1e9), integers(0, 10**9)])


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"size": [4, 0]}, "'size' has the item 0, which op.yml does not allow (expected 1 to 9)"),
        ({"factor": 3}, "'factor' is 3, which op.yml does not allow (expected 0.1, 2)"),
        ({"factor": float("nan")}, "'factor' is nan, which op.yml does not allow (expected 0.1,"),
    ],
)
def test_param_that_op_yml_does_not_allow(
    settings: dict[str, Any], problem: str, shrink: Operator
) -> None:
    (shrink.root / "op.yml").write_text(
        DESCRIPTION.replace("length: 2", "length: 2, min: 1, max: 9").replace(
            "default: 2", "default: 2, choices: [0.1, 2]"
        )
    )
    assert shrink.prepare(case(factor=np.float32(0.1))).expected["output"].shape == (2, 3)
    with pytest.raises(CheckError) as raised:
        shrink.prepare(case(**settings))
    assert "test_mistakes.py:" in str(raised.value)
    assert f": param {problem}" in str(raised.value)


# ---- In the cases --------------------------------------------------------------------------------

RIGHT: dict[str, Any] = {"shapes": [{"input": (2,)}], "values": [uniform(-1, 1)]}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"shapes": []}, "shapes is empty; write a list, as shapes=[{"),
        ({"shapes": {"input": (2,)}}, "shapes is a single dict; write a list, as shapes=[{"),
        ({"shapes": [(2,)]}, "shapes has (2,); write a list, as shapes=[{"),
        ({"shapes": [{"input": 2}]}, "the shape of 'input' is 2; write whole numbers, as (1, 6"),
        ({"shapes": [{"input": (2, 1.5)}]}, "the shape of 'input' is (2, 1.5); write whole"),
        ({"shapes": [{"input": (2, -1)}]}, "the shape of 'input' is (2, -1); write whole"),
        ({"values": uniform(-1, 1)}, "values is Values(name='uniform'"),
        ({"values": [1.5]}, "values has 1.5; write a list, as values=[uniform(-1, 1), special()]"),
        ({"values": [{"inptu": special()}]}, "values has no entry for input 'input', which is"),
        ({"params": {"size": [4, 4]}}, 'params is a single dict; write a list, as params=[{"size"'),
        ({"params": []}, "params is empty; write a list"),
        ({"params": [special()]}, "params has Values(name='special'"),
        ({"shapes": [special()]}, "shapes has Values(name='special'"),
        ({"shapes": "input"}, "shapes is 'input'; write a list"),
        ({"shapes": [{"input": (2, True)}]}, "the shape of 'input' is (2, True); write whole"),
        ({"values": []}, "values is empty; write a list, as values=[uniform(-1, 1), special()]"),
        ({"dtype": "float17"}, "unknown dtype 'float17' (expected float16, float32, int8"),
        ({"dtype": np.float16}, "unknown dtype <class 'numpy.float16'> (expected float16"),
        ({"dtype": {"input": "half"}}, "unknown dtype 'half' of 'input' (expected float16"),
    ],
)
def test_cases_invalid_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(CheckError) as raised:
        cases(**{**RIGHT, **arguments})
    assert re.match(rf".*test_mistakes\.py:\d+: cases\(\): {re.escape(message)}", str(raised.value))


def make(**settings: Any) -> Case:
    return Case("a", {"input": np.ones(3, np.float16)}, **settings)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Case("a", {}), "the case has the inputs none; op.yml has: input"),
        (lambda: Case("a", {"input": [1, 2]}), "input 'input' is a list, not a numpy array"),  # type: ignore[dict-item]
        (lambda: make(), "the case does not set param 'size', which has no default in op.yml"),
        (lambda: make(params={"size": ["4", 4]}), "param 'size' is ['4', 4]; op.yml wants a list"),
        (
            lambda: make(params={"size": [1, 2, 3]}),
            "param 'size' has 3 items; op.yml says length: 2",
        ),
        (
            lambda: make(params={"size": [1, 2], "factor": "2"}),
            "param 'factor' is '2'; op.yml wants a number, VX_TYPE_FLOAT32",
        ),
        (
            lambda: make(params={"size": [1, 2]}, output_dtypes={"outptu": "int32"}),
            "the case has a dtype for 'outptu', which is not a tensor; op.yml has the outputs: ",
        ),
        (
            lambda: make(params={"size": [1, 2]}, output_dtypes={"output": "half1"}),
            "output 'output' has the unknown dtype 'half1'",
        ),
        (
            lambda: make(params={"size": [1, 2]}, output_dtypes={"output": "float64"}),
            "output 'output' is float64; the board's tensors are one of: float16",
        ),
    ],
)
def test_case_op_yml_mismatch(wrong: Callable[[], Case], message: str, shrink: Operator) -> None:
    made = wrong()
    assert re.fullmatch(r".*test_mistakes\.py:\d+", made.origin)
    with pytest.raises(CheckError) as raised:
        shrink.check(made)
    assert str(raised.value).startswith(f"{made.origin}: ")
    assert message in str(raised.value)


@pytest.mark.parametrize(("runtimes", "is_refused"), [("rknn", True), ("rknn, rknn2", False)])
def test_dtype_is_refused_if_no_runtime_has_it(
    runtimes: str, is_refused: bool, tmp_path: Path
) -> None:
    """Otherwise the other runtimes leave the case out."""
    text = DESCRIPTION.replace("{output: {", "{output: {dtype: float32, ")
    (tmp_path / "op.yml").write_text(f"{text}runtimes: [{runtimes}]\n")
    made = Case("a", {"input": np.ones(3, np.int64)}, {"size": [1, 1]})
    with pytest.raises(CheckError, match="input 'input' is int64") if is_refused else nullcontext():
        assert Operator(tmp_path).check(made) == {"size": [1, 1], "factor": 2}


@pytest.mark.parametrize(
    ("declared", "dtype", "is_refused"),
    [
        ("float32", "float16", False),
        ("float16", "float32", False),
        ("int16", "float32", True),
        ("float32", "int16", True),
        ("int16", "int8", True),
    ],
)
def test_input_may_have_another_float(
    declared: str, dtype: str, is_refused: bool, tmp_path: Path
) -> None:
    text = DESCRIPTION.replace("{input: {", f"{{input: {{dtype: {declared}, ")
    (tmp_path / "op.yml").write_text(text)
    made = Case("a", {"input": np.ones(3, dtype)}, {"size": [1, 1]})
    message = f"input 'input' is {dtype} in the case, but {declared} as op.yml says"
    with pytest.raises(CheckError, match=message) if is_refused else nullcontext():
        Operator(tmp_path).check(made)


def test_check_of_no_case(shrink: Operator) -> None:
    message = r".*test_mistakes\.py:\d+: the case is a dict; write cases\(\.\.\.\)$"
    with pytest.raises(pytest.fail.Exception, match=message):
        check_cpu_kernel({"input": 1}, operator=shrink)  # type: ignore[arg-type]  # the mistake


# ---- In the tests of a repository ----------------------------------------------------------------

TEST = """\
import pytest
from opkit.testing import cases, check_cpu_kernel, uniform
CASES = cases([{"input": (3,)}, {"input": (4,)}], [uniform(-1, 1)], [{"size": [1, 2]}])

@pytest.mark.parametrize("case", CASES, ids=str)
def test_it(case):
    check_cpu_kernel(case)
"""
# Old text in TEST -> (new text, message after the file's name).
IN_TESTS = {
    ("import pytest", "import sys; sys.exit(0)"): ":1: exit(0) is called, which ends the check",
    ("import pytest", "import pytset"): ":1: ModuleNotFoundError: No module named 'pytset'",
    ("CASES =", "CASES = ("): ":3: SyntaxError: '(' was never closed",
    ("CASES = ", "CASES = 1 // 0 + "): ":3: ZeroDivisionError: ",
    ("-1, 1", "-1"): ":3: TypeError: uniform() missing 1 required positional argument: 'high'",
    ("{'input': (3,)}, {'input': (4,)}", ""): ":3: cases(): shapes is empty",
    ("'input'", "'image'"): ":3: the case has the inputs image; op.yml has: input",
    ("'size'", "'sizes'"): ":3: the case sets the unknown param 'sizes'; op.yml has: size, factor",
    ("[1, 2]", "1"): ":3: param 'size' is 1; op.yml wants a list of numbers",
    (", CASES,", ", CASES[:0],"): "Empty parameter set in 'test_it' at line 5",
}


def run_pytest(root: Path) -> str:
    Session().write(root / "session.json")
    command = [sys.executable, "-B", "-m", "pytest", "-p", "opkit.check.pytest_plugin"]
    run = subprocess.run(
        [*command, "-p", "no:cacheprovider", "--opkit-session=session.json"],
        cwd=root,
        env={**os.environ, "PYTHONPATH": installed_opkit()},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode != 0
    assert "Traceback" not in run.stdout + run.stderr
    assert "opkit/" not in run.stdout.replace(str(root), "").split("plugins: ")[-1]
    return run.stdout + run.stderr


def test_test_file_error_is_one_message(shrink: Operator) -> None:
    root = shrink.root
    (root / "pytest.ini").write_text(
        "[pytest]\npythonpath = .\nempty_parameter_set_mark = fail_at_collect\n"
    )
    for number, (old, new) in enumerate(IN_TESTS):
        old, new = old.replace("'", '"'), new.replace("'", '"')
        assert old in TEST
        (root / f"test_{number:02}.py").write_text(TEST.replace(old, new))
    output = run_pytest(root)
    for number, message in enumerate(IN_TESTS.values()):
        file = f"test_{number:02}.py"
        _, _, section = output.partition(f" ERROR collecting {file} ")
        expected = f"{file}{message}" if message.startswith(":") else message
        assert section.splitlines()[1].startswith(expected), output
        assert section.splitlines()[2].startswith("__" if number < 9 else "=="), section


HELPERS = """\
from contextlib import contextmanager
from opkit.testing import check_cpu_kernel, run_cpu_kernel as run

def every(cases):
    for case in cases:
        yield check_cpu_kernel(case)

@contextmanager
def context(case):
    yield check_cpu_kernel(case)
"""
# Lines from line 6 of a test file -> the mistakes, with their lines.
UNRUN: dict[str, list[str]] = {
    "def test_a(): pass\ndef test_b(): pass\ndef test_a(): check_cpu_kernel(CASES[0])": [
        "8: a second test_a hides the one in line 6; rename one of them"
    ],
    "class TestA:\n    def test_a(self): pass\n\n    def test_a(self): pass": [
        "9: a second test_a hides the one in line 7; rename one of them"
    ],
    "class TestA: pass\nclass TestA: pass": ["7: a second TestA hides the one in line 6; rename"],
    "def test_a():\n    for case in CASES:\n        yield check_cpu_kernel(case)": [
        "6: test_a is a generator, so no check in it runs; replace yield by a call"
    ],
    "def test_a():\n    every(CASES)": [
        "7: the result of every(CASES) is not used, so no check in it runs; iterate over it"
    ],
    "def test_a():\n    helpers.every(CASES)": [
        "7: the result of helpers.every(CASES) is not used"
    ],
    "def test_a():\n    def each():\n        yield check_cpu_kernel(CASES[0])\n    each()": [
        "9: the result of each() is not used"
    ],
    "def test_a():\n    (check_cpu_kernel(case) for case in CASES)": [
        "7: the result of (check_cpu_kernel(case) for case in CASES) is not used"
    ],
    "def test_a():\n    map(check_cpu_kernel, CASES)": [
        "7: the result of map(check_cpu_kernel, CASES)"
    ],
    "def test_a():\n    return every(CASES)": ["7: the result of every(CASES) is not used"],
    "def test_a():\n    done = every(CASES)": ["7: the result of every(CASES) is not used"],
    "def test_a():\n    for case in CASES:\n        run_cpu_kernel(case)": [
        "8: the result of run_cpu_kernel(case) is not used, so its outputs are compared with "
        "nothing; assert that its `problem` is empty, or call check_..."
    ],
    "def test_a():\n    done = run_cpu_kernel(CASES[0])\ndef test_b(done): assert done": [
        "7: the result of run_cpu_kernel(CASES[0]) is not used"
    ],
    "def test_a():\n    return [helpers.run(case) for case in CASES]": [
        "7: the result of helpers.run(case) is not used"
    ],
    "def test_a():\n    every(CASES)\ndef test_a(): pass": [
        "7: the result of every(CASES) is not used",
        "8: a second test_a hides the one in line 6",
    ],
}
RUN = """\
@pytest.fixture
def number():
    yield 1

def test_a(number):
    done = every(CASES)
    for _ in every(CASES): pass
    list(done)
    with context(CASES[0]): pass
    context(CASES[0])
    [*map(check_cpu_kernel, CASES)]

def wrapped():
    yield from every(CASES)
    return every(CASES)

class TestA:
    def test_a(self): pass

if CASES:
    def test_b(): pass
else:
    def test_b(): pass

def test_time():
    run_cpu_kernel(CASES[0])
    assert run_cpu_kernel(CASES[0]).seconds < 1

def test_benchmark(benchmark):
    benchmark(run_cpu_kernel, CASES[0])

def test_problem(capsys):
    run_cpu_kernel(CASES[0])
    check_cpu_kernel(CASES[0])

def measured(case):
    return run_cpu_kernel(case)
"""
IMPORTS = """\
import pytest
import helpers
from helpers import context, every
from opkit.testing import cases, check_cpu_kernel, run_cpu_kernel, uniform
CASES = cases([{"input": (3,)}], [uniform(-1, 1)], [{"size": [1, 2]}])
"""


def test_checks_without_effect_are_mistakes(shrink: Operator) -> None:
    root = shrink.root
    (root / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    (root / "helpers.py").write_text(HELPERS)
    for number, text in enumerate([*UNRUN, RUN]):
        (root / f"test_{number:02}.py").write_text(IMPORTS + text)
    output = run_pytest(root)
    assert f" ERROR collecting test_{len(UNRUN):02}.py " not in output, output
    for number, messages in enumerate(UNRUN.values()):
        file = f"test_{number:02}.py"
        _, _, section = output.partition(f" ERROR collecting {file} ")
        lines = section.splitlines()[1:]
        for line, message in zip(lines, messages, strict=False):
            assert line.startswith(f"{file}:{message}"), output
        assert lines[len(messages)][:2] in ("__", "=="), section


def test_reference_import_error_is_one_message(shrink: Operator) -> None:
    replace(shrink, "import numpy as np", "import nump")
    (shrink.root / "test_it.py").write_text(TEST)
    message = "ERROR: shrink_reference.py:1: ModuleNotFoundError: No module named 'nump'"
    assert run_pytest(shrink.root).strip() == message
