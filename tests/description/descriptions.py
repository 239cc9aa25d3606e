"""Hypothesis strategies for valid descriptions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from opkit import runtimes
from opkit.description.parser import LARGEST
from opkit.description.spec import TENSOR_DTYPES
from opkit.description.types import MAX_TEXT, PARAM_TYPES, ParamType
from opkit.description.words import taken_by
from opkit.runtimes.rknn.settings import VX_KERNELS, VX_PARAMETERS

_WORDS = "Main main Len len np tf Shape self cls params inputs outputs reference name other exp"
_WORDS += " coord elements none index items count tensor std dict map range i I N K alpha_beta"

NAMES = st.sampled_from(_WORDS.split()) | st.from_regex(
    r"[A-Za-z][A-Za-z0-9_]{0,20}", fullmatch=True
)


LONGEST_LIST = 16
"""The maximum count of items that every runtime takes."""

RUNTIMES = tuple(runtimes.available())


def is_free(name: str) -> bool:
    """Return whether all runtimes accept the name for an input, an output or a param."""
    return not taken_by(name) and name not in VX_PARAMETERS and name != "name"


def is_free_for_operator(name: str) -> bool:
    """Return whether all runtimes accept the name for an operator."""
    lower = name.lower()
    refusals = [each.describe.name_refusal(name) for each in runtimes.available().values()]
    return not any((taken_by(name), taken_by(lower), *refusals, lower in VX_KERNELS))


_HOSTILE = [
    *("*/", "/*", "//", "??/", "\\", "\\n", '"', '"""', "'", "%s", "#define x", "{x}", "{{x}}"),
    *("$x", "`x`", "<!--", "]]>", "\\u0041", 'R"(', "__DATE__", "_Pragma(x)", "*\\\\/"),
]
_CHARACTERS = st.characters(categories=["L", "N", "P", "S", "Zs"])
_TEXT = st.lists(_CHARACTERS | st.sampled_from(_HOSTILE) | st.just(" "), max_size=10).map("".join)
_DOCS = _TEXT.map(lambda text: " ".join(text.split()))
_SOURCES = _TEXT.map(lambda text: f"const:{''.join(text.split()) or 'x'}")
# All characters but NUL and halves of surrogate pairs, which a C string cannot contain.
_DEFAULT_TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")) | _TEXT
_DOMAINS = st.sampled_from(
    ["", "custom", "com.example-ops", "onnx", "std", "ppl", "new", "linux", "_", "x86", "a.1"]
) | st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,8}(\.[A-Za-z0-9_-]{1,8})?", fullmatch=True)


def _numbers(type_: ParamType) -> st.SearchStrategy[Any]:
    """Draw a valid number of a param, often one at a limit."""
    if type_.element.kind == "bool":
        return st.booleans()
    if type_.element.kind == "float":
        largest = LARGEST[type_.element.name]
        limits = [largest, -largest, 5e-324, 1e-45, -0.0]
        floats = st.floats(-largest, largest, allow_nan=False)
        return floats | st.sampled_from(limits)
    low, high = type_.element.limits or (0, 1)
    return st.integers(low, high) | st.sampled_from([low, high])


def values(type_: ParamType, length: int | None) -> st.SearchStrategy[Any]:
    """Draw a valid value of a param, often one at a limit."""
    if type_.is_text:
        return _DEFAULT_TEXTS.filter(lambda text: len(text.encode()) <= MAX_TEXT)
    if not type_.is_list:
        return _numbers(type_)
    return st.lists(_numbers(type_), min_size=length or 1, max_size=length or LONGEST_LIST)


def _allowed(draw: st.DrawFn, type_: ParamType) -> tuple[dict[str, Any], st.SearchStrategy[Any]]:
    """Draw `min` and `max`, or `choices`, of a param; return also allowed items."""
    items = values(type_, None) if type_.is_text else _limits(type_)
    found = draw(st.lists(items, min_size=1, max_size=9, unique=True))
    if type_.is_text or draw(st.booleans()):
        return {"choices": found}, st.sampled_from(found)
    limits = {"min": min(found), "max": max(found)}
    keys = draw(st.lists(st.sampled_from([*limits]), min_size=1, unique=True))
    return {key: limits[key] for key in keys}, st.sampled_from(found)


def _limits(type_: ParamType) -> st.SearchStrategy[Any]:
    """Draw a number that can limit a param: of floats, a float32."""
    return _numbers(PARAM_TYPES["VX_TYPE_FLOAT32"] if type_.element.kind == "float" else type_)


@st.composite
def _params(draw: st.DrawFn, types: Sequence[str]) -> dict[str, Any]:
    type_ = PARAM_TYPES[draw(st.sampled_from(types))]
    length = draw(st.none() | st.integers(1, LONGEST_LIST)) if type_.is_list else None
    facts: dict[str, Any] = {"type": type_.name, "length": length, "doc": draw(_DOCS)}
    defaults = values(type_, length)
    if type_.element.kind != "bool" and draw(st.booleans()):
        allowed, items = _allowed(draw, type_)
        facts |= allowed
        size = length or LONGEST_LIST
        defaults = st.lists(items, min_size=length or 1, max_size=size) if type_.is_list else items
    facts["default"] = draw(st.none() | defaults)
    if not type_.is_text:
        facts["source"] = draw(st.none() | _SOURCES)
    return {key: value for key, value in facts.items() if value is not None}


@st.composite
def documents(draw: st.DrawFn, chosen: Sequence[str] = ("rknn",)) -> dict[str, Any]:
    """Draw the document of a description for some runtimes, without reserved names."""
    free = NAMES.filter(is_free)
    name = draw(NAMES.filter(is_free_for_operator))
    names = draw(st.lists(free, min_size=2, max_size=8, unique_by=str.lower))
    names = [each for each in names if not taken_by(each, name)]
    inputs = draw(st.integers(1, max(1, len(names) - 1)))
    outputs = draw(st.integers(1, max(1, len(names) - inputs)))
    of_spec = [runtimes.available()[each] for each in chosen]
    refusals = [runtime.describe.type_refusal for runtime in of_spec]
    types = [each for each in PARAM_TYPES if not any(refusal(each) for refusal in refusals)]
    conventions = [runtime.check.convention for runtime in of_spec]
    dtypes = [
        each for each in TENSOR_DTYPES if all(each in rules.output_types for rules in conventions)
    ]

    def input_() -> dict[str, str]:
        facts = {
            "type": "VX_TYPE_TENSOR",
            "dtype": draw(st.none() | st.sampled_from(dtypes)),
            "doc": draw(_DOCS),
        }
        return {key: value for key, value in facts.items() if value is not None}

    def output() -> dict[str, str]:
        facts = {
            "type": "VX_TYPE_TENSOR",
            "dtype": draw(st.none() | st.sampled_from(dtypes)),
            "same_as": draw(st.none() | st.sampled_from(names[:inputs])),
        }
        return {key: value for key, value in facts.items() if value is not None}

    document = {
        "name": name,
        "runtimes": list(chosen),
        "inputs": {each: input_() for each in names[:inputs]},
        "outputs": {each: output() for each in names[inputs : inputs + outputs] or ["y_"]},
        "params": {each: draw(_params(types)) for each in names[inputs + outputs :]},
    }
    if "rknn" in chosen:
        document["kernels"] = draw(st.sampled_from([["cpu"], ["cpu", "vx"]]))
    if "pplnn" in chosen:
        document["domain"] = draw(_DOMAINS)
    return document
