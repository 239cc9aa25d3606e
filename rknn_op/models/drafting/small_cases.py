"""Small cases from the shapes and params of a model's nodes, each proven by the reference."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from opkit.check.cases import Case, Values, cases, integers, uniform
from opkit.check.mistakes import CheckError
from opkit.check.operators import Operator
from opkit.runtimes.invocation import Array
from rknn_op.models.drafting.node_signatures import Signature, params_of
from rknn_op.models.drafting.reference_trials import TimeLimitError, time_limit, tolerated_error
from rknn_op.models.model_files import schema_of
from rknn_op.models.model_graph import Node, Tensor, at

MAX_ELEMENTS = 4096
"""Maximum elements of a tensor in a small case."""

_MAX_GROUPS = 8
"""Maximum groups of cases; models may have hundreds of different nodes."""

_STARTS = (3, 5, 8, 16)
"""The smallest sizes of shrunk shapes, in the order of the attempts."""

_UNKNOWN = 6
"""The size in place of a dynamic one."""

_MAX_COUNT = 8
"""The maximum number in a param that shrinking does not change: axes, modes, counts."""

_LIMIT = 2.0
"""The maximum processor time of an attempt."""

_MAX_DIFFERENCE = 4
"""The maximum difference between sizes that shrinking does not change, as of a window."""

_MAX_KEPT = 64
"""The maximum size that an attempt keeps, such as a count of channels."""

_MAX_SECONDS = 0.2
"""The maximum processor time of a case for trying other params."""

_NONSENSE = "rknn-op"
"""A text that no operator accepts."""


@dataclass(frozen=True)
class Range:
    """The values of an input: `uniform(low, high)` or `integers(low, high)`."""

    maker: str
    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.maker}({self.low}, {self.high})"

    @property
    def values(self) -> Values:
        """The values for cases()."""
        return {"uniform": uniform, "integers": integers}[self.maker](self.low, self.high)


@dataclass(frozen=True)
class Group:
    """The arguments of a call of cases().

    Attributes:
        shapes: input -> shape.
        dtypes: input -> dtype.
        ranges: the values of the inputs, by name, for one case each.
        params: the values of the params that are not the default.
        others: param -> other values, one at a time; None: no variation.
    """

    shapes: Mapping[str, tuple[int, ...]]
    dtypes: Mapping[str, str]
    ranges: Sequence[Mapping[str, Range]]
    params: Mapping[str, Any]
    others: Mapping[str, Sequence[Any]] | None = None

    def cases(self, **params: Any) -> list[Case]:
        """Return the cases that the call makes for some params: one for each entry of ranges."""
        return cases(
            [self.shapes],
            [{name: each.values for name, each in ranges.items()} for ranges in self.ranges],
            [{**self.params, **params}],
            dict(self.dtypes),
        )


class Runs:
    """Runs of a reference, each case once.

    Attributes:
        operator: the operator.
        seconds: the processor time of the last case, in seconds.
    """

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.seconds = 0.0
        self._known: dict[str, Mapping[str, Array] | None] = {}

    def outputs(self, case: Case) -> Mapping[str, Array] | None:
        """Return the reference's outputs; None if it rejects the case."""
        key = f"{case.name} {case.params}"
        if key not in self._known:
            start = time.process_time()
            try:
                with time_limit(_LIMIT):
                    self._known[key] = self.operator.prepare(case).expected
            except (CheckError, TimeLimitError):
                self._known[key] = None
            self.seconds = time.process_time() - start
        return self._known[key]

    def accepts(self, cases: Iterable[Case]) -> bool:
        """Whether the reference accepts all cases."""
        return all(self.outputs(case) is not None for case in cases)


@dataclass(frozen=True)
class SmallCases:
    """The small cases of an operator.

    Attributes:
        groups: the groups of cases.
        error: the tolerated absolute error of floats.
        left_out: messages about nodes without a small case.
    """

    groups: Sequence[Group] = ()
    error: float = 0.0
    left_out: Sequence[str] = field(default=())


