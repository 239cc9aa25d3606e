"""The proof of a grafted model: its outputs are those of the original, also in a simulator."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from opkit.common.errors import OpkitError
from opkit.common.text import printable, shortened
from opkit.runtimes.interface import Runtime
from rknn_op.models.differences import Difference, difference, simulated_difference
from rknn_op.models.grafting.custom_nodes import Custom
from rknn_op.models.grafting.grafted_model import Graft
from rknn_op.models.grafting.node_proof import (
    Effect,
    GraftedNodes,
    NodeProof,
    OriginalNodes,
    effect_notes,
    effects,
    kernels,
    monotonous,
    node_proofs,
)
from rknn_op.models.model_files import required
from rknn_op.models.model_graph import Model
from rknn_op.models.running.stages import tensor_types
from rknn_op.models.running.weights import OpenModel, first_line
from rknn_op.models.toolkits import as_simulated, run
from rknn_op.runtimes.models import Toolkit

Array = Any


@dataclass(frozen=True)
class Proof:
    """The comparison of a grafted model with the original.

    Attributes:
        outputs: the outputs that a converted model is compared with: those of the original, or
            else of the grafted model.
        differences: the difference of each output; empty: not compared.
        nodes: the comparison of each output of each grafted node.
        cause: why outputs or nodes differ; empty if they do not.
        not_compared: why there is nothing to compare with; empty if there is.
        notes: messages about what the comparison does not show.
        shapes: tensor of a grafted node -> its shape and dtype in this run.
        effects: id of a grafted node -> its effect on the model's outputs, if known.
    """

    outputs: Mapping[str, Array]
    differences: tuple[Difference, ...] = ()
    nodes: tuple[NodeProof, ...] = ()
    cause: str = ""
    not_compared: str = ""
    notes: tuple[str, ...] = ()
    shapes: Mapping[str, tuple[tuple[int, ...], np.dtype[Any]]] | None = None
    effects: Mapping[int, Effect] = field(default_factory=dict)


def prove(
    opened: OpenModel,
    graft: Graft,
    inputs: Mapping[str, Array],
    max_error: float | None,
    runtime: Runtime,
    has_inputs: bool = False,
) -> Proof:
    """Run a grafted model with the repositories' references, and compare it with the original.

    Each grafted node is compared as well, by the tensors of the original model: its reference and
    its C kernel on this PC.

    Args:
        opened: the original model.
        graft: the grafted model.
        inputs: the input arrays by name.
        max_error: the tolerated absolute difference; None: by the dtype, see differences. For a
            node it is tolerated besides that of the dtype.
        runtime: the runtime whose C kernels are compared.
        has_inputs: whether the inputs are the user's.

    Raises:
        OpkitError: a reference fails, or onnxruntime cannot run the rest of the model.
    """
    types = _types(opened)
    found, notes = kernels(graft, runtime)
    defs = required("onnx").defs
    known = {each.domain for each in defs.get_all_schemas()} | {"com.microsoft"}
    unknown = [
        f"{each.node.domain}.{each.node.op_type}".lstrip(".")
        for each in graft.nodes
        if each.node.domain not in known or not (each.node.domain or defs.has(each.node.op_type))
    ]
    names = [each.name for each in graft.model.proto.graph.output]
    grafted = GraftedNodes(graft, types)
    if unknown:
        actual = grafted.run(inputs)
        name = printable(shortened(unknown[0]))
        reason = f"onnxruntime has no {name}, so that it cannot run the original model"
        nodes = tuple(node_proofs(grafted.calls, found, max_error))
        cause = next((each.problem for each in nodes if each.problem), "")
        outputs = {each: actual[each] for each in names}
        return Proof(outputs, (), nodes, cause, reason, (*notes,), grafted.shapes)
    originals = OriginalNodes(opened, graft, types)
    expected = originals.run(inputs)
    nodes = tuple(node_proofs(originals.calls, found, max_error))
    cause = next((each.problem for each in nodes if each.problem), "")
    try:
        actual = grafted.run(inputs)
    except OpkitError:
        if not cause:
            raise
        # Nodes behind the wrong one do not run on its outputs.
        return Proof(expected, (), nodes, cause, "a node behind a wrong one fails", (*notes,))
    differences = tuple(difference(name, actual[name], expected[name], max_error) for name in names)
    if not cause and not all(each.is_equal for each in differences):
        cause = (
            "each node's reference agrees with the original on the original's inputs; small "
            "differences grow on the way to the outputs: pass --max-error to tolerate them"
        )
    moved = {} if cause else effects(originals, graft, inputs, expected, max_error)
    if not cause:
        notes += effect_notes(graft, moved)
        notes += monotonous(originals.calls, has_inputs)
    return Proof(expected, differences, nodes, cause, "", (*notes,), grafted.shapes, moved)


def _types(opened: OpenModel) -> dict[str, Any]:
    try:
        return tensor_types(opened.proto)
    except (ValueError, RuntimeError) as error:
        raise OpkitError(f"{opened.file}: is not a valid ONNX model: {first_line(error)}") from None


def write_shapes(opened: OpenModel, graft: Graft, model: Model, proof: Proof) -> None:
    """Write shapes into the grafted model: of grafted nodes' outputs, and missing ones of outputs.

    Converters infer no shapes of custom operators.

    Args:
        opened: the original model.
        graft: the grafted model.
        model: the original model as values.
        proof: the run of both.
    """
    is_fixed = not any(each.is_dynamic for each in model.inputs)
    graph = graft.model.proto.graph
    infos = {each.name: each for each in (*graph.value_info, *graph.output)}
    make = required("onnx.helper").make_tensor_value_info
    element = required("onnx.helper").np_dtype_to_tensor_dtype
    for node in graft.nodes:
        known = {each.name: each for each in node.node.outputs if each is not None}
        for name in filter(None, node.message.output):
            inferred, observed = known.get(name), (proof.shapes or {}).get(name)
            if inferred and inferred.dtype and not inferred.is_dynamic:
                info = make(name, element(np.dtype(inferred.dtype)), inferred.shape)
            elif is_fixed and observed:
                info = make(name, element(observed[1]), observed[0])
            else:
                continue
            if name in infos:
                infos[name].type.CopyFrom(info.type)
            else:
                graph.value_info.append(info)
    types = _types(opened)
    for output in graph.output:
        type_ = output.type.tensor_type
        if output.type.WhichOneof("value") != "tensor_type" or type_.HasField("shape"):
            continue
        inferred = types[output.name].tensor_type
        if inferred.HasField("shape"):
            type_.shape.CopyFrom(inferred.shape)
        else:
            type_.shape.SetInParent()
            for _ in proof.outputs[output.name].shape:  # unknown sizes stay unknown
                type_.shape.dim.add()


# ---- The converted model, in the simulator -------------------------------------------------------


@dataclass(frozen=True)
class Request:
    """A model to convert.

    Attributes:
        toolkit: the toolkit.
        python: a Python with it.
        model: the grafted model.
        customs: the repositories' operators.
        target: the target.
        inputs: the input arrays by name, in the order of the model.
        package: the file to write.
    """

    toolkit: Toolkit
    python: Path
    model: Path
    customs: Sequence[Custom]
    target: str
    inputs: Mapping[str, Array]
    package: Path

    def simulated(self, inputs: Mapping[str, Array]) -> list[Array]:
        """Return arrays of the inputs in order, in the dtypes of the simulator."""
        return as_simulated(self.toolkit, (inputs[name] for name in self.inputs))

    def run(self, script: Path, work: Mapping[str, Any], folder: Path) -> str:
        """Run a script of the toolkit on the model; return the toolkit's name and version.

        Args:
            script: the script.
            work: its own keys of the JSON file.
            folder: the working directory.

        Raises:
            OpkitError: the toolkit fails or is not there.
        """
        roots = [(each.operator.root.resolve(), each.spec) for each in self.customs]
        files = [(root, self.toolkit.class_file(spec)) for root, spec in roots]
        of_all = {
            "scripts": str(roots[0][0] / self.toolkit.scripts),
            "classes": [str(root / file) for root, file in files if file],
            "model": str(self.model.absolute()),
            "target": self.target,
            "package": str(self.package.absolute()),
        }
        file_of_work = folder / "work.json"
        file_of_work.write_text(json.dumps({**of_all, **work}), encoding="utf-8")
        done = run(self.toolkit, self.python, script, [str(file_of_work)], folder)
        if done.refusal:
            raise OpkitError(
                f"--toolkit {self.python}: {done.refusal}; `rknn-op scan MODEL --toolkit PYTHON` "
                "shows what the toolkit refuses"
            )
        rules = f" with disable_rules={[*done.disabled_rules]}" if done.disabled_rules else ""
        return f"{self.toolkit.name} {done.version}{rules}"


@dataclass(frozen=True)
class Simulation:
    """The comparison of a converted model.

    Attributes:
        target: the target.
        toolkit: the toolkit's name and version.
        differences: the difference of each output; empty: not simulated.
        skipped: why it was not simulated; empty if it was.
    """

    target: str
    toolkit: str
    differences: tuple[Difference, ...] = ()
    skipped: str = ""


def simulate(
    request: Request, expected: Mapping[str, Array], max_error: float | None = None
) -> Simulation:
    """Convert a model, simulate it, and compare its outputs.

    The simulator rounds floats to float16, so that the tolerance is that of float16.

    Args:
        request: the model.
        expected: the expected outputs by name, in the order of the model.
        max_error: an absolute difference that is tolerated, too.

    Raises:
        OpkitError: the toolkit fails or is not there.
    """
    is_scalar = any(array.ndim == 0 for array in request.inputs.values())
    folder = request.package.parent
    inputs, outputs = folder / "inputs.npz", folder / "outputs.npz"
    # By position: names of tensors are not names of files.
    np.savez(inputs, *request.simulated(request.inputs))
    work = {"inputs": "" if is_scalar else str(inputs), "outputs": str(outputs)}
    called = request.run(request.toolkit.simulate, work, folder)
    if is_scalar:
        reason = "the simulator does not support scalar inputs"
        return Simulation(request.target, called, skipped=reason)
    differences = compare_simulated(outputs, expected, max_error)
    return Simulation(request.target, called, differences)


def compare_simulated(
    outputs: Path, expected: Mapping[str, Array], max_error: float | None
) -> tuple[Difference, ...]:
    """Compare the outputs of the simulator, an .npz file, with the expected ones; see simulate.

    Raises:
        OpkitError: the simulator gives another count of outputs.
    """
    with np.load(outputs) as file:
        results = [*file.values()]
    if len(results) != len(expected):
        raise OpkitError(f"the simulator gives {len(results)} outputs (expected {len(expected)})")
    return tuple(
        simulated_difference(name, result, array, max_error)
        for (name, array), result in zip(expected.items(), results, strict=True)
    )
