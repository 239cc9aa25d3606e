"""Valid descriptions, as hypothesis makes them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from opkit.description.types import PARAM_TYPES, ParamType
from opkit.description.words import taken_by
from opkit.runtimes.rknn.deliveries import DELIVERIES
from opkit.runtimes.rknn.names import VX_KERNELS, VX_PARAMETERS, operator_name_refusal

_WORDS = "Main main Len len np tf Shape self cls params inputs outputs reference name other exp"
_WORDS += " coord elements none index items count tensor std dict map range i I N K alpha_beta"

NAMES = (
    st.sampled_from(_WORDS.split()) | st.from_regex(r"[A-Za-z]\w{0,20}", fullmatch=True)
).filter(lambda name: name.isascii())


def is_free(name: str) -> bool:
    """Whether an input, an output or a param may be called so."""
    return not taken_by(name) and name not in VX_PARAMETERS


def is_free_for_operator(name: str) -> bool:
    """Whether an operator of rknn may be called so."""
    lower = name.lower()
    return not any(
        (taken_by(name), taken_by(lower), operator_name_refusal(name), lower in VX_KERNELS)
    )


_DOCS = st.text(
    st.characters(categories=["L", "N", "P", "S", "Zs"]) | st.sampled_from("{}\"'*/?\\%$#"),
    max_size=40,
).map(lambda text: " ".join(text.split()))


def _values(type_: ParamType, length: int | None) -> st.SearchStrategy[Any]:
    if type_.element.kind == "bool":
        one: st.SearchStrategy[Any] = st.booleans()
    elif type_.element.kind == "float":
        one = st.floats(width=32, allow_nan=False, allow_infinity=False)
    else:
        low, high = type_.element.limits or (0, 1)
        one = st.integers(low, high)
    if not type_.is_list:
        return one
    return st.lists(one, min_size=length or 1, max_size=length or 16)


@st.composite
def _params(draw: st.DrawFn) -> dict[str, Any]:
    type_ = PARAM_TYPES[draw(st.sampled_from(sorted(DELIVERIES)))]
    length = draw(st.none() | st.integers(1, 16)) if type_.is_list else None
    facts: dict[str, Any] = {"type": type_.name, "length": length, "doc": draw(_DOCS)}
    facts["default"] = draw(st.none() | _values(type_, length))
    return {key: value for key, value in facts.items() if value is not None}


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Make the document of a description for rknn, with names that are free."""
    free = NAMES.filter(is_free)
    name = draw(NAMES.filter(is_free_for_operator))
    names = draw(st.lists(free, min_size=2, max_size=8, unique_by=str.lower))
    names = [each for each in names if not taken_by(each, name)]
    inputs = draw(st.integers(1, max(1, len(names) - 1)))
    outputs = draw(st.integers(1, max(1, len(names) - inputs)))
    tensor = {"type": "VX_TYPE_TENSOR"}
    return {
        "name": name,
        "inputs": {each: {**tensor, "doc": draw(_DOCS)} for each in names[:inputs]},
        "outputs": dict.fromkeys(names[inputs : inputs + outputs] or ["y_"], tensor),
        "params": {each: draw(_params()) for each in names[inputs + outputs :]},
    }
