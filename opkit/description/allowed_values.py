"""The values of params that op.yml allows, by `min`, `max` and `choices`.

Floats are compared as float32, the precision of attributes in models.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any

from opkit.description.spec import Param


def limits_of(param: Param) -> dict[str, Any]:
    """Return `min`, `max` and `choices` of a param, as far as op.yml has them."""
    limits = {"min": param.min, "max": param.max, "choices": [*param.choices] or None}
    return {key: value for key, value in limits.items() if value is not None}


def allows(param: Param, item: Any) -> bool:
    """Return whether op.yml allows a number, a list's item or a text."""
    is_float = param.type.element.kind == "float"

    def comparable(number: Any) -> Any:
        return array("f", [float(number)])[0] if is_float else number

    return (
        (param.min is None or bool(comparable(item) >= comparable(param.min)))
        and (param.max is None or bool(comparable(item) <= comparable(param.max)))
        and (not param.choices or comparable(item) in map(comparable, param.choices))
    )


def refused(param: Param, value: Any) -> list[Any]:
    """Return the items of a param's value that op.yml does not allow."""
    items: Iterable[Any] = value if param.type.is_list else [value]
    return [item for item in items if not allows(param, item)]


def describe_allowed(param: Param) -> str:
    """Describe the allowed values, for messages: `1 to 4`, `1 or more`, `linear, cubic`."""
    if param.choices:
        return ", ".join(map(_shown, param.choices))
    if param.min is None or param.max is None:
        has_min = param.max is None
        return f"{_shown(param.min)} or more" if has_min else f"{_shown(param.max)} or less"
    return f"{_shown(param.min)} to {_shown(param.max)}"


def _shown(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)
