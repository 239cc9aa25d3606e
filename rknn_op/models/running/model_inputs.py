"""The inputs of a model to run: of an .npz file, or random ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from opkit.common.errors import OpkitError
from opkit.common.text import printable, shortened
from rknn_op.models.model_graph import Dimension, Model, Node, Tensor, shape_text

Array = Any

_SEED = 0
_INDEX_INPUTS = {
    "Gather": 1,
    "GatherElements": 1,
    "GatherND": 1,
    "Scatter": 1,
    "ScatterElements": 1,
    "ScatterND": 1,
}
"""Operator -> the position of its indices, which select elements of input 0 along its axis."""
_ALL_AXES = frozenset(("GatherND", "ScatterND"))
"""Operators among them whose indices select along several axes."""
_PASS = frozenset(
    "Cast Expand Flatten Identity Reshape Slice Squeeze Tile Transpose Unsqueeze".split()
)
"""Operators that forward the values of their first input."""
MAX_ELEMENTS = 2**28
"""Maximum elements of a random input: 1 GB of float32."""

_MAX_INTEGER = 3
"""The maximum of integers without a known range, if they are not of an image."""
_KINDS = "biuf"
_BATCH = frozenset(("n", "b", "bs", "batch", "batch_size", "batchsize"))
"""The names of a dynamic size that is 1 in random inputs, in lower case; also one without a name
on the first axis."""


def random_inputs(model: Model) -> dict[str, Array]:
    """Return random arrays for a model's inputs, the same ones in every run.

    Floats are from -1 to 1; uint8, as of images, from 0 to 255; integers that select elements of a
    tensor are in its range, others from 0 to 3. A batch has the size 1; see assumptions.

    Raises:
        OpkitError: an input has a dynamic shape, too many elements, or a dtype that numpy lacks.
    """
    random = np.random.default_rng(_SEED)
    ranges = _index_sizes(model)
    arrays: dict[str, Array] = {}
    for tensor in model.inputs:
        where = f"{model.file}: input {_called(tensor.name)}"
        sizes = [_size(size, axis) for axis, size in enumerate(tensor.shape or ())]
        shape = [size for size in sizes if size is not None]
        called = printable(shape_text(tensor.shape))
        if tensor.shape is None or None in sizes:
            raise OpkitError(
                f"{where} has the dynamic shape {called}; pass its array with --inputs FILE.npz, "
                "or export the model with fixed sizes"
            )
        if prod(shape) > MAX_ELEMENTS:
            raise OpkitError(
                f"{where} has the shape {called} (expected at most {MAX_ELEMENTS:,} elements); "
                "export the model with smaller sizes"
            )
        dtype = _dtype(tensor)
        if dtype is None:
            raise OpkitError(
                f"{where} is {tensor.dtype or 'not a tensor'}, for which there are no random "
                "values; pass its array with --inputs FILE.npz"
            )
        if dtype.kind == "f":
            arrays[tensor.name] = random.uniform(-1, 1, shape).astype(dtype)
        else:
            end = ranges.get(tensor.name) or _max_integer(dtype) + 1
            end = 2 if dtype.kind == "b" else end
            arrays[tensor.name] = random.integers(0, end, shape).astype(dtype)
    return arrays


def assumptions(model: Model) -> Iterator[str]:
    """Yield a message for each assumption of random inputs: the batch size, and integers."""
    ranges = _index_sizes(model)
    for tensor in model.inputs:
        name = _called(tensor.name)
        if any(size != _size(size, axis) == 1 for axis, size in enumerate(tensor.shape or ())):
            shape = printable(shape_text(tensor.shape))
            yield f"input {name} has the shape {shape}: the size of the batch is assumed to be 1"
        dtype = _dtype(tensor)
        if dtype is not None and dtype.kind in "iu" and tensor.name not in ranges:
            limit = _max_integer(dtype)
            yield f"input {name} has random {dtype} from 0 to {limit}: their range is unknown"


def _max_integer(dtype: np.dtype[Any]) -> int:
    """Return the maximum of integers without a known range: of images, or of other data."""
    return 255 if dtype == np.uint8 else _MAX_INTEGER


def _size(size: Dimension, axis: int) -> int | None:
    """Return a size; of a dynamic one 1 for a batch, or None."""
    if isinstance(size, int):
        return size
    is_batch = axis == 0 if size is None else size.lower() in _BATCH
    return 1 if is_batch else None


def _dtype(tensor: Tensor) -> np.dtype[Any] | None:
    """Return numpy's dtype; None if numpy has none for numbers of this type."""
    try:
        dtype = np.dtype(tensor.dtype) if tensor.dtype else None
    except TypeError:
        return None
    return dtype if dtype is not None and dtype.kind in _KINDS else None


