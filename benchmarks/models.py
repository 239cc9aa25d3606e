"""Measure the verbs that read a model, on models of real sizes, as Markdown tables.

    python -m benchmarks.models [scan] [green] [graft] [--runs 5] [--output benchmarks]

Prints the tables; with --output, writes them into RESULTS.md of that folder. A time of a verb is
that of a whole process, with the start of Python and its imports; that of a model in stages is one
of a run.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

from benchmarks import results_file
from rknn_op.models.running.stages import Call, original, staged, tensor_types
from rknn_op.models.running.weights import opened
from tests.models.models import detector, large, model, saved, value
from tests.repositories import ROOT

AIM = 2.0  # maximum seconds of a scan besides the loading
AIM_OF_GREEN = 20.0  # maximum seconds from the model to checked operators
AIM_OF_STAGES = 1.1  # maximum time of the stages without calls, relative to onnxruntime
LAYERS, CHANNELS, SIZE = 16, 64, 56
CALL_EACH = 4  # the layers from call to call


def seconds(*arguments: str, statuses: tuple[int, ...] = (0,)) -> float:
    """Run this Python; return the seconds of its process.

    Args:
        *arguments: the arguments of Python.
        statuses: the exit statuses that are no error.
    """
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    took = time.perf_counter() - begin
    assert done.returncode in statuses, done.stderr
    return took


def scan_section(folder: Path, runs: int) -> str:
    """Return the section on `rknn-op scan`."""
    proto = large()
    file = saved(proto, folder)
    load = f"import onnx; onnx.load({str(file)!r})"
    measured = [
        (
            seconds("-m", "rknn_op", "scan", str(file), statuses=(1,)),
            seconds("-c", load),
            seconds("-c", "import onnx"),
        )
        for _ in range(runs)
    ]
    scan, loading, importing = map(statistics.median, zip(*measured, strict=True))
    rows = [
        ["`rknn-op scan`", f"{scan:.2f} s", "-", "-"],
        ["`onnx.load`", f"{loading:.2f} s", "-", "-"],
        ["of which onnx is imported", f"{importing:.2f} s", "-", "-"],
        [
            "scan besides onnx.load",
            f"{scan - loading:.2f} s",
            f"at most {AIM:g} s",
            "yes" if scan - loading <= AIM else "no",
        ],
    ]
    size = file.stat().st_size / 1e6
    return (
        "## Scan of a model\n\n"
        "    python -m benchmarks.models scan --output benchmarks\n\n"
        f"{results_file.machine()}; {results_file.medians(runs)}; onnx {onnx.__version__}.\n"
        f"A model of {len(proto.graph.node)} nodes and {size:.0f} MB; whole processes.\n\n"
        + results_file.table(["", "measured", "aim", "holds"], rows)
    )


def layers() -> Any:
    """Return 16 convolutions of 64 channels at 56 x 56 with residuals; each fourth has a Selu."""
    random = np.random.default_rng(0)
    nodes, tensors, last = [], [], "x"
    for index in range(LAYERS):
        weights = random.uniform(-0.04, 0.04, (CHANNELS, CHANNELS, 3, 3)).astype(np.float32)
        tensors.append(numpy_helper.from_array(weights, f"w{index}"))
        kind = "Selu" if index % CALL_EACH == CALL_EACH - 1 else "Relu"
        nodes += [
            helper.make_node("Conv", [last, f"w{index}"], [f"c{index}"], pads=[1, 1, 1, 1]),
            helper.make_node(kind, [f"c{index}"], [f"a{index}"]),
            helper.make_node("Add", [f"a{index}", last], [f"r{index}"]),
        ]
        last = f"r{index}"
    shape = [1, CHANNELS, SIZE, SIZE]
    return model(nodes, [value("x", shape)], [value(last, shape)], tensors, opset=17)


def graft_section(folder: Path, runs: int) -> str:
    """Return the section on a model in stages."""
    file = saved(layers(), folder)
    inputs = {"x": np.random.default_rng(1).uniform(-1, 1, (1, CHANNELS, SIZE, SIZE))}
    inputs = {name: array.astype(np.float32) for name, array in inputs.items()}
    options = onnxruntime.SessionOptions()
    # As in stages: else its threads, which wait actively after a run, slow the stages down.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    session = onnxruntime.InferenceSession(str(file), options)
    in_calls = [0.0]

    def choose(node: Any, _: str) -> Call | None:
        if node.op_type != "Selu":
            return None
        function = original(source, node)

        def call(tensors: Sequence[Any]) -> Sequence[Any]:
            begin = time.perf_counter()
            results = function(tensors)
            in_calls[0] += time.perf_counter() - begin
            return results

        return call

    with opened(file) as source:
        stages = staged(source, choose, tensor_types(source.proto))
        measured = []
        for _ in range(runs + 2):
            in_calls[0] = 0.0
            # In turns: other load on the machine affects both alike.
            alone = run_time(lambda: session.run(None, inputs))
            measured.append((alone, run_time(lambda: stages.run(inputs)), in_calls[0]))
    plain, cut, calls = map(statistics.median, zip(*measured[2:], strict=True))
    ratio = (cut - calls) / plain
    rows = [
        ["onnxruntime", f"{plain * 1e3:.1f} ms", "-", "-"],
        [f"in {stages.stages} stages", f"{cut * 1e3:.1f} ms", "-", "-"],
        ["of which calls", f"{calls * 1e3:.1f} ms", "-", "-"],
        [
            "stages alone, relative",
            f"{ratio:.2f} x",
            f"at most {AIM_OF_STAGES:g} x",
            "yes" if ratio <= AIM_OF_STAGES else "no",
        ],
    ]
    return (
        "## Run of a model in stages\n\n"
        "    python -m benchmarks.models graft --output benchmarks\n\n"
        f"{results_file.machine()}; {results_file.medians(runs)}; onnxruntime "
        f"{onnxruntime.__version__}.\n"
        f"{LAYERS} convolutions of {CHANNELS} channels at {SIZE} x {SIZE}, with a call in place of "
        f"each of {LAYERS // CALL_EACH} nodes;\na call runs the node itself.\n\n"
        + results_file.table(["", "measured", "aim", "holds"], rows)
    )


def run_time(function: Callable[[], object]) -> float:
    """Return the seconds of a call."""
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def green_section(folder: Path, runs: int) -> str:
    """Return the section on the way from a model to checked repositories."""
    file = saved(detector(), folder)
    steps: dict[str, list[float]] = {}
    for run in range(runs + 1):  # the first one fills the cache of objects
        made = folder / str(run)
        checked = ("-p", str(made / "Selu"), str(made / "GridSample"))
        for step, arguments in {
            "`rknn-op create --from`": ("create", "--from", str(file), "--all", "-p", str(made)),
            "`rknn-op check`": ("check", *checked),
            "`rknn-op graft`": ("graft", str(file), *checked, "-o", f"{made}.onnx"),
        }.items():
            steps.setdefault(step, []).append(seconds("-m", "rknn_op", *arguments))
    medians = {step: statistics.median(times[1:]) for step, times in steps.items()}
    total = sum(medians.values())
    rows = [[step, f"{median:.2f} s", "-", "-"] for step, median in medians.items()]
    holds = "yes" if total <= AIM_OF_GREEN else "no"
    rows.append(["in all", f"{total:.2f} s", f"at most {AIM_OF_GREEN:g} s", holds])
    return (
        "## From a model to checked operators\n\n"
        "    python -m benchmarks.models green --output benchmarks\n\n"
        f"{results_file.machine()}; {results_file.medians(runs)}, with a warm cache.\n"
        "The README's model: Selu and GridSample, which the operator library has.\n\n"
        + results_file.table(["", "measured", "aim", "holds"], rows)
    )


SECTIONS: dict[str, Callable[[Path, int], str]] = {
    "scan": scan_section,
    "green": green_section,
    "graft": graft_section,
}
"""Part -> the function that measures it: it gets an empty folder and the count of runs."""


def main() -> None:
    """Run the benchmarks."""
    parser = results_file.parser("models", __doc__, runs=5)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"default: {', '.join(SECTIONS)}")
    arguments = parser.parse_args()
    if unknown := [part for part in arguments.parts if part not in SECTIONS]:
        parser.error(f"invalid part {unknown[0]!r} (expected {', '.join(SECTIONS)})")
    for part in arguments.parts or SECTIONS:
        with tempfile.TemporaryDirectory() as folder:
            text = SECTIONS[part](Path(folder), arguments.runs)
        results_file.finish(arguments.output, f"models_{part}", text)


if __name__ == "__main__":
    main()
