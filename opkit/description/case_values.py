"""Values of params for generated cases.

Where op.yml does not limit a param, its name does: an axis is within the rank of the tensors, a
size is positive.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from opkit.description.parser import LARGEST
from opkit.description.spec import OpSpec, Param, allows
from opkit.description.types import MAX_RANK, Kind

SAMPLES: dict[Kind, bool | int | float] = {"bool": True, "int": 1, "uint": 1, "float": 0.5}
"""Kind -> a sample value, of the Python type that the reference gets."""

_AXIS = r"(.*_)?(axis|axes)|((start|end|batch)_)?dims?"
_SIZE = (
    r"(.*_)?(\w*sizes?|kernel\w*|block\w*|strides?|dilations?|groups?|counts?|k|dims?|channels"
    r"|features|heads|classes|bins|levels|repeats|window|width|height|depth|pads?|eps|epsilon)"
    r"|num_\w+|(kernel|block)_\w+"
)


def _words(param: Param) -> str:
    """Return the name of a param in lower case, with `_` between its words."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", param.name).lower()


def _is_axis(param: Param) -> bool:
    kind = param.type.element.kind
    return kind in ("int", "uint") and re.fullmatch(_AXIS, _words(param)) is not None


def _is_size(param: Param) -> bool:
    return not _is_axis(param) and re.fullmatch(_SIZE, _words(param)) is not None


def sample(param: Param) -> Any:
    """Return a value of a param without a default."""
    if param.choices:
        item: Any = param.choices[0]
    elif param.type.is_text:
        item = "text"
    else:
        item = 0 if _is_axis(param) else SAMPLES[param.type.element.kind]
        if not allows(param, item):
            item = param.max if param.min is None else param.min
    if not param.type.is_list:
        return item
    count = param.length or (1 if _is_axis(param) else 2)
    if _is_axis(param):
        axes = param.choices or [item + index for index in range(count)]
        return [axes[index % len(axes)] for index in range(count)]
    return [item] * count


def other_values(param: Param, value: Any) -> list[Any]:
    """Return other values of a param than one: all its choices, or a few that op.yml allows."""
    if param.type.is_text or (param.choices and not param.type.is_list):
        return [choice for choice in param.choices if choice != value]
    if param.type.element.kind == "bool":
        return [not value]
    if not param.type.is_list:
        axes = [0, 1] if param.name == "batch_dims" else [0, 1, -1]
        fitting = [axis for axis in axes if _is_axis(param) and _fits(param, axis)]
        others = fitting or [_larger(param, value), _smaller(param, value)]
        return [other for other in dict.fromkeys(others) if other != value]
    lists = [*_other_items(param, [*value])]
    if param.length is None:
        lists += [_longer(param, [*value]), [*value][:-1]]
    return [each for each in lists if each and each != [*value]]


def _other_items(param: Param, value: list[Any]) -> Iterator[list[Any]]:
    """Yield lists of the same length."""
    count = len(value)
    if param.choices:
        turns = [*param.choices] * (count + 1)
        yield from (turns[first : first + count] for first in range(len(param.choices)))
    elif _is_axis(param):
        for axes in (range(count), range(-count, 0)):
            if all(_fits(param, axis) for axis in axes):
                yield [*axes]
    else:
        # Items of their own show a swap.
        yield [_larger(param, item, 1 + index) for index, item in enumerate(value)]
        yield [_smaller(param, item) for item in value]


def _longer(param: Param, value: list[Any]) -> list[Any]:
    """Return a list of one item more; an axis is not repeated."""
    if not _is_axis(param):
        return [*value, value[-1]]
    axes = [*range(len(value) + 1)]
    return axes if all(_fits(param, axis) for axis in axes) else value


def _larger(param: Param, value: Any, step: int = 1) -> Any:
    """Return a larger number that fits; the number itself, if there is none."""
    start = max(value, 0) if _is_size(param) else value
    return _first_fitting(param, [start + step, start + 1, param.max, value])


def _smaller(param: Param, value: Any) -> Any:
    """Return the number with the other sign, or a smaller one; itself, if none fits."""
    others = [-value or value - 1, value - 1]
    if _is_size(param):
        smallest = value / 2 if param.type.element.kind == "float" else 1
        others = [other for other in (value - 1, smallest) if other >= smallest > 0]
    return _first_fitting(param, [*others, param.min, value])


def _first_fitting(param: Param, numbers: list[Any]) -> Any:
    *others, value = numbers
    fitting = (each for each in others if each is not None and _fits(param, each))
    return next(fitting, value)


def _fits(param: Param, value: Any) -> bool:
    """Return whether type and op.yml allow a number."""
    element = param.type.element
    low, high = element.limits or (-LARGEST[element.name], LARGEST[element.name])
    return low <= value <= high and allows(param, value)


def needed_rank(spec: OpSpec) -> int:
    """Return the minimum rank of tensors for the axes in generated cases."""
    ranks = [1]
    for param in filter(_is_axis, spec.params):
        base = sample(param) if param.default is None else param.default
        for value in (base, *other_values(param, base)):
            axes = value if param.type.is_list else [value]
            ranks += [max(axis + 1, -axis, len(axes)) for axis in axes]
    return min(max(ranks), MAX_RANK)
