"""A model in int8: converted on a dataset, and compared with the original and with float16."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from opkit.common.errors import OpkitError
from opkit.common.text import printable, shortened
from rknn_op.messages import step
from rknn_op.models.differences import Difference
from rknn_op.models.grafting.closeness import (
    Layer,
    Row,
    closeness,
    described,
    limits,
    over_samples,
    table,
    value_range,
)
from rknn_op.models.grafting.grafted_model import Graft
from rknn_op.models.grafting.node_proof import GraftedNodes, NodeCall, OriginalNodes
from rknn_op.models.grafting.proof import Request, compare_simulated
from rknn_op.models.model_graph import Model
from rknn_op.models.running.datasets import samples
from rknn_op.models.running.metrics import read_metric
from rknn_op.models.running.stages import tensor_types
from rknn_op.models.running.weights import OpenModel
from rknn_op.runtimes.models import Toolkit

Array = Any

MIN_COSINE = 0.99
"""The cosine from which a layer of the int8 model counts as close to the original."""
PRECISIONS = ("float16", "int8")


@dataclass(frozen=True)
class Quantization:
    """The options of the quantization.

    Attributes:
        dataset: the samples, a folder or a text file.
        algorithm: the algorithm of the calibration.
        hybrid: the nodes that stay float16, by their names or outputs.
        metric: the user's own function as FILE.py:function; empty: none.
    """

    dataset: Path
    algorithm: str
    hybrid: tuple[str, ...] = ()
    metric: str = ""


# ---- The samples ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Samples:
    """The samples in files for the toolkit.

    Attributes:
        folder: the folder of the files.
        count: the number of samples.
        dtypes: name of each input of the model -> its dtype there.
    """

    folder: Path
    count: int
    dtypes: Mapping[str, np.dtype[Any]]

    def files(self, index: int) -> list[str]:
        """Return the .npy files of a sample's inputs, in order, relative to the folder."""
        return [f"{index}_{position}.npy" for position in range(len(self.dtypes))]

    def inputs(self, index: int) -> dict[str, Array]:
        """Return a sample."""
        return {
            name: np.load(self.folder / file).astype(dtype, copy=False)
            for (name, dtype), file in zip(self.dtypes.items(), self.files(index), strict=True)
        }


def write_samples(dataset: Path, model: Model, toolkit: Toolkit, parent: Path) -> Samples:
    """Write the samples of a dataset for a toolkit, in a new folder.

    Raises:
        OpkitError: the dataset is not valid, or the toolkit cannot simulate the model's inputs.
    """
    folder = parent / "quantized"
    folder.mkdir()
    count, dtypes = 0, dict[str, np.dtype[Any]]()
    for count, inputs in enumerate(samples(dataset, model), 1):
        for position, (name, array) in enumerate(inputs.items()):
            if not array.ndim:
                called = printable(shortened(name))
                raise OpkitError(
                    f"--quantize: input {called!r} is a scalar, which {toolkit.name} "
                    "cannot simulate; give it the shape [1] in the model"
                )
            dtypes[name] = array.dtype
            dtype = toolkit.simulated_types.get(str(array.dtype), array.dtype)
            np.save(folder / f"{count - 1}_{position}.npy", array.astype(dtype, copy=False))
    return Samples(folder, count, dtypes)


# ---- The conversion ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Quantized:
    """The comparison of the float16 and the int8 model with the original.

    Attributes:
        toolkit: the toolkit's name and version.
        samples: the number of samples.
        differences: the differences of the float16 model's outputs, for the first sample.
        outputs: the outputs, over all samples.
        nodes: the outputs of the custom nodes, for the first sample.
        layers: the layers of the int8 model, in order, for the first sample.
        metrics: the mean of the user's metric for the original, float16 and int8; empty: none.
    """

    toolkit: str
    samples: int
    differences: tuple[Difference, ...]
    outputs: tuple[Row, ...]
    nodes: tuple[Row, ...]
    layers: tuple[Layer, ...]
    metrics: tuple[float, ...]


