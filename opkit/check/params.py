"""The params of cases: the defaults, and each param with its other values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from types import MappingProxyType
from typing import Any

import numpy as np

from opkit.check.mistakes import CheckError, caller_file, caller_location
from opkit.check.operators import Operator, operator_of
from opkit.check.session import repository_of
from opkit.description.case_values import other_values
from opkit.description.spec import Param
from opkit.runtimes.invocation import RefusedError
from opkit.text import did_you_mean


def vary_params(
    base: Mapping[str, Any] = MappingProxyType({}), /, **values: Iterable[Any]
) -> list[dict[str, Any]]:
    """Return the params of cases: the base, and then each param with its other values.

    One param at a time differs from the base. The other values follow from op.yml: all `choices`;
    else the other bool; a larger number, and a smaller one or one with the other sign, within `min`
    and `max`; lists of such numbers, and of other lengths. A text without choices has none. Params
    named like an axis are 0, 1 and -1, and those named like a size are positive.

    Args:
        base: the values of params without a default in op.yml, or in place of the default.
        **values: the other values of a param, in place of those from op.yml; an empty list if it
            does not vary.

    Raises:
        CheckError: an argument is invalid; the message begins with the caller's line.
    """
    operator = operator_of(repository_of(caller_file()))
    if problem := next(_problems(operator.spec.params, base, values), ""):
        raise CheckError(f"{caller_location()}: vary_params(): {problem}")
    found = [dict(base)]
    for param in operator.spec.params:
        value = base.get(param.name, param.default)
        others = values.get(param.name, _supported(operator, param, other_values(param, value)))
        found += [{**base, param.name: each} for each in others if not np.array_equal(each, value)]
    return found


def _problems(params: Iterable[Param], base: Any, values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the errors in the arguments of vary_params()."""
    known = {param.name: param for param in params}
    required = [name for name, param in known.items() if param.default is None]
    example = f"vary_params({{{', '.join(f'{name!r}: ...' for name in required)}}})"
    if not isinstance(base, Mapping):
        yield f"the base is {base!r}; write a dict, as {example}"
    for name in chain(base, values):
        if name not in known:
            near = did_you_mean(str(name), known)
            hint = f"; {near}" if near else ""
            yield f"unknown param '{name}'{hint} (expected {', '.join(known) or 'none'})"
    for name, others in values.items():
        if isinstance(others, str) or not isinstance(others, Iterable):
            yield f"{name}={others!r}; write a list of values, as {name}=[{others!r}]"
    for name in required:
        if name not in base:
            yield f"param '{name}' has no default in op.yml; write {example}"


def _supported(operator: Operator, param: Param, values: Iterable[Any]) -> Iterator[Any]:
    """Yield the values that no runtime refuses."""
    for value in values:
        try:
            for runtime in operator.runtimes:
                runtime.check.convention.value(param, value)
        except RefusedError:
            continue
        yield value
