"""The benchmarks run, and write the tables of benchmarks/RESULTS.md."""

from __future__ import annotations

import os
import re
import signal
import statistics
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from benchmarks import board_times, build, command, programs, results_file, vectors
from benchmarks.mutations import __main__ as mutations
from benchmarks.mutations import python_changes, reach
from benchmarks.mutations.folders import TESTS, folder_tests
from benchmarks.mutations.outcomes import Outcomes
from benchmarks.operator_lists import __main__ as operator_lists
from benchmarks.operator_lists import contexts
from benchmarks.operator_lists.__main__ import Build
from benchmarks.operators import measurement as library_benchmark
from benchmarks.operators.calls import CALLS
from benchmarks.operators.picture import ratio_map
from benchmarks.operators.shapes import SHAPES, sample
from rknn_op.models import costs
from tests.repositories import ROOT

TOOLKIT = os.environ.get("RKNN_OP_RKNN2_PYTHON", "")

NUMBER = r"\d+(,\d{3})*(\.\d+)?"


def run(*arguments: str) -> str:
    result = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def rows(text: str) -> dict[str, list[list[str]]]:
    """Return the rows of all tables: first cell -> the other cells of each of its rows."""
    found: dict[str, list[list[str]]] = {}
    for line in re.findall(r"^\| (.*) \|$", text, re.MULTILINE):
        first, *cells = re.split(r" ?\| ", line)
        found.setdefault(first, []).append(cells)
    return found


@pytest.mark.slow
@pytest.mark.nightly
def test_flags(tmp_path: Path) -> None:
    settings = ("--runs", "1", "--abis", "x64", "aarch64", "--operators", "layer_norm")
    run("benchmarks.flags", *settings, "--output", str(tmp_path))
    found = rows((tmp_path / "RESULTS.md").read_text())
    assert all(re.fullmatch(NUMBER, cell) for cell in found["layer_norm, ns"][0])
    assert all(re.fullmatch(NUMBER, cell) for cell in found["layer_norm, instructions"][0])
    (_, shares) = found["results that differ from x64's"]
    # On 64-bit ARM, results are those of x64 without fused additions only.
    assert [share == "0.00%" for share in shares] == [False] * 3 + [True] * 4


@pytest.mark.slow
def test_operators_in_context() -> None:
    """Each model is an operator between two convolutions, and onnxruntime runs it."""
    operators = ["CumSum", "GatherElements", "LayerNormalization", "QuantizeLinear", "ReduceMax"]
    found = dict(contexts.models(operators))
    opsets = {"CumSum": {12, 14, 19}, "LayerNormalization": {17, 19}, "ReduceMax": {12, 13, 18, 19}}
    for op_type, expected in opsets.items():
        assert {int(name.split(".")[1]) for name in found if name.startswith(op_type)} == expected
    assert [name for name in found if name.endswith("input1") and "GatherElements" in name] == []
    assert [name for name in found if name.endswith("input1") and "CumSum" in name]
    constants = {
        each.name
        for each in found["GatherElements.19.gather_elements_0.constant1"].graph.initializer
    }
    assert "indices" in constants
    usual = {each.name for each in found["GatherElements.19.gather_elements_0"].graph.initializer}
    assert "indices" not in usual
    for name, model in found.items():
        nodes = [node.op_type for node in model.graph.node]
        assert nodes.count("Conv") >= 2, name
        assert nodes[-1] == "Conv", name
        if name.startswith("LayerNormalization"):
            [node] = [each for each in model.graph.node if each.name == contexts.OPERATOR]
            assert [
                each for each in node.input if each in {i.name for i in model.graph.input}
            ] == []
        if ".input" in name:
            continue  # it may read an axis that is out of range
        session = onnxruntime.InferenceSession(model.SerializeToString())
        inputs = session.get_inputs()
        session.run(None, {each.name: np.zeros(each.shape, np.float32) for each in inputs})


