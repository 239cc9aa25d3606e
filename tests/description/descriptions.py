"""Hypothesis strategies for valid descriptions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from opkit import runtimes
from opkit.description.limits import MAX_TEXT
from opkit.description.parser import LARGEST
from opkit.description.spec import TENSOR_DTYPES
from opkit.description.types import PARAM_TYPES, ParamType
from opkit.description.words import taken_by
from opkit.runtimes.rknn.names import VX_KERNELS, VX_PARAMETERS

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


@st.composite
def _params(draw: st.DrawFn, types: Sequence[str]) -> dict[str, Any]:
    type_ = PARAM_TYPES[draw(st.sampled_from(types))]
    length = draw(st.none() | st.integers(1, LONGEST_LIST)) if type_.is_list else None
    facts: dict[str, Any] = {"type": type_.name, "length": length, "doc": draw(_DOCS)}
    facts["default"] = draw(st.none() | values(type_, length))
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