def _hybrid_outputs(graft: Graft, names: Sequence[str]) -> dict[str, list[str]]:
    """Return --hybrid -> the outputs of its node.

    Raises:
        OpkitError: there is no such node.
    """
    nodes = graft.model.proto.graph.node
    found = {
        name: [
            output for each in nodes if name in (each.name, *each.output) for output in each.output
        ]
        for name in filter(None, names)
    }
    known = printable(shortened(", ".join(each.name or each.output[0] for each in nodes), 400))
    for name in names:
        if not found.get(name):
            raise OpkitError(
                f"--hybrid {printable(name)}: the model has no such node (expected one of {known})"
            )
    return found


def _hybrid_layers(
    outputs: Mapping[str, Sequence[str]], parameters: Mapping[str, Sequence[Any]]
) -> list[str]:
    """Return the quantized outputs of nodes.

    Raises:
        OpkitError: a node has none.
    """
    for name, of_node in outputs.items():
        if not parameters.keys() & {*of_node}:
            known = printable(shortened(", ".join(parameters), 400))
            raise OpkitError(
                f"--hybrid {printable(name)}: has no output in int8, because it is fused or "
                f"computes no floats (expected the node of one of {known})"
            )
    found = (each for of_node in outputs.values() for each in of_node if each in parameters)
    return [*dict.fromkeys(found)]


def quantize(
    request: Request,
    source: OpenModel | None,
    graft: Graft,
    of_dataset: Samples,
    options: Quantization,
    max_error: float | None,
) -> Quantized:
    """Convert a model to float16 and to int8, and compare both on a dataset.

    Args:
        request: the model; its package is the int8 model.
        source: the original model; None: the grafted one is in its place, with the references.
        graft: the grafted model.
        of_dataset: the samples.
        options: the options.
        max_error: the tolerated absolute difference of the float16 model.

    Raises:
        OpkitError: the toolkit fails or is not there, or the metric fails.
    """
    metric = read_metric(options.metric) if options.metric else None
    called, parameters = _convert(request, graft, of_dataset, options)
    folder = of_dataset.folder
    types = tensor_types((source or graft.model).proto)
    nodes = OriginalNodes(source, graft, types) if source else GraftedNodes(graft, types)
    rows: dict[tuple[str, str], list[Row]] = defaultdict(list)
    numbers: list[tuple[float, ...]] = []
    for index in range(of_dataset.count):
        inputs = of_dataset.inputs(index)
        expected = nodes.run(inputs)
        if index == 0:
            of_nodes = (*_node_rows(nodes.calls, folder, parameters),)
            differences = compare_simulated(folder / "float16/0.npz", expected, max_error)
        outputs = {
            precision: _outputs(folder / precision / f"{index}.npz", expected)
            for precision in PRECISIONS
        }
        for tensor, array in expected.items():
            for precision in PRECISIONS:
                found = closeness(outputs[precision][tensor], array)
                rows[tensor, precision].append(
                    Row("", tensor, precision, found, value_range(array))
                )
        if metric:
            of_models = (expected, *outputs.values())
            numbers.append(tuple(metric(dict(each), dict(inputs), index) for each in of_models))
    return Quantized(
        called,
        of_dataset.count,
        differences,
        tuple(map(over_samples, rows.values())),
        of_nodes,
        (*_compared_layers(folder, parameters),),
        tuple(float(np.mean(each)) for each in zip(*numbers, strict=True)),
    )


def _convert(
    request: Request, graft: Graft, of_dataset: Samples, options: Quantization
) -> tuple[str, dict[str, tuple[str, float, int]]]:
    """Run the toolkit; return its name and the calibration: see the script of the toolkit."""
    work = {
        "algorithm": options.algorithm,
        "samples": [of_dataset.files(index) for index in range(of_dataset.count)],
        "parameters": "parameters.json",
    }

    def run(stage: str, text: str, **own: object) -> str:
        files = {"step": stage, "results": stage, "layers": f"{stage}.json"}
        with step(f"{text} with {request.toolkit.name}"):
            return request.run(
                request.toolkit.quantize, {**work, **files, **own}, of_dataset.folder
            )

    outputs = _hybrid_outputs(graft, options.hybrid)
    run("float16", "converting to float16 and simulating")
    run("calibrate", "calibrating")
    parameters = json.loads((of_dataset.folder / "parameters.json").read_text())
    hybrid = [parameters.pop(name)[0] for name in _hybrid_layers(outputs, parameters)]
    return run("int8", "converting to int8 and simulating", hybrid=hybrid), parameters