def test_lists_of_operators() -> None:
    def build(case: str, left: Sequence[str], refusal: str = "", opset: int = 12) -> Build:
        return Build(opset, case, frozenset(left), refusal)

    found = {
        "Abs": [build("a", []), build("b", [], opset=13)],
        "CumSum": [build("a", ["Conv"]), build("a.input1", [], "no"), build("b", ["Transpose"])],
        "NonZero": [build("a", [], "varies")],
        "Pad": [
            *(build("a", [], "fails"), build("b", ["Pad"]), build("b.input2", ["Pad"])),
            *(build("b.input1", [], "no"), build("c.input1", ["Pad"]), build("d.input1", [], "no")),
        ],
    }
    assert operator_lists.lists(found) == {
        "left": {"Abs": [], "CumSum": ["Conv", "Transpose"]},
        "refused": {"NonZero": "varies"},
        "constant": {"CumSum": [1], "Pad": [1]},
    }
    record = {
        "left": {"Abs": ["Old"], "Abs of zeros": ["Old"], "Relu": []},
        "refused": {"Abs": "no"},
    }
    assert operator_lists.updated(
        record, ["Abs"], {"left": {"Abs of ones": []}, "refused": {"Abs": "yes"}}
    ) == {"left": {"Relu": [], "Abs of ones": []}, "refused": {"Abs": "yes"}}
    assert operator_lists.differences(found) == (
        "CumSum:\n  Conv: 12 a\n  Transpose: 12 b\nPad:\n  fails: 12 a\n  Pad: 12 b\n"
    )


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.skipif(not TOOLKIT, reason="RKNN_OP_RKNN2_PYTHON names no Python")
def test_recorded_lists_of_operators_are_those_of_the_toolkit(tmp_path: Path) -> None:
    operators = "DequantizeLinear GatherND GridSample LayerNormalization NonMaxSuppression".split()
    text = run("benchmarks.operator_lists", TOOLKIT, *operators, "--folder", str(tmp_path))
    assert text == operator_lists.RECORD.read_text()
    found = operator_lists.lists(operator_lists.read(tmp_path))
    assert {*found["left"]} == {
        "DequantizeLinear",
        "GatherND along one axis",
        "LayerNormalization",
    }
    assert {*found["refused"]} == {"NonMaxSuppression"}


@pytest.mark.slow
@pytest.mark.nightly
def test_build(tmp_path: Path) -> None:
    run("benchmarks.build", "--runs", "1", "--warm", "--output", str(tmp_path))
    text = (tmp_path / "RESULTS.md").read_text()
    assert "python -m benchmarks.build --output benchmarks" in text
    ((seconds, ratio),) = rows(text)["generation, this template"]
    assert re.fullmatch(NUMBER, seconds)
    assert re.fullmatch(NUMBER + " x", ratio)


@pytest.mark.slow
@pytest.mark.nightly
def test_command(tmp_path: Path) -> None:
    settings = ("--runs", "1", "--repositories", "8", "--checked", "truncate_div")
    run("benchmarks.command", *settings, "--output", str(tmp_path))
    text = (tmp_path / "RESULTS.md").read_text()
    assert "python -m benchmarks.command --output benchmarks" in text
    found = rows(text)
    checks = [found[name][0] for name in command.CHECKS]
    assert [aim for aim, _ in checks] == ["", "2.0", "4.0"]
    assert all(re.fullmatch(NUMBER, seconds) for _, seconds in checks)
    assert [found[f"`rknn-op {verb}`"][0][0] for verb in ("--help", "create")] == ["150", "120"]
    assert float(found["`rknn-op demo`"][0][1]) > 100
    assert all(re.fullmatch(NUMBER, cell) for count in "248" for cell in found[count][0])


def section_of_command(create: float, lint: float) -> str:
    singles = {"--help": 0.07, "create": create}
    checks = {"`scons check quick=1`": 1.5}
    return command.section(singles, "exp", checks, [command.Many(1000, 0.003, 0.002, lint, 25)], 3)


def test_worse_than_the_last_record() -> None:
    """By more than a quarter; an aim, and a figure that only one of them has, do not count."""
    before = section_of_command(0.12, 0.009)
    assert results_file.worse(before, before, command.FIGURES) == []
    assert results_file.worse("", before, command.FIGURES) == []
    slower = section_of_command(0.149, 0.012)
    assert results_file.worse(before, slower, command.FIGURES) == [
        "1,000: 12 lint: ms each, 9 in the last record"
    ]
    assert results_file.worse(before, section_of_command(0.2, 0.001), command.FIGURES) == [
        "`rknn-op create`: 200 ms, 120 in the last record"
    ]
    assert results_file.worse(before, slower.replace("1,000", "500"), command.FIGURES) == []


