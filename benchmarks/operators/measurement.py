"""Times of the library's operators and of onnxruntime, and the sections of RESULTS.md on them."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import yaml

from benchmarks import results_file, vectors
from benchmarks.operators.calls import CALLS
from benchmarks.operators.picture import ratio_map
from benchmarks.operators.shapes import SHAPES, sample
from benchmarks.programs import compiler_version
from opkit.check.operators import Operator
from opkit.runtimes.invocation import Array, Invocation, Kernel, RunOptions
from rknn_op.creation import new_repository, operator_library
from rknn_op.creation.choices import Choices
from rknn_op.creation.operator_library import LibraryOperator, Measured
from tests.operators.calls import RANDOM
from tests.operators.oracle import Call, assert_all_close, node_model, run_by_onnxruntime
from tests.repositories import EXAMPLES, Repository

AIM, AIM_OF_ALL = 1.0, 0.6
AIM_OF_SHAPES, AIMS_OF_MEANS = 1.1, (0.40, 0.30)
OPSET = 21
"""Of the models, but for younger operators."""
BASELINE = "SSE2"
RUNTIME = "pplnn"
LIMIT = 0.3  # seconds of the calls of one turn, at most
LIMIT_OF_SHAPES = 0.05
MIN_CALLS, MAX_CALLS = 3, 1000  # of a turn; the first one brings new memory into the process
MIN_SECONDS, MIN_OWN_SECONDS = 5e-7, 5e-8  # the noise of a run of onnxruntime, and of ours
MODEL = "model"
COLUMNS_OF_SHAPES = (*[*SHAPES][:-1], MODEL, [*SHAPES][-1])


@dataclass(frozen=True)
class Settings:
    """What is measured.

    Attributes:
        widest: the widest vectors of both sides.
        runs: the number of turns.
        output: the folder of RESULTS.md; None: only print.
    """

    widest: str
    runs: int
    output: Path | None

    @property
    def columns(self) -> tuple[str, str]:
        """The vectors of a kernel."""
        return BASELINE, self.widest

    def command(self, *options: str) -> str:
        """Return the command line that measures this."""
        words = ("python -m benchmarks.operators", *options, "--vectors", self.widest)
        return " ".join((*words, "--output benchmarks"))

    def finish(self, name: str, text: str) -> None:
        """Print a section, and write it into RESULTS.md, for these vectors."""
        results_file.finish(self.output, f"{name}-{self.widest}", text)


@dataclass(frozen=True)
class Result:
    """An operator's times.

    Attributes:
        operator: of the library.
        call: of the benchmark.
        seconds: the minimum of onnxruntime.
        ratios: column -> our time relative to it.
    """

    operator: LibraryOperator
    call: Call
    seconds: float
    ratios: Mapping[str, float]


def operators() -> dict[str, LibraryOperator]:
    """Return operator of ONNX -> the library's."""
    return {each.spec.name: each for each in operator_library.operators(EXAMPLES) if each.onnx}


def measured_operators() -> dict[str, LibraryOperator]:
    """Return those that onnxruntime has, too."""
    return {
        name: each
        for name, each in operators().items()
        if RANDOM[name].program is run_by_onnxruntime
    }


def columns_of(operator: LibraryOperator, widest: str) -> list[str]:
    """Return the columns with a time of their own: the widest, if the kernel chooses vectors."""
    math = operator.files(operator.spec)[operator.spec.math_file]
    # Or a header has functions for these vectors.
    names = (b"OPKIT_AVX2", b"_widest", b"/integer_matmul.h", b"/integer_conv.h", b"/attention.h")
    has_wide = operator.spec.elementwise or any(name in math for name in names)
    return [BASELINE, widest] if has_wide else [BASELINE]


def built_kernel(operator: LibraryOperator, column: str, folder: Path) -> tuple[Operator, Kernel]:
    """Make and build the operator's repository for a column; return its kernel."""
    choices = Choices(runtimes=[RUNTIME])
    plan = operator_library.plan(operator.spec.name, folder / column, choices)
    plan = replace(plan, text=f"{plan.text}\ncflags: {vectors.FLAGS[column]}")
    new_repository.create(plan)
    Repository(plan.folder).scons("-s", "target=x64")
    made = Operator(plan.folder)
    return made, made.cpu_kernel


