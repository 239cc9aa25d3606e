"""C that the kernels of several runtimes share: refused params, and threads."""

from __future__ import annotations

import re
import textwrap
from typing import NamedTuple

from opkit.common.code_layout import LINE_LENGTH, wrapped
from opkit.common.text import c_float, c_string, render, shortened
from opkit.description.spec import AUTO_THREADS, OpSpec, Param, describe_allowed


class Language(NamedTuple):
    """The expressions of a language.

    Attributes:
        differs: the condition of two different texts.
        single: a number as float.
    """

    differs: str
    single: str


C = Language("strcmp({0}, {1}) != 0", "(float){0}")
CXX = Language("{0} != {1}", "static_cast<float>({0})")

_MAX_EXPECTED = 200
"""The maximum characters of the allowed values in a message."""


def allowed_file(spec: OpSpec) -> dict[str, str]:
    """Return path -> text of the header with the check; empty if op.yml allows all values."""
    params = [param for param in spec.params if is_checked(param)]
    if not params:
        return {}
    text = render(
        "files/templates/allowed.h",
        lower=spec.lower,
        upper=spec.lower.upper(),
        string="#include <string.h>\n" if any(p.type.is_text for p in params) else "",
        declaration=wrapped(
            f"static inline bool {spec.lower}_allows(",
            [f"const struct {spec.lower}_params *params", "char *problem", "size_t size"],
            ")",
        ),
        checks="".join(map(_check, params)),
    )
    return {f"generated/{allowed_header(spec)}": text}


def allowed_header(spec: OpSpec) -> str:
    """Return the name of that header; empty if there is none."""
    return f"{spec.lower}_allowed.h" if any(map(is_checked, spec.params)) else ""


def is_checked(param: Param) -> bool:
    """Whether a param's type has values that op.yml does not allow."""
    return bool(refusal(param, "", "", ""))


def allowed_text(param: Param) -> str:
    """Describe the allowed values of a param, for messages of runtimes."""
    return shortened(describe_allowed(param), _MAX_EXPECTED)


def refusal(
    param: Param,
    place: str,
    opening: str,
    closing: str,
    language: Language = C,
    line_length: int = LINE_LENGTH,
) -> str:
    """Return the condition of a value that op.yml does not allow; empty if it allows all.

    Args:
        param: the param.
        place: the expression of the number, of a list's item or of the text.
        opening: the text before the condition, with its indentation.
        closing: the text after it.
        language: the language of the condition.
        line_length: the maximum length of its lines.
    """
    operator = "&&"
    element, limits = param.type.element, param.type.element.limits
    number = language.single.format(place) if element.name == "float64" else place
    if param.type.is_text:
        texts = [c_string(str(each)) for each in param.choices]
        terms = [language.differs.format(place, each) for each in texts]
    elif param.choices:
        terms = [f"{number} != {_literal(param, each)}" for each in param.choices]
    elif limits:
        operator = "||"
        terms = [
            f"{number} {sign} {_literal(param, each)}"
            for sign, each, of_type in (("<", param.min, limits[0]), (">", param.max, limits[1]))
            if each is not None and each != of_type
        ]
    else:
        opening, closing = f"{opening}!(", f"){closing}"  # so that NaN is not allowed either
        terms = [
            f"{number} {sign} {_literal(param, each)}"
            for sign, each in ((">=", param.min), ("<=", param.max))
            if each is not None
        ]
    if not terms:
        return ""
    *others, last = (term.replace(" ", "\0") for term in terms)
    words = [*(f"{term}\0{operator}" for term in others), f"{last}{closing}"]
    filled = textwrap.fill(
        " ".join(words),
        line_length,
        initial_indent=opening,
        subsequent_indent=" " * len(opening),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return filled.replace("\0", " ")


def _literal(param: Param, value: int | float | str) -> str:
    """Return a number as a literal in C."""
    if param.type.element.kind == "float":
        return c_float(float(value), 32, "F")
    if value == -(2**63):
        return "INT64_MIN"
    return f"{value}{'U' if int(value) >= 2**63 else ''}"


def _check(param: Param) -> str:
    """Return the statements that refuse the value of a param."""
    member = f"params->{param.name}"
    if not param.type.is_list:
        return _return_problem(param, member, 4, "is")
    items = _return_problem(param, "item", 8, "has the item")
    return (
        f"    for (size_t i = 0; i < {member}.count; i++) {{\n"
        f"        const {param.type.element.c_type} item = {member}.items[i];\n{items}    }}\n"
    )


def _return_problem(param: Param, place: str, indent: int, verb: str) -> str:
    """Return the statement that writes the problem and returns, if the value is not allowed."""
    margin = " " * indent
    kind = param.type.element.kind
    if param.type.is_text:
        form, argument = "%s", place
    elif kind == "float":
        form, argument = "%g", f"(double){place}"
    else:
        form, argument = {"int": ("%lld", f"(long long){place}")}.get(
            kind, ("%llu", f"(unsigned long long){place}")
        )
    allowed = allowed_text(param).replace("%", "%%")
    message = f"param '{param.name}' {verb} {form} (expected {allowed})"
    return (
        f"{refusal(param, place, f'{margin}if (', ') {')}\n"
        + wrapped(
            f"{margin}    snprintf(",
            ["problem", "size", string_lines(message, indent + 8), argument],
            ");",
        )
        + f"\n{margin}    return false;\n{margin}}}\n"
    )


def string_lines(text: str, indent: int) -> str:
    """Return a string literal, in several parts if it is too long for a line.

    Args:
        text: the text.
        indent: the indentation of the lines.
    """
    width = LINE_LENGTH - indent - len('"",')
    if len(text) <= width:
        return c_string(text)
    return f"\n{' ' * indent}".join(map(c_string, re.findall(rf".{{1,{width}}}(?: |$)|\S+", text)))


HEADER = "include/opkit/compute/parallel.h"
"""The header with opkit_parallel_for, in a repository."""


def definitions(spec: OpSpec) -> str:
    """Return the macros of keys of op.yml, which precede the first include of a file."""
    fp16 = "#define OPKIT_FP16_MATH /* `fp16_math` in op.yml */\n\n" if spec.fp16_math else ""
    if not spec.has_threads:
        return fp16
    what = "one for each processor" if spec.threads == AUTO_THREADS else "`threads` in op.yml"
    return f"""\
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* for opkit/compute/thread_pool.h */
#endif
#define OPKIT_THREADS {spec.threads} /* {what} */

{fp16}"""


def include(spec: OpSpec, root: str) -> str:
    """Return the line that includes opkit_parallel_for.

    Args:
        spec: the operator.
        root: the path of the repository, relative to the file, with a slash at its end.
    """
    return f'#include "{root}{HEADER}"\n' if spec.has_threads else ""