def test_section_of_results(tmp_path: Path) -> None:
    results_file.write_section(tmp_path, "kernels", "## Kernels")
    results_file.write_section(tmp_path, "command", "## The command\n\n| a | ms |")
    assert results_file.section_of(tmp_path, "command").strip().startswith("## The command")
    assert "ms" not in results_file.section_of(tmp_path, "kernels")
    assert results_file.section_of(tmp_path / "none", "command") == ""


def test_ratio_is_relative_to_baseline() -> None:
    text = build.section([("commands by hand", 2.0, None), ("scons", 3.0, 2.0)], runs=5)
    assert rows(text)["scons"] == [["3.00", "1.50 x"]]
    assert rows(text)["commands by hand"] == [["2.00", ""]]
    assert "medians of 5 runs" in text


def test_first_contact() -> None:
    firsts = [
        build.FirstContact("first", 2.0, 3.5, 3.0),
        build.FirstContact("again", 1.0, 1.25, None),
    ]
    found = rows(build.section([], 1, firsts))
    assert found["first"] == [["at most 3.0", "2.00", "3.50"]]
    assert found["again"] == [["", "1.00", "1.25"]]
    assert set(build.AIMS) >= {"first `scons target=all`", "`rknn-op demo`"}


def test_command_processor_time(tmp_path: Path) -> None:
    busy = [sys.executable, "-c", "sum(range(2_000_000))"]
    seconds, processor = build.timed(busy, tmp_path, tmp_path)
    idle, unused = build.timed(["sleep", "0.2"], tmp_path, tmp_path)
    assert seconds > 0
    assert processor > unused
    assert idle >= 0.2


def test_benchmarks_write_separate_sections(tmp_path: Path) -> None:
    results_file.write_section(tmp_path, "kernels", "## Kernels\n\nfast \\1")
    path = results_file.write_section(tmp_path, "build", "## Builds\n\nslow")
    first = path.read_text()
    results_file.write_section(tmp_path, "kernels", "## Kernels\n\nfaster \\1")
    assert path.read_text() == first.replace("fast", "faster")
    assert first.startswith("# ")
    assert first.index("## Kernels") < first.index("## Builds")


def test_machine_description_omits_host_name() -> None:
    assert re.match(r"\d+ cores, .*Python 3\.", results_file.machine())


@pytest.mark.slow
@pytest.mark.nightly
def test_fuzz(tmp_path: Path) -> None:
    run("benchmarks.fuzz", "--mutants", "20", "--output", str(tmp_path))
    found = rows((tmp_path / "RESULTS.md").read_text())
    for kind in ("library", "package"):
        ((files, *costs),) = found[kind]
        assert files == "20"
        assert all(re.fullmatch(NUMBER, cost) for cost in costs)


@pytest.mark.slow
def test_killed() -> None:
    last = run("benchmarks.killed", "--moments", "1", "--kinds", "import").splitlines()[-1]
    assert last == "0 of 1 went wrong"


PYTHON = '''\
@cache
def f(x: int = 1, *y: int) -> bool:
    """A docstring."""
    if TYPE_CHECKING:
        x = 2
    if not (x < 3 and x is not y):
        y[0] = x - 1
        raise ValueError(f"{x - 4}")
    return all(y) if len(y) == 2 and y[0] != "a" else g(x, y, timeout=5)
'''
CHANGES = {
    "2 constant `1` -> `2`",
    "6 comparison `x < 3` -> `x <= 3`",
    "6 comparison `x is not y` -> `x is y`",
    "6 constant `3` -> `4`",
    "6 logic `x < 3 and x is not y` -> `x < 3 or x is not y`",
    "6 logic `not (x < 3 and x is not y)` -> `x < 3 and x is not y`",
    "7 constant `0` -> `1`",
    "7 constant `1` -> `2`",
    "7 operands `x - 1` -> `1 - x`",
    "7 statement `y[0] = x - 1` -> `pass`",
    "8 statement `raise ValueError(f'{x - 4}')` -> `pass`",
    "9 +1 `len(y)` -> `(len(y) + 1)`",
    "9 comparison `len(y) == 2` -> `len(y) != 2`",
    "9 comparison `y[0] != 'a'` -> `y[0] == 'a'`",
    "9 constant `'a'` -> `'a?'`",
    "9 constant `0` -> `1`",
    "9 constant `2` -> `3`",
    "9 logic `all(y)` -> `any(y)`",
    "9 logic `len(y) == 2 and y[0] != 'a'` -> `len(y) == 2 or y[0] != 'a'`",
    "9 operands `all(y) if len(y) == 2 and y[0] != 'a' else g(x, y, timeout=5)` -> "
    "`g(x, y, timeout=5) if len(y) == 2 and y[0] != 'a' else all(y)`",
    "9 operands `g(x, y, timeout=5)` -> `g(y, x, timeout=5)`",
}