def invocation_of(operator: Operator, call: Call) -> Invocation:
    """Return a call of the kernel, without a run of the reference, which may take long."""
    case = call.case("benchmark", operator.spec)
    params = operator.check(case)
    shapes = operator.reference.output_shapes(
        {name: array.shape for name, array in case.inputs.items()}, params
    )
    first = next(iter(case.inputs.values())).dtype
    outputs = {
        each.name: (shapes[each.name], np.dtype(each.dtype or first))
        for each in operator.spec.outputs
    }
    return Invocation(case.inputs, params, outputs)


@dataclass(frozen=True)
class Candidate:
    """A program that computes a call.

    Attributes:
        outputs: of the call, by name.
        seconds: returns the minimum time of some calls.
    """

    outputs: Mapping[str, Array]
    seconds: Callable[[int], float]


def nothing_of_ours(folder: Path) -> Candidate:
    """Return a kernel of ours on one element."""
    made, kernel = built_kernel(operators()["Neg"], BASELINE, folder)
    call = Call({"X": np.zeros(1, np.float32)}, {})
    return kernel_candidate(kernel, invocation_of(made, call))


def kernel_candidate(kernel: Kernel, invocation: Invocation) -> Candidate:
    """Return our kernel."""

    def run(count: int) -> Any:
        result = kernel.run(invocation, RunOptions(repeat=count, limit=100))
        if result.status != 0 or result.fault:
            raise RuntimeError(result.fault or result.log)
        return result

    return Candidate(run(1).outputs, lambda count: float(run(count).seconds))


def session_of(op_type: str, call: Call, opset: int) -> Any:
    """Return onnxruntime's session of a call, with one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(
        node_model(op_type, call, opset).SerializeToString(),
        options,
        providers=["CPUExecutionProvider"],
    )


def onnxruntime_candidate(op_type: str, call: Call, opset: int) -> Candidate:
    """Return onnxruntime, without copies of inputs and outputs."""
    session = session_of(op_type, call, opset)
    binding = session.io_binding()
    for name, array in call.inputs.items():
        binding.bind_cpu_input(name, array)
    names = [output.name for output in session.get_outputs()]
    for name in names:
        binding.bind_output(name)

    def seconds(count: int) -> float:
        times = []
        for _ in range(count):
            begin = time.perf_counter()
            session.run_with_iobinding(binding)
            times.append(time.perf_counter() - begin)
        return min(times)

    seconds(1)
    outputs = binding.copy_outputs_to_cpu()
    return Candidate(dict(zip(names, outputs, strict=True)), seconds)


def built_kernels(
    operator: LibraryOperator, widest: str, folder: Path
) -> dict[str, tuple[Operator, Kernel]]:
    """Return column -> the operator's repository and its kernel, built for the column."""
    return {each: built_kernel(operator, each, folder) for each in columns_of(operator, widest)}


def measured_call(
    operator: LibraryOperator,
    call: Call,
    kernels: Mapping[str, tuple[Operator, Kernel]],
    nothing: Candidate,
    runs: int,
    limit: float = LIMIT,
) -> Result:
    """Measure a call of an operator.

    Args:
        operator: of the library.
        call: of the operator.
        kernels: column -> the operator's repository and its kernel.
        nothing: a kernel of ours on one element.
        runs: the number of turns.
        limit: of the seconds of onnxruntime in a turn.
    """
    op_type = operator.spec.name
    theirs = onnxruntime_candidate(op_type, call, max(OPSET, operator.onnx or 0))
    ours = {
        column: kernel_candidate(kernel, invocation_of(made, call))
        for column, (made, kernel) in kernels.items()
    }
    outputs = {column: candidate.outputs for column, candidate in ours.items()}
    # The tests compare exactly; here only that both compute the same.
    expected = [*theirs.outputs.values()]
    largest = max((float(np.abs(each).max(initial=1)) for each in expected), default=1.0)
    # Sums of many products have errors of the largest numbers, where others are nearly 0.
    assert_all_close(op_type, outputs, expected, 1e-3, 1e-3 * largest)

    copy = onnxruntime_candidate("Identity", Call({"input": np.zeros(1, np.float32)}, {}), OPSET)
    candidates = {"copy": copy, "theirs": theirs, "nothing": nothing, **ours}
    count = min(MAX_CALLS, max(MIN_CALLS, int(limit / theirs.seconds(1))))
    times = dict.fromkeys(candidates, math.inf)
    for _ in range(runs):
        for name, candidate in candidates.items():
            times[name] = min(times[name], candidate.seconds(count))
    seconds = max(MIN_SECONDS, times["theirs"] - times["copy"])
    own = {column: max(MIN_OWN_SECONDS, times[column] - times["nothing"]) for column in ours}
    return Result(operator, call, seconds, {column: own[column] / seconds for column in ours})


