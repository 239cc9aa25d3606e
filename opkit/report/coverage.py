"""The coverage of the cases: values of params; dtypes, shapes and special values of tensors."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from opkit.check.results import Record
from opkit.check.traits import SPECIAL_VALUES, CaseTraits, TensorTraits
from opkit.description.spec import OpSpec

_MAX_VALUES = 12  # listed in a row


@dataclass(frozen=True)
class Occurrence:
    """A value that occurred.

    Attributes:
        text: the value.
        cases: the number of cases with it.
        failed: the number of these that failed on a kernel.
    """

    text: str
    cases: int
    failed: int


@dataclass(frozen=True)
class Row:
    """A row of the table of coverage.

    Attributes:
        name: of the param or the tensor.
        what: what is counted.
        occurrences: the most frequent values.
        more: the number of other values.
        missing: values that no case has.
    """

    name: str
    what: str
    occurrences: Sequence[Occurrence]
    more: int = 0
    missing: Sequence[str] = ()


def coverage(operator: OpSpec, records: Iterable[Record]) -> Iterator[Row]:
    """Yield the rows of params, inputs and outputs, in the order of op.yml.

    A case counts once, although it has a record for each kernel.
    """
    traits: dict[tuple[str, str], CaseTraits] = {}
    failed: dict[tuple[str, str], bool] = {}
    for record in records:
        key = record.test, record.result.case
        traits[key] = record.result.traits
        failed[key] = failed.get(key, False) or bool(record.result.problem)
    cases = [(traits[key], failed[key]) for key in traits]
    for param in operator.params:
        having = [(case, bad) for case, bad in cases if param.name in case.params]
        are_bools = all(isinstance(case.params[param.name], bool) for case, _ in having)
        values = [(json.dumps(case.params[param.name]), bad) for case, bad in having]
        yield _row(param.name, "values", values, ("false", "true") if are_bools else ())
    for role, names in (
        ("inputs", [tensor.name for tensor in operator.inputs]),
        ("outputs", [tensor.name for tensor in operator.outputs]),
    ):
        for name in names:
            tensors = [
                (getattr(case, role)[name], bad)
                for case, bad in cases
                if name in getattr(case, role)
            ]
            yield from _of_tensor(name, tensors)


def _of_tensor(name: str, tensors: Sequence[tuple[TensorTraits, bool]]) -> Iterator[Row]:
    yield _row(name, "dtypes", [(tensor.dtype, bad) for tensor, bad in tensors])
    shapes = [("x".join(map(str, tensor.shape)), bad) for tensor, bad in tensors]
    yield _row(name, "shapes", shapes)
    special = [(value, bad) for tensor, bad in tensors for value in tensor.values]
    yield _row(name, "special values", special, _possible(tensor.dtype for tensor, _ in tensors))


def _possible(dtypes: Iterable[str]) -> Sequence[str]:
    """Return the special values that tensors of these dtypes can have."""
    kinds = {dtype.rstrip("0123456789") for dtype in dtypes}
    if "float" in kinds:
        return tuple(SPECIAL_VALUES)
    integers = ("the largest numbers",) if kinds & {"int", "uint"} else ()
    return (*integers, *(("negative numbers",) if "int" in kinds else ()))


def _row(
    name: str, what: str, values: Sequence[tuple[str, bool]], choices: Sequence[str] = ()
) -> Row:
    cases = Counter(value for value, _ in values)
    failed = Counter(value for value, bad in values if bad)
    found = [Occurrence(text, count, failed[text]) for text, count in cases.most_common()]
    missing = [choice for choice in choices if choice not in cases]
    return Row(name, what, found[:_MAX_VALUES], len(found[_MAX_VALUES:]), missing)