def test_changes_of_python() -> None:
    found = python_changes.changes(PYTHON.encode(), "f.py")
    assert {f"{each.line} {each.kind} `{each.before}` -> `{each.after}`" for each in found} == (
        CHANGES
    )
    for change in found:
        compile(change.apply(PYTHON.encode()), change.file, "exec")


def test_placeholders_of_a_template_stay() -> None:
    (change,) = python_changes.changes(b"z = f($x, $y)\n", "f.py")
    assert change.apply(b"z = f($x, $y)\n") == b"z = f($y, $x)\n"


def test_sources_have_tests_of_their_folder() -> None:
    """No entry is without a source, and all tests exist."""
    sources = mutations.sources()
    assert len(sources) > 250
    assert {*TESTS.values()} == {folder_tests(path) for path in sources}
    for tests in TESTS.values():
        assert all((ROOT / test).exists() for test in tests), tests


def test_order_of_tests() -> None:
    seconds = {"a.py::f[1]": 0.1, "a.py::f[2]": 0.2, "a.py::f[3]": 0.15, "b.py::g": 3, "c.py::h": 2}
    order = ["a.py::f[1]", "c.py::h", "b.py::g", "a.py::f[3]", "a.py::f[2]"]
    assert mutations.in_order(seconds, seconds) == order


@pytest.mark.slow
@pytest.mark.nightly
def test_changes_of_every_source() -> None:
    def count(path: str) -> int:
        original = (ROOT / path).read_bytes()
        changes = mutations.changes(path)
        assert all(change.apply(original) != original for change in changes), path
        return len(changes)

    python = [path for path in mutations.sources() if path.endswith(".py")]
    c = [path for path in mutations.sources() if not path.endswith(".py")]
    counts = {path: count(path) for path in python}  # ast.parse of 3.11 can fail in threads
    with ThreadPoolExecutor() as pool:
        counts |= zip(c, pool.map(count, c), strict=True)
    assert sum(counts.values()) > 30_000
    assert counts["opkit/compute/thread_pool.h"] > 100
    # The others have types, declarations and constants alone.
    never = {path for path in c if path.endswith(".c") and not counts[path]}
    assert all("stub" in path or "device_library" in path for path in never), never


@pytest.mark.slow
@pytest.mark.nightly
def test_mutations(tmp_path: Path) -> None:
    """They run in a copy; the share and the survivors are printed."""
    pytest.importorskip("coverage", minversion="7.13")
    path = ROOT / "opkit/common/code_layout.py"
    before = path.stat().st_mtime_ns
    tests = "tests/files/test_layout.py"
    settings = ("--only", "opkit/common/code_layout.py", "--tests", tests, "--count", "2")
    folders = ("--records", str(tmp_path / "records"), "--output", str(tmp_path))
    printed = run("benchmarks.mutations", *settings, *folders)
    place = r"opkit/common/code_layout\.py:\d+ .*"
    by = rf" by {re.escape(tests)}::\w+.*"
    assert len(re.findall(rf"^(noticed: {place}{by}|lives: {place})$", printed, re.M)) == 2
    drawn = run("benchmarks.mutations", *settings, "--list").splitlines()
    assert len(drawn) == 2
    assert all(re.search(f": {re.escape(line)}( by |$)", printed, re.M) for line in drawn)
    (folder,) = (tmp_path / "records").iterdir()
    record = reach.Record(folder / "lines", Outcomes.read(folder / "outcomes.json"))
    number = path.read_text().split("indent = ")[0].count("\n") + 1
    assert record.reaching("opkit/common/code_layout.py", [number]) == {f"{tests}::test_c_calls"}
    assert len(record.reaching("opkit/common/code_layout.py", [1])) > 3
    ((changes, noticed, share),) = rows((tmp_path / "RESULTS.md").read_text())["all"]
    assert (changes, share) == ("2", f"{50 * int(noticed)} %")
    assert path.stat().st_mtime_ns == before


