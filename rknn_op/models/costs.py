"""The time of a library operator's nodes on a board's processor, estimated from instructions."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from math import prod
from typing import NamedTuple

import yaml

from rknn_op import template
from rknn_op.models.model_graph import STANDARD, Node, Tensor, at

FILE = template.EXAMPLES / "instructions.yml"


class Count(NamedTuple):
    """The instructions of an operator, counted in one call on 64-bit ARM.

    Attributes:
        instructions: for each unit of work; see work().
        call: the inputs of the call, with their shapes.
    """

    instructions: float
    call: str


class Processor(NamedTuple):
    """A processor of the boards.

    Attributes:
        name: its name.
        ghz: its clock.
        rate: instructions per cycle.
    """

    name: str
    ghz: float
    rate: float


PROCESSORS = (
    # Clocks: RK3588's by a board maker's documents; RK3562's A53 by a comparison of chips, which
    # has 1.8 and 2.0 GHz. Rates: the medians of `python -m benchmarks.boards` with vectors, in
    # benchmarks/RESULTS.md; its cortex-a35 is LLVM's model of Cortex-A53.
    Processor("A76", 2.4, 1.91),
    Processor("A55", 1.8, 0.81),
    Processor("A53", 1.8, 0.42),
)

_OF_INPUT = {
    *("Col2Im", "Det", "GlobalLpPool", "ReduceL1", "ReduceLogSum", "ReduceLogSumExp"),
    *("ReduceMean", "ReduceProd", "ReduceSumSquare", "TopK"),
}
"""Operators whose work is that of each element of the first input, not of the output."""
_OF_INPUTS = {"Mean", "ScatterElements", "ScatterND", "Sum"}
"""Operators whose work is that of each element of all inputs."""
_UNKNOWN = {"Attention", "DFT", "LinearAttention", "NonMaxSuppression", "STFT"}
"""Operators whose work depends on data, or grows faster than their tensors."""


@cache
def counts() -> dict[str, Count]:
    """Return operator of the library -> its instructions."""
    entries = yaml.safe_load(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {}
    return {name: Count(**entry) for name, entry in entries.items()}


def milliseconds(nodes: Iterable[Node]) -> dict[str, float] | None:
    """Return processor -> the time of one run of an operator's nodes, on one core, in two digits.

    None: the library has no count of the operator, or a shape is unknown.
    """
    executed = 0.0
    for node in nodes:
        count = counts().get(node.op_type) if node.domain == STANDARD else None
        amount = work(node) if count else None
        if count is None or amount is None:
            return None
        executed += count.instructions * amount
    times = {each.name: executed / (each.rate * each.ghz * 1e6) for each in PROCESSORS}
    return {name: float(f"{time:.2g}") for name, time in times.items()}


def work(node: Node) -> int | None:
    """Return the units of a node's work, elements or products; None: unknown."""
    match node.op_type:
        case name if name in _UNKNOWN:
            return None
        case name if name in _OF_INPUT:
            return _size(at(node.inputs, 0))
        case name if name in _OF_INPUTS:
            sizes = [_size(each) for each in node.inputs]
            return None if None in sizes else sum(filter(None, sizes))
        case "Einsum":
            return _products(node)
    elements, each = _size(at(node.outputs, 0)), _work_of_element(node)
    return None if elements is None or each is None else elements * each


def _work_of_element(node: Node) -> int | None:
    """Return the units of work of an element of the output."""
    match node.op_type:
        case "CausalConvWithState" | "DeformConv":
            weight = _sizes(at(node.inputs, 1))
            return None if weight is None else prod(weight[1:])
        case "RNN":
            weights = [_sizes(at(node.inputs, position)) for position in (1, 2)]
            return sum(each[-1] for each in weights if each) if all(weights) else None
        case "LpPool":
            window = node.attributes.get("kernel_shape")
            sizes = window if isinstance(window, tuple) else ()
            return prod(size for size in sizes if isinstance(size, int)) if sizes else None
        case "RoiAlign":
            samples = node.attributes.get("sampling_ratio")
            return samples**2 if isinstance(samples, int) and samples > 0 else None
    return 1


def _products(node: Node) -> int | None:
    """Return the product of the sizes of all letters in an equation of Einsum."""
    equation = str(node.attributes.get("equation", ""))
    letters = equation.replace(" ", "").partition("->")[0]
    found: dict[str, int] = {}
    for term, tensor in zip(letters.split(","), node.inputs, strict=False):
        sizes = _sizes(tensor)
        if sizes is None or len(sizes) != len(term) or "." in term:
            return None
        found |= dict(zip(term, sizes, strict=True))
    return prod(found.values())


def _sizes(tensor: Tensor | None) -> tuple[int, ...] | None:
    if tensor is None or tensor.shape is None:
        return None
    sizes = tuple(size for size in tensor.shape if isinstance(size, int))
    return sizes if len(sizes) == len(tensor.shape) else None


def _size(tensor: Tensor | None) -> int | None:
    sizes = _sizes(tensor)
    return None if sizes is None else prod(sizes)