def _index_sizes(model: Model) -> dict[str, int]:
    """Return input -> the smallest size of an axis from which its values select."""
    origins = {each.name: each.name for each in model.inputs}
    sizes: dict[str, int] = {}
    for node in model.nodes:
        first = node.inputs[0] if node.inputs else None
        if node.op_type in _PASS and first and first.name in origins and node.outputs[0]:
            origins[node.outputs[0].name] = origins[first.name]
        for name, size in _selected(node):
            if name in origins:
                origin = origins[name]
                sizes[origin] = min(size, sizes.get(origin, size))
    return sizes


def _selected(node: Node) -> Iterator[tuple[str, int]]:
    """Yield the indices of a node, and the size of the axis from which they select."""
    position = _INDEX_INPUTS.get(node.op_type)
    if position is None or len(node.inputs) <= position or node.domain:
        return
    data, indices = node.inputs[0], node.inputs[position]
    axis = node.attributes.get("axis", 0)
    if not (data and indices and data.shape and isinstance(axis, int)):
        return
    rank = len(data.shape)
    chosen = data.shape if node.op_type in _ALL_AXES else data.shape[axis % rank : axis % rank + 1]
    sizes = [size for size in chosen if isinstance(size, int)]
    if sizes and min(sizes) > 0:
        yield indices.name, min(sizes)


def read_inputs(file: Path, model: Model) -> dict[str, Array]:
    """Return the arrays of a model's inputs in an .npz file.

    Raises:
        OpkitError: the file is not valid, or its arrays do not match the inputs.
    """
    try:
        loaded = np.load(file, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            raise ValueError("it is a single array")
        with loaded as archive:
            arrays = {name: archive[name] for name in archive.files}
    except OSError as error:
        raise OpkitError(f"{file}: cannot be read: {error.strerror or error}") from None
    except Exception as error:  # numpy, zipfile and zlib raise a dozen types for damaged files
        reason = printable(str(error).partition("\n")[0])
        raise OpkitError(f"{file}: is not an .npz file of numpy arrays: {reason}") from None
    check_inputs(arrays, model, str(file))
    return arrays


def check_inputs(arrays: Mapping[str, Array], model: Model, where: str) -> None:
    """Require arrays that match the inputs of a model.

    Args:
        arrays: the arrays by name.
        model: the model.
        where: their place, for messages.

    Raises:
        OpkitError: a name, dtype or shape differs.
    """
    expected = {each.name: each for each in model.inputs}
    if arrays.keys() != expected.keys():
        found = ", ".join(map(_called, arrays)) or "no arrays"
        raise OpkitError(f"{where}: has {found} (expected {', '.join(map(_called, expected))})")
    for name, array in arrays.items():
        if problem := _problem(array, expected[name]):
            raise OpkitError(f"{where}: {_called(name)}: {problem}")


def _called(name: str) -> str:
    return repr(printable(shortened(name)))


def _problem(array: Array, tensor: Tensor) -> str:
    """Return the reason why an array is not a value of an input; empty if it is."""
    dtype = _dtype(tensor)
    if dtype is not None and array.dtype != dtype:
        return f"is {array.dtype} (expected {dtype})"
    shape = tensor.shape
    if shape is not None and (
        len(shape) != array.ndim
        or any(
            isinstance(size, int) and size != actual
            for size, actual in zip(shape, array.shape, strict=True)
        )
    ):
        return f"has shape {shape_text(array.shape)} (expected {printable(shape_text(shape))})"
    return ""
