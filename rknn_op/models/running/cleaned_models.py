"""The cleaned model to run and to write, compared with the model of the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from opkit.common.errors import OpkitError
from opkit.common.scratch import temporary_folder
from opkit.common.text import printable, shortened
from rknn_op.models import cleaning
from rknn_op.models.differences import difference
from rknn_op.models.model_graph import Model
from rknn_op.models.onnx_file import nodes_of, with_shapes
from rknn_op.models.onnx_model import RANDOM
from rknn_op.models.running.model_inputs import random_inputs
from rknn_op.models.running.stages import Call, missing_operator, original, staged
from rknn_op.models.running.weights import OpenModel, opened
from rknn_op.models.running.written_models import SUFFIX, assembled, publish, refuse_output

Array = Any


def cleaned_model(raw: OpenModel) -> tuple[OpenModel, Model]:
    """Return a cleaned model, and the same as values; the model itself if nothing is changed.

    Raises:
        OpkitError: the model is not valid.
    """
    proto, model = cleaning.cleaned(raw.file, with_shapes(raw.proto, raw.file))
    return (replace(raw, proto=proto) if model.is_changed else raw), model


def compared(
    raw: OpenModel, inputs: Mapping[str, Array], clean: OpenModel | Mapping[str, Array]
) -> str:
    """Compare a cleaned model with the file's.

    Args:
        raw: the file's model.
        inputs: the input arrays by name.
        clean: the cleaned model, or its outputs.

    Returns:
        Why they are not compared; empty if their outputs are equal.

    Raises:
        OpkitError: an output differs, or only the file's model runs.
    """
    drawing = {node.op_type for node in nodes_of(raw.proto.graph.node)} & RANDOM
    reason = f"{min(drawing)} draws random numbers" if drawing else ""
    expected: Mapping[str, Array] = {}
    try:
        expected = {} if drawing else outputs_of(raw, inputs)
    except OpkitError as error:
        reason = str(error).removeprefix(f"{raw.file}: ")
    if reason:
        return f"the cleaned model is not compared with {raw.file}: {reason}"
    if isinstance(clean, OpenModel):
        clean = outputs_of(clean, inputs)
    for name, array in expected.items():
        if not difference(name, clean[name], array).is_equal:
            called = repr(printable(shortened(name)))
            raise OpkitError(
                f"{raw.file}: output {called} of the cleaned model differs; pass --as-is to take "
                "the model as it is, and report this"
            )
    return ""


def outputs_of(model: OpenModel, inputs: Mapping[str, Array]) -> Mapping[str, Array]:
    """Return the outputs of a model; nodes for which onnxruntime lacks float64 run in float32.

    Raises:
        OpkitError: onnxruntime cannot run it.
    """
    return next(outputs_of_each(model, [inputs]))


def outputs_of_each(
    model: OpenModel, inputs: Iterable[Mapping[str, Array]]
) -> Iterator[Mapping[str, Array]]:
    """Yield the outputs of a model for each of several inputs; see outputs_of."""
    alone: set[str] = set()

    def choose(node: Any, _: str) -> Call | None:
        return original(model, node) if node.op_type in alone else None

    stages = staged(model, choose)
    for each in inputs:
        while True:
            try:
                outputs = stages.run(each)
                break
            except OpkitError as error:
                lacking = missing_operator(str(error))
                if not lacking or lacking in alone:
                    raise
                alone.add(lacking)
                stages = staged(model, choose)
        yield outputs


@contextmanager
def cleaned_file(model: Model) -> Iterator[Path]:
    """Give the file of a cleaned model: a temporary one, or the model's own if nothing is changed.

    Args:
        model: the model, cleaned or not.

    Raises:
        OpkitError: its external data is missing or outside of its folder.
    """
    if not model.is_changed:
        yield model.file
        return
    with opened(model.file) as raw, temporary_folder() as folder:
        yield assembled(cleaned_model(raw)[0], folder, model.file.name, "cleaned")[-1]


def write_cleaned(file: Path, output: Path) -> tuple[list[Path], str]:
    """Write a cleaned model, if it computes what the file's does.

    Args:
        file: the model.
        output: the file to write.

    Returns:
        The new files, and why the models are not compared: empty if they are.

    Raises:
        OpkitError: a file is invalid or exists, the model cannot be cleaned, or an output differs.
        OSError: a file cannot be written.
    """
    if file.suffix != SUFFIX:
        raise OpkitError(f"--clean: {printable(str(file))}: is not an ONNX model (*{SUFFIX})")
    refuse_output(file, output, "--clean")
    with opened(file) as raw, temporary_folder() as folder:
        clean, model = cleaned_model(raw)
        if model.cleaned and model.cleaned.problem:
            raise OpkitError(f"{printable(str(file))}: cannot be cleaned: {model.cleaned.problem}")
        # The checker wants shapes of outputs, which not all files have.
        shaped = clean if clean is not raw else replace(raw, proto=with_shapes(raw.proto, file))
        files = assembled(shaped, folder, output.name, "cleaned")
        reason = ""
        if clean is not raw:
            try:
                inputs = random_inputs(model)
            except OpkitError as error:
                reason = f"the cleaned model is not compared with the file's: {error}"
            else:
                reason = compared(raw, inputs, clean)
        return publish(files, output.parent), reason
