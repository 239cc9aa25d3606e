"""The gaps of a VX kernel's cases: work items, lanes and element types that no case has."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from opkit.description.spec import OpSpec
from opkit.runtimes.invocation import Invocation
from opkit.runtimes.rknn.vx.launch import Launch

_AXES = "xyz"


def coverage(launch: Launch, spec: OpSpec, invocation: Invocation) -> dict[str, bool]:
    """Return note -> whether a launch fills the gap that the note names."""
    return {
        **dict(_work_items(launch)),
        **dict(_lanes(launch, invocation)),
        **dict(_types(spec, invocation)),
    }


def _work_items(launch: Launch) -> Iterator[tuple[str, bool]]:
    for axis, items in zip(_AXES[: launch.work_dim], launch.global_size, strict=False):
        yield f"no case of the VX kernel launches more than one work item along {axis}", items > 1


def _lanes(launch: Launch, invocation: Invocation) -> Iterator[tuple[str, bool]]:
    """Yield the axes along which a work item has several elements, by its scale."""
    extents = [_extents(shape) for shape, _ in invocation.outputs.values()]
    scales = launch.global_scale[: launch.work_dim]
    for axis, scale, sizes in zip(_AXES, scales, zip(*extents, strict=True), strict=False):
        if scale > 1:
            note = f"no case of the VX kernel reaches the last of {scale} lanes along {axis}"
            yield note, max(sizes) >= scale


def _types(spec: OpSpec, invocation: Invocation) -> Iterator[tuple[str, bool]]:
    given = {
        **{name: array.dtype for name, array in invocation.inputs.items()},
        **{name: np.dtype(dtype) for name, (_, dtype) in invocation.outputs.items()},
    }
    for tensor in (*spec.inputs, *spec.outputs):
        if tensor.dtype is not None:
            yield (
                f"no case of the VX kernel has '{tensor.name}' as {tensor.dtype}, its dtype in "
                "op.yml",
                given[tensor.name] == np.dtype(tensor.dtype),
            )


def _extents(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """Return the number of elements along x, y and z."""
    *others, height, width = (1, *shape)
    return width, height, math.prod(others)