def geometric_mean(ratios: Sequence[float]) -> float:
    """Return the geometric mean of positive numbers."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def described(call: Call) -> str:
    """Return the inputs of a call with their shapes; of single numbers, the number."""
    return ", ".join(
        f"{name} {'x'.join(map(str, array.shape))}"
        if array.size > 1
        else f"{name}={array.item():g}"
        for name, array in call.inputs.items()
    )


def record(results: Sequence[Result], widest: str) -> None:
    """Write the facts about operators into the library, of these vectors; those of others stay."""
    facts = operator_library.measured(EXAMPLES)
    # The last one of an operator stays: its first call.
    for result in reversed(results):
        name = result.operator.spec.name
        facts[name] = Measured(
            onnxruntime=onnxruntime.__version__,
            vectors=widest,
            rtol=RANDOM[name].rtol,
            atol=RANDOM[name].atol,
            inputs=described(result.call),
            times={column: round(ratio, 2) for column, ratio in result.ratios.items()},
        )
    entries = {name: asdict(facts[name]) for name in sorted(facts)}
    text = yaml.safe_dump(entries, sort_keys=False, width=200)
    head = "# Written by `python -m benchmarks.operators --record`.\n"
    (EXAMPLES / operator_library.MEASURED).write_text(head + text)


def section(results: Sequence[Result], settings: Settings) -> str:
    """Return the benchmark's section of RESULTS.md."""
    columns = settings.columns
    rows = [
        [
            result.operator.spec.name,
            described(result.call),
            f"{result.seconds * 1e3:.4f}",
            *(f"{result.ratios[each]:.2f}" if each in result.ratios else "" for each in columns),
            "yes" if result.ratios[BASELINE] <= AIM else "**no**",
        ]
        for result in results
    ]
    mean = geometric_mean([result.ratios[BASELINE] for result in results])
    holds = "yes" if mean <= AIM_OF_ALL else "**no**"
    rows.append(["geometric mean", "", "", f"{mean:.2f}", "", holds])
    return f"""\
## The operator library, {settings.widest}

    {settings.command()}

{results_file.machine()}, onnxruntime {onnxruntime.__version__},
{compiler_version("x64")}. Minima of {settings.runs} turns on one core, with one thread. Ratios
are our time by onnxruntime's, whose vectors are {settings.widest}: ours with {BASELINE} alone, and
where the kernel chooses its vectors at run time, with the same. The time of a run on one element is
left out of both. The aim is that of {BASELINE}: at most {AIM:g} x each,
{AIM_OF_ALL:g} x in the geometric mean.

{results_file.table(["", "inputs", "onnxruntime, ms", *columns, "aim holds"], rows)}
"""