def _outputs(file: Path, expected: Mapping[str, Array]) -> dict[str, Array]:
    """Return the outputs of the simulator, in the dtypes of the original.

    Raises:
        OpkitError: the shape of an output differs.
    """
    with np.load(file) as results:
        arrays = dict(zip(expected, results.values(), strict=True))
    for name, array in arrays.items():
        if array.shape != expected[name].shape:
            shapes = f"{list(array.shape)} (expected {list(expected[name].shape)})"
            raise OpkitError(f"the simulator gives output {printable(name)!r} in shape {shapes}")
    return {name: array.astype(expected[name].dtype) for name, array in arrays.items()}


def _layers(folder: Path, precision: str) -> list[tuple[str, str, Path, Path]]:
    """Return operator, output, and the files of this output in float32 and in the simulator."""
    return [
        (operator, output, folder / golden, folder / simulated)
        for operator, output, golden, simulated in json.loads(
            (folder / f"{precision}.json").read_text()
        )
    ]


def _compared_layers(
    folder: Path, parameters: Mapping[str, tuple[str, float, int]]
) -> Iterator[Layer]:
    """Yield the layers of the int8 model."""
    steps = {layer: (scale, zero) for layer, scale, zero in parameters.values()}
    for operator, output, golden, simulated in _layers(folder, "int8"):
        actual, expected = np.load(simulated), np.load(golden)
        cosine, within = closeness(actual, expected).cosine, None
        if step := steps.get(output):
            within = closeness(actual, np.clip(expected, *limits(*step))).cosine
        yield Layer(operator, output, cosine, within, step)


def _node_rows(
    calls: Sequence[NodeCall], folder: Path, parameters: Mapping[str, tuple[str, float, int]]
) -> Iterator[Row]:
    """Yield a row for each output of a custom node and each precision."""
    of_layers = {
        precision: {output: file for _, output, _, file in _layers(folder, precision)}
        for precision in PRECISIONS
    }
    for call in calls:
        outputs = call.outputs
        if outputs is None:  # there is no original
            results = call.node.call(call.inputs)
            outputs = dict(zip(call.node.message.output, results, strict=True))
        for tensor, expected in outputs.items():
            for precision in PRECISIONS if tensor else ():
                file = of_layers[precision].get(tensor)
                array = np.load(file) if file else None
                is_same = array is not None and array.shape == expected.shape
                quantized = parameters.get(tensor)
                yield Row(
                    call.node.node.name,
                    tensor,
                    precision,
                    closeness(array, expected) if is_same else None,
                    value_range(expected),
                    quantized[1:] if quantized and precision == "int8" else None,
                )


def tables(quantized: Quantized) -> Iterator[str]:
    """Yield the lines of the comparison."""
    yield "The outputs, over all samples:"
    yield table(quantized.outputs)
    yield "\nThe custom nodes, for the first sample:"
    yield table(quantized.nodes)
    low = [each for each in quantized.layers if not each.cosine >= MIN_COSINE]
    lowest = min(quantized.layers, key=lambda each: each.cosine, default=None)
    if low:
        yield f"\nThe first layer with a cosine below {MIN_COSINE}: {described(low[0])}"
    elif lowest:
        yield f"\nNo layer has a cosine below {MIN_COSINE}; the lowest: {described(lowest)}"
    if quantized.metrics:
        numbers = zip(("original", *PRECISIONS), quantized.metrics, strict=True)
        means = ", ".join(f"{name} {number:.6g}" for name, number in numbers)
        yield f"\nThe metric, mean over all samples: {means}"