def small_cases(found: Signature, nodes: Sequence[Node], operator: Operator) -> SmallCases:
    """Return small cases of nodes: a group for each different one.

    A group keeps the ranks, equal sizes and sizes that occur in params; the reference accepts it.
    """
    runs = Runs(operator)
    groups: list[Group] = []
    failed = left = 0
    kinds: dict[str, Node] = {}  # of the same shapes and dtypes of inputs, and the same params
    for node in nodes:
        types = [(each.shape, each.dtype) for each in node.inputs if each]
        kinds.setdefault(repr((types, params_of(found, node))), node)
    for node in kinds.values():
        if len(groups) == _MAX_GROUPS:
            left += 1
            continue
        group = next((each for each in _attempts(found, node) if runs.accepts(each.cases())), None)
        if group is None:
            failed += 1
        elif group not in groups:
            groups.append(group)
    sentences = []
    if failed:
        nodes_text = f"{failed} node{'s' * (failed != 1)}"
        sentences.append(f"{nodes_text} without small shapes that the reference accepts")
    if left:
        sentences.append(f"nodes beyond the first {_MAX_GROUPS} different ones: {left}")
    if not groups:
        return SmallCases(left_out=sentences)
    if runs.seconds > _MAX_SECONDS:
        sentences.append(f"other values of params: the reference takes {runs.seconds:.1f} s a case")
    else:
        groups[0] = replace(groups[0], others=_others(groups[0], runs, _texts(found, nodes)))
    outputs = (runs.outputs(case) for group in groups for case in group.cases())
    error = max((tolerated_error(each) for each in outputs if each is not None), default=0.0)
    return SmallCases(groups, error, sentences)


# ---- Shapes --------------------------------------------------------------------------------------


def _attempts(found: Signature, node: Node) -> Iterator[Group]:
    """Yield groups for a node, the most desirable first."""
    params = params_of(found, node)
    tensors = {each.name: at(node.inputs, each.position) for each in found.tensors}
    shapes = _sizes({name: tensor for name, tensor in tensors.items() if tensor})
    if params is None or len(shapes) < len(tensors) or not all(shapes.values()):
        return
    dtypes = {name: tensor.dtype or "float32" for name, tensor in tensors.items() if tensor}
    for small, settings in _shrunk(shapes, params):
        if all(prod(shape) <= MAX_ELEMENTS for shape in small.values()):
            for ranges in _ranges(small, dtypes):
                yield Group(small, dtypes, ranges, settings)


def _sizes(tensors: Mapping[str, Tensor]) -> dict[str, tuple[int, ...]]:
    """Return shapes with sizes for dynamic ones, equal for equal names; () for unknown ranks."""
    shapes = {name: tensor.shape or () for name, tensor in tensors.items()}
    names = dict.fromkeys(size for shape in shapes.values() for size in shape)
    dynamic = [size for size in names if not isinstance(size, int)]
    sizes = {size: _UNKNOWN + index for index, size in enumerate(dynamic)}
    return {
        name: tuple(size if isinstance(size, int) else sizes[size] for size in shape)
        for name, shape in shapes.items()
    }


_Shapes = Mapping[str, tuple[int, ...]]


def _shrunk(shapes: _Shapes, params: Mapping[str, Any]) -> Iterator[tuple[_Shapes, dict[str, Any]]]:
    """Yield smaller shapes with their params; at the end, the original ones."""
    numbers = {each for value in params.values() for each in _numbers(value)}
    sizes = {size for shape in shapes.values() for size in shape if size > 1}
    for start in _STARTS:
        single = [{size} for size in sorted(sizes) if size <= _MAX_KEPT]
        for keep in (numbers, set[int](), *single):
            mapping = _mapping(sizes - keep, start, keep)
            yield _with(shapes, mapping), dict(params)
        large = {each for each in numbers if each > _MAX_COUNT}
        mapping = _mapping(sizes | large, start, ())
        if numbers & mapping.keys():
            yield (
                _with(shapes, mapping),
                {name: _mapped(value, mapping) for name, value in params.items()},
            )
    yield shapes, dict(params)


def _with(shapes: _Shapes, mapping: Mapping[int, int]) -> _Shapes:
    return {
        name: tuple(mapping.get(size, size) for size in shape) for name, shape in shapes.items()
    }


def _numbers(value: Any) -> list[int]:
    items = value if isinstance(value, list) else [value]
    return [each for each in items if isinstance(each, int) and not isinstance(each, bool)]


def _mapping(sizes: Collection[int], start: int, keep: Collection[int]) -> dict[int, int]:
    """Return size -> smaller size, in the same order and with the same small differences."""
    mapping: dict[int, int] = {}
    before, last = 0, start - 1
    for size in sorted(sizes):
        step = size - before if before > 0 and size - before <= _MAX_DIFFERENCE else 1
        free = (each for each in range(max(start, last + step), size) if each not in keep)
        mapping[size] = min(size, next(free, size))
        before, last = size, max(last, mapping[size])
    return mapping


