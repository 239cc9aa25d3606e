"""Convert a grafted model with a toolkit, simulate it, and compare its outputs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from opkit.errors import OpkitError
from rknn_op.models.grafting.custom_nodes import Custom
from rknn_op.models.grafting.differences import NPU_TOLERANCE, Difference, difference
from rknn_op.models.toolkits import run
from rknn_op.runtimes.models import Toolkit

Array = Any

_TOLERANCES = dict.fromkeys(("float16", "float32", "float64"), NPU_TOLERANCE)


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


@dataclass(frozen=True)
class Simulation:
    """The comparison of a converted model.

    Attributes:
        target: the target.
        version: the toolkit's version.
        differences: the difference of each output; empty: not simulated.
        skipped: why it was not simulated; empty if it was.
    """

    target: str
    version: str
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
    toolkit = request.toolkit
    is_scalar = any(array.ndim == 0 for array in request.inputs.values())
    folder = request.package.parent
    inputs, outputs = folder / "inputs.npz", folder / "outputs.npz"
    # By position: names of tensors are not names of files.
    arrays = [
        array.astype(toolkit.simulated_types.get(str(array.dtype), array.dtype), copy=False)
        for array in request.inputs.values()
    ]
    np.savez(inputs, *arrays)
    classes = [
        str(each.operator.root.resolve() / file)
        for each in request.customs
        if (file := toolkit.class_file(each.spec))
    ]
    work = {
        "scripts": str(request.customs[0].operator.root.resolve() / toolkit.scripts),
        "classes": classes,
        "model": str(request.model.absolute()),
        "target": request.target,
        "inputs": "" if is_scalar else str(inputs),
        "outputs": str(outputs),
        "package": str(request.package.absolute()),
    }
    version = _run(toolkit, request.python, work, folder)
    if is_scalar:
        reason = "the simulator does not support scalar inputs"
        return Simulation(request.target, version, skipped=reason)
    with np.load(outputs) as file:
        results = [*file.values()]
    if len(results) != len(expected):
        raise OpkitError(f"the simulator gives {len(results)} outputs (expected {len(expected)})")
    differences = tuple(
        _difference(name, result, array, max_error)
        for (name, array), result in zip(expected.items(), results, strict=True)
    )
    return Simulation(request.target, version, differences)


def _difference(name: str, actual: Array, expected: Array, max_error: float | None) -> Difference:
    """Compare an output; the simulator may give it in another size of its dtype."""
    if actual.dtype.kind == expected.dtype.kind and actual.shape == expected.shape:
        with np.errstate(over="ignore"):
            actual = actual.astype(expected.dtype)
            if expected.dtype.kind == "f":  # as the simulator does: infinite beyond 65504
                expected = expected.astype(np.float16).astype(expected.dtype)
    found = difference(name, actual, expected, None, _TOLERANCES)
    if max_error is None or found.is_equal or max_error <= found.limit:
        return found
    return difference(name, actual, expected, max_error)


def _run(toolkit: Toolkit, python: Path, work: Mapping[str, object], folder: Path) -> str:
    """Run the worker; return the toolkit's version."""
    file = folder / "work.json"
    file.write_text(json.dumps(work), encoding="utf-8")
    done = run(toolkit, python, toolkit.simulate, [str(file)], folder)
    if done.refusal:
        raise OpkitError(
            f"--toolkit {python}: {done.refusal}; `rknn-op scan MODEL --toolkit PYTHON` shows what "
            "the toolkit refuses"
        )
    return done.version