@pytest.mark.slow
@pytest.mark.nightly
def test_models(tmp_path: Path) -> None:
    run("benchmarks.models", "scan", "--runs", "1", "--output", str(tmp_path))
    text = (tmp_path / "RESULTS.md").read_text()
    assert "python -m benchmarks.models scan --output benchmarks" in text
    assert "A model of 500 nodes and 102 MB" in text
    ((measured, aim, holds),) = rows(text)["scan besides onnx.load"]
    assert aim == "at most 2 s"
    assert (float(measured.removesuffix(" s")) <= 2) is (holds == "yes")


@pytest.mark.slow
@pytest.mark.nightly
def test_model_to_checked_operators(tmp_path: Path) -> None:
    run("benchmarks.models", "green", "--runs", "1", "--output", str(tmp_path))
    ((measured, aim, holds),) = rows((tmp_path / "RESULTS.md").read_text())["in all"]
    assert aim == "at most 20 s"
    assert (float(measured.removesuffix(" s")) <= 20) is (holds == "yes")


@pytest.mark.slow
def test_model_in_stages(tmp_path: Path) -> None:
    run("benchmarks.models", "graft", "--runs", "1", "--output", str(tmp_path))
    text = (tmp_path / "RESULTS.md").read_text()
    assert "python -m benchmarks.models graft --output benchmarks" in text
    assert "in 5 stages" in rows(text)
    ((_, aim, holds),) = rows(text)["stages alone, relative"]
    assert (aim, holds in ("yes", "no")) == ("at most 1.1 x", True)


@pytest.mark.slow
@pytest.mark.nightly
def test_phases(tmp_path: Path) -> None:
    run("benchmarks.phases", "--runs", "3", "--examples", "exp", "--output", str(tmp_path))
    text = (tmp_path / "RESULTS.md").read_text()
    assert "python -m benchmarks.phases --output benchmarks" in text
    found = rows(text)
    names = ["float16, RKNN 1.x", "float32, PPLNN", "float16, PPLNN", "float32, RKNN 2"]
    assert [*found] == ["", "---", *(f"exp, {name}" for name in names)]
    for name in names:
        (cells,) = found[f"exp, {name}"]
        assert all(re.fullmatch(rf"(< )?{NUMBER}", cell) for cell in cells)
        total, _, _, math, _, _ = map(float, (cell.removeprefix("< ") for cell in cells))
        assert 0 < math <= total


def test_every_onnx_operator_of_the_library_has_a_benchmark_call() -> None:
    assert {*library_benchmark.operators()} - {*CALLS} == set()


def test_recorded_instructions_are_of_all_operators_with_a_formula() -> None:
    """The work of the others depends on data, or grows faster than their tensors."""
    assert costs.FILE.read_text().startswith(f"# Written by `{board_times.COMMAND}`.\n")
    without = {"Attention", "DFT", "LinearAttention", "NonMaxSuppression", "STFT"}
    found = library_benchmark.operators().items()
    of_boards = {name for name, each in found if board_times.RUNTIME in each.spec.runtimes}
    assert {*costs.counts()} == of_boards - without


def test_rates_of_processors_are_the_medians_of_the_results() -> None:
    section = results_file.section_of(ROOT / "benchmarks", "boards")
    table = section.partition("### aarch64")[2].partition("###")[0]
    # The columns of the table: instructions, cortex-a35, cortex-a55, cortex-a76.
    functions = [
        [float(cell.split()[0]) for cell in cells]
        for name, [cells] in rows(table).items()
        if name.isalpha()
    ]
    for processor, column in zip(costs.PROCESSORS, (3, 2, 1), strict=True):
        rates = [cells[0] / cells[column] for cells in functions]
        assert processor.rate == pytest.approx(statistics.median(rates), abs=0.01)