def section_of_shapes(found: Mapping[str, Mapping[str, Result]], settings: Settings) -> str:
    """Return the section of RESULTS.md on shapes.

    Args:
        found: operator -> shape -> its result.
        settings: of the measurement.
    """
    widest = settings.widest
    means = []
    for column, aim in zip(settings.columns, AIMS_OF_MEANS, strict=True):
        ratios = {
            shape: [
                _ratio(results[shape], column) for results in found.values() if shape in results
            ]
            for shape in COLUMNS_OF_SHAPES
        }
        of_all = geometric_mean([each for some in ratios.values() for each in some])
        cells = [f"{geometric_mean(some):.2f}" if some else "" for some in ratios.values()]
        means.append([column, *cells, f"{of_all:.2f}", "yes" if of_all <= aim else "**no**"])
    slow = [
        [name, shape, described(result.call), f"{result.seconds * 1e3:.4f}", f"{ratio:.2f}"]
        for name, results in found.items()
        for shape, result in results.items()
        if (ratio := _ratio(result, widest)) > AIM_OF_SHAPES
    ]
    aims = ", ".join(
        f"{aim:.2f} with {column}"
        for column, aim in zip(settings.columns, AIMS_OF_MEANS, strict=True)
    )
    return f"""\
## The operator library on common shapes, {settings.widest}

    {settings.command("--shapes")}

{results_file.machine()}, onnxruntime {onnxruntime.__version__},
{compiler_version("x64")}. Minima of {settings.runs} turns on one core, with one thread; of our
time by onnxruntime's. Tables of floats: {_sizes()}; some operators with more work for an element
have fewer rows. {BASELINE} is that alone; {widest} is the widest that the kernel may choose, and of
an operator that chooses nothing its only time. onnxruntime may choose {widest}, too: what is beyond
is hidden from both. The time of a run on one element is left out of both; less than
{MIN_SECONDS * 1e6:g} us of onnxruntime's and {MIN_OWN_SECONDS * 1e6:g} us of ours, which is noise,
counts as that. The aim is at most {AIM_OF_SHAPES:g} x each with {widest}, in the geometric mean
{aims}.
[The picture]({picture(widest)}) has the ratio of each operator on each shape, with {widest}.

{results_file.table(["geometric means", *COLUMNS_OF_SHAPES, "all", "aim holds"], means)}

Above the aim:

{results_file.table(["", "shape", "inputs", "onnxruntime, ms", widest], slow)}
"""


def _ratio(result: Result, column: str) -> float:
    """Return the ratio of a column, or of a kernel without it the only one."""
    return result.ratios.get(column, result.ratios[BASELINE])


def _sizes() -> str:
    """Return the shapes as text."""
    return ", ".join(f"{name} is {rows}x{length}" for name, (rows, length) in SHAPES.items())


def picture(widest: str) -> str:
    """Return the name of the picture of the common shapes."""
    return f"operators-{widest}.svg"


def write_shapes(
    chosen: Sequence[LibraryOperator], nothing: Candidate, settings: Settings
) -> list[Result]:
    """Measure operators on the common shapes, and print; with a folder, write and draw.

    Returns:
        The results of the models' shapes.
    """
    found: dict[str, dict[str, Result]] = {}
    for operator in chosen:
        name = operator.spec.name
        samples = {shape: sample(name, shape) for shape in SHAPES} | {MODEL: CALLS[name][0]}
        with tempfile.TemporaryDirectory() as folder:
            kernels = built_kernels(operator, settings.widest, Path(folder))
            found[name] = {
                shape: measured_call(
                    operator, made.call(), kernels, nothing, settings.runs, LIMIT_OF_SHAPES
                )
                for shape in COLUMNS_OF_SHAPES
                if (made := samples[shape])
            }
        ratios = [
            f"{shape} {'/'.join(f'{ratio:.2f}' for ratio in each.ratios.values())}"
            for shape, each in found[name].items()
        ]
        print(f"{name}: {', '.join(ratios)}", flush=True)
    settings.finish("operator-shapes", section_of_shapes(found, settings))
    if settings.output:
        ratios_of = {
            name: {shape: _ratio(each, settings.widest) for shape, each in results.items()}
            for name, results in found.items()
        }
        drawn = ratio_map(COLUMNS_OF_SHAPES, ratios_of)
        (settings.output / picture(settings.widest)).write_text(drawn)
    return [results[MODEL] for results in found.values()]


def write_calls(
    chosen: Sequence[LibraryOperator], nothing: Candidate, settings: Settings
) -> list[Result]:
    """Measure the calls of operators, and print; with a folder, write. Return the results."""
    results = []
    for operator in chosen:
        with tempfile.TemporaryDirectory() as folder:
            kernels = built_kernels(operator, settings.widest, Path(folder))
            for each in CALLS[operator.spec.name]:
                result = measured_call(operator, each.call(), kernels, nothing, settings.runs)
                ratios = (f"{ratio:.2f} {column}" for column, ratio in result.ratios.items())
                print(
                    f"{operator.spec.name}, {described(result.call)}: "
                    f"{result.seconds * 1e3:.4f} ms, {', '.join(ratios)}",
                    flush=True,
                )
                results.append(result)
    settings.finish("operators", section(results, settings))
    return results