def _mapped(value: Any, mapping: Mapping[int, int]) -> Any:
    if isinstance(value, list):
        return [_mapped(each, mapping) for each in value]
    is_size = isinstance(value, int) and not isinstance(value, bool)
    return mapping.get(value, value) if is_size else value


# ---- Values --------------------------------------------------------------------------------------


def _ranges(shapes: _Shapes, dtypes: Mapping[str, str]) -> Iterator[list[dict[str, Range]]]:
    """Yield the values of inputs: narrow and wide ones of floats, indices of others.

    The indices are of the first input, then of all inputs, then 0.
    """
    first = next(iter(shapes))
    sizes = [size for size in shapes[first] if size > 1]
    all_sizes = [size for shape in shapes.values() for size in shape if size > 1]

    def values(name: str, limit: int, count: int) -> Range:
        kind = np.dtype(dtypes[name]).kind
        if kind == "f":
            return Range("uniform", -limit, limit)
        if kind == "b":
            return Range("integers", 0, 1)
        return Range("integers", 0, 9 if name == first else count - 1)

    kinds = {name: np.dtype(each).kind for name, each in dtypes.items()}
    limits = (1, 8) if "f" in kinds.values() else (1,)
    has_indices = any(kind in "iu" for name, kind in kinds.items() if name != first)
    counts = dict.fromkeys((min(sizes, default=1), min(all_sizes, default=1), 1))
    for count in [*counts][: None if has_indices else 1]:
        yield [{name: values(name, limit, count) for name in shapes} for limit in limits]


# ---- Params --------------------------------------------------------------------------------------


def _texts(found: Signature, nodes: Sequence[Node]) -> dict[str, list[str]]:
    """Return param -> texts that nodes have, and words of the schema's description."""
    known: Mapping[str, Any] = {}
    if found.is_standard:
        known = dict(schema_of(found.op_type, found.domain, found.opset).attributes)
    texts = {}
    for each in found.attributes:
        if each.kind == "string":
            words = [
                str(node.attributes[each.name]) for node in nodes if each.name in node.attributes
            ]
            if each.name in known:
                words += re.findall(r"[A-Za-z_]{3,}", known[each.name].description)
            texts[each.name] = [*dict.fromkeys(words)]
    return texts


def _others(
    group: Group, runs: Runs, texts: Mapping[str, Sequence[str]]
) -> dict[str, Sequence[Any]]:
    """Return each param with other values that change the outputs."""
    others: dict[str, Sequence[Any]] = {}
    for param in runs.operator.spec.params:
        name, value = param.name, group.params.get(param.name, param.default)
        if not param.type.is_text:
            others[name] = _effective(group, runs, name, _other_numbers(value))[:2]
        elif _effective(group, runs, name, [_NONSENSE]):
            others[name] = []  # the reference accepts any text, so legal values are unknown
        else:
            words = [each for each in texts.get(name, ()) if each != value]
            others[name] = _effective(group, runs, name, words)
    return others


def _effective(group: Group, runs: Runs, name: str, values: Iterable[Any]) -> list[Any]:
    """Return the values with outputs of their own."""
    seen = [_all_outputs(group, runs, group.params)]
    found = []
    for value in values:
        if not runs.accepts(group.cases(**{name: value})):
            continue
        outputs = _all_outputs(group, runs, {**group.params, name: value})
        if outputs is not None and not any(
            each is not None and all(map(partial(np.array_equal, equal_nan=True), outputs, each))
            for each in seen
        ):
            seen.append(outputs)
            found.append(value)
    return found


def _all_outputs(group: Group, runs: Runs, params: Mapping[str, Any]) -> list[Array] | None:
    """Return the outputs for the group's cases with other params; None if one is rejected."""
    arrays: list[Array] = []
    for case in group.cases():
        outputs = runs.outputs(replace(case, params=params))
        if outputs is None:
            return None
        arrays += outputs.values()
    return arrays


def _other_numbers(value: Any) -> list[Any]:
    """Return other numbers or lists like a value, the most useful first."""
    if isinstance(value, (list, tuple)):
        return [
            [_other_numbers(each)[0] for each in value],
            [*value][::-1],
            [-each for each in value],
        ]
    if isinstance(value, bool):
        return [not value]
    if value in (0, 1) and isinstance(value, int):
        return [1 - value, 2, -1]
    if isinstance(value, float):
        return [value + 1, 2 * value or -1.0, -value or -2.0]
    return [value + 1, -value or -1, value - 1]