def test_documented_quotients_of_other_libraries_are_those_of_the_results() -> None:
    section = results_file.section_of(ROOT / "benchmarks", "peers")
    documented = (ROOT / "docs/cpu.md").read_text()
    found = re.findall(r"^\| (.+?) \| (.+?) \| (.+/.+) \|$", section, re.MULTILINE)
    assert len(found) == 8
    for title, libraries, cells in found:
        quotients = " | ".join(cell.rpartition(": ")[2] for cell in cells.split(" | "))
        name = re.split(" of |,", title)[0]
        assert f"| {name} | {libraries} | {quotients} |" in documented


@pytest.mark.slow
def test_recorded_instructions_are_counted_again() -> None:
    printed = run("benchmarks.board_times", "--operators", "Exp")
    call, _, figure = printed.removeprefix("Exp, ").rpartition(": ")
    recorded = costs.counts()["Exp"]
    assert call == recorded.call
    assert float(figure) == pytest.approx(recorded.instructions, rel=0.02)


@pytest.mark.slow
def test_operators(tmp_path: Path) -> None:
    settings = ("--runs", "1", "--operators", "TopK", "Selu", "--vectors", "native")
    run("benchmarks.operators", *settings, "--output", str(tmp_path))
    found = rows((tmp_path / "RESULTS.md").read_text())
    for name in ("TopK", "Selu"):
        assert len(found[name]) == len(CALLS[name])
        for inputs, *numbers, wide, holds in found[name]:
            assert re.match(r"X \d", inputs)
            assert all(re.fullmatch(NUMBER, number) for number in numbers)
            # TopK has no run-time dispatch.
            assert bool(re.fullmatch(NUMBER, wide)) == (name == "Selu")
            assert holds in ("yes", "**no**")
    assert len(found["geometric mean"][0]) == 5


def test_operators_have_a_call_on_the_smallest_shape() -> None:
    """Its tensors are the table's elements, or less; of Col2Im, the blocks' 9 elements each."""
    rows_, length = SHAPES["256"]
    found = {name: made.call() for name in CALLS if (made := sample(name, "256"))}
    assert len(found) > 60
    for name, call in found.items():
        largest = max(array.size for array in call.inputs.values())
        allowed = {"Col2Im": 9, "NonMaxSuppression": 4, "DeformConv": 9}.get(name, 4)
        assert largest <= allowed * rows_ * length, name


@pytest.mark.skipif(
    "cpuid_fault" not in Path("/proc/cpuinfo").read_text(), reason="cpuid does not fault here"
)
def test_vectors_are_hidden(tmp_path: Path) -> None:
    """From a program that loads the library; other faults stay faults."""
    source = tmp_path / "has.c"
    source.write_text(
        '#include "opkit/compute/processor.h"\n'
        "#include <stdio.h>\n"
        "int main(int count, char **arguments) {\n"
        '    printf("%d %d\\n", opkit_has_avx2(), opkit_has_avx512());\n'
        "    fflush(stdout);\n"
        "    return count > 1 ? *(volatile int *)8 : arguments == NULL;\n"
        "}\n"
    )
    program = tmp_path / "has"
    programs.compile_c("x64", f"-I{programs.INCLUDE}", str(source), "-o", str(program))
    has_avx512 = "avx512f" in Path("/proc/cpuinfo").read_text()
    for widest, sees in {"AVX2": False, "AVX-512": has_avx512}.items():
        variables = vectors.environment(widest, tmp_path)
        assert programs.run([str(program)], env=variables) == f"1 {sees:d}\n"
        failed = subprocess.run([program, "fault"], env=variables, check=False)
        assert failed.returncode == -signal.SIGSEGV


def test_picture_of_ratios_has_a_cell_for_each_ratio() -> None:
    ratios = {"Exp": {"256": 0.2, "2^24": 1.1}, "TopK": {"256": 1.11}, "Tan": {"2^24": 30.0}}
    drawn = ratio_map(["256", "2^24"], ratios)
    assert re.findall(r'class="cell"[^>]*>([^<]*)', drawn) == ["0.20", "1.10", "1.11", "30.00"]
    assert re.findall(r'class="name"[^>]*>([^<]*)', drawn) == [*ratios]
    cells = {color: path.count("M") for color, path in re.findall('fill="(.*?)" d="(.*?)"', drawn)}
    assert sorted(cells.values()) == [1, 1, 1, 1]  # each is in a range of its own
