"""Write the files of an imported operator, except its kernels."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from opkit.common.code_layout import block_comment, literal
from opkit.description.case_values import sample
from opkit.description.spec import OpSpec
from opkit.description.types import ELEMENT_TYPES
from opkit.files.operator_texts import CASE_DTYPE
from opkit.runtimes.rknn.settings import settings
from rknn_op.runtimes.rknn.vendor.python_class import Converter, translated_shape_rule

QUIET = (
    *("-Wno-unused-parameter", "-Wno-unused-variable", "-Wno-unused-but-set-variable"),
    *("-Wno-unused-function", "-Wno-sign-compare", "-Wno-missing-field-initializers"),
    *("-Wno-pointer-sign", "-fno-strict-aliasing"),
)
"""Flags against frequent warnings about kernels of the vendor's tool, harmless to results.

The vendor's makefiles do not optimize, so that accesses through pointers of other types work.
"""

NO_SHIFT_REPORT = "-fno-sanitize=shift"
"""The flag that a kernel with `KernelFile.shift_of_sign` needs in a check."""

_SHAPES = ((1, 4, 6, 3), (1, 8, 8, 16))

_NO_SHAPE_RULE = """\
    raise NotImplementedError(
        "the shape rule of {name} is to be written here; then delete this line"
    )
"""

_REFERENCE = '''\
"""{name} in numpy: the reference for every kernel; RKNN-Toolkit runs it, too.

{to_write} Until then every check fails, and so does converting a
model.{comments}

RKNN-Toolkit's Python is 3.5 to 3.8: no f-strings, no annotations.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output: {{{shapes}}}.

    input_shapes: {inputs} -> shape, slowest dimension first.
    params: {params}.
    """
{shape_rule}

def reference(inputs, params):
    """Return the array of each output: {{{arrays}}}.

    inputs: {inputs} -> array; half-precision tensors arrive as float32.
    params: as above.
    """
{math}    raise NotImplementedError(
        "the math of {name} in numpy is to be written here; then delete this line"
    )
'''


_TESTS = '''\
"""Test cases of {name}: shapes x values x params.

`scons check` runs each case on {kernels} and compares with {lower}_reference.py.
docs/cases.md explains how to write cases.
"""

import pytest

from opkit.testing import {imports}

CASES = cases(
    # Images in NHWC. Add the shapes and params of your models.
    shapes=[
{shapes}
    ],
{about_values}    values=[{values}],
{params}    dtype={dtype},
)
'''

_TEST = """

@pytest.mark.parametrize("case", CASES, ids=str)
def test_{kernel}_kernel(case):
{about_limit}    check_{kernel}_kernel(case, max_ulp={max_ulp})
"""


def description(spec: OpSpec, empty_vx: str = "", shift_of_sign: str = "") -> str:
    """Return the text of op.yml for an operator.

    Args:
        spec: the operator.
        empty_vx: file:line of an empty VX kernel that was left out.
        shift_of_sign: file:line of the shift that needs NO_SHIFT_REPORT.
    """
    chosen = settings(spec)
    head: dict[str, Any] = {
        "name": spec.name,
        "framework": spec.framework,
        "target_platform": spec.target_platform,
        "kernels": [*spec.kernels],
        "kernel_index": chosen.kernel_index,
    }
    if chosen.vx_version != 1:
        head["vx_version"] = chosen.vx_version
    parameters = {
        "inputs": {each.name: _tensor(each) for each in spec.inputs},
        "outputs": {each.name: _tensor(each) for each in spec.outputs},
        "params": {
            each.name: {"type": each.type.name, **_details(each, "length", "source", "default")}
            for each in spec.params
        },
    }
    about_kernels = ""
    if empty_vx:
        about_kernels = _yaml_comment(
            f"The VX kernel was left out: {empty_vx} has no statement. To write one, add vx to "
            "kernels: the next `scons` makes a .vx file to start from."
        )
    about_flags = _yaml_comment(
        f"rknn_kernel_{spec.lower}.c was imported unchanged. These flags turn off harmless "
        "warnings, and optimizations that the vendor's makefiles do not have either. Undefined "
        "behavior on a device still stops a build; -Wno-error=int-conversion is an example of a "
        "flag for kernels that need it."
    )
    if shift_of_sign:
        about_flags += _yaml_comment(
            f"{NO_SHIFT_REPORT}: {shift_of_sign} shifts a bit into the sign of an integer. That is "
            "undefined in C, but compilers do as meant. Without the flag every check reports it."
        )
    return (
        f"# The operator {spec.name}, imported from a repository of the vendor's tool.\n"
        f"{about_kernels}{_dump(head)}\n"
        "# Every build reads this file; the kernels get inputs, outputs and params in this order.\n"
        f"{_dump({key: value for key, value in parameters.items() if value})}\n"
        f"{about_flags}{_dump({'cflags': [*spec.cflags]})}"
    )


def _yaml_comment(text: str) -> str:
    return "".join(f"# {line}\n" for line in textwrap.wrap(text, 98, break_on_hyphens=False))


def _tensor(tensor: Any) -> dict[str, Any]:
    return {"type": "VX_TYPE_TENSOR", **_details(tensor, "dtype", "same_as")}


def _details(entry: Any, *keys: str) -> dict[str, Any]:
    values = {key: getattr(entry, key) for key in (*keys, "doc")}
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in values.items()
        if value not in (None, "")
    }


def _dump(entries: Mapping[str, Any]) -> str:
    text: str = yaml.safe_dump(
        dict(entries), sort_keys=False, default_flow_style=None, width=90, allow_unicode=True
    )
    return text


def reference(spec: OpSpec, converter: Converter | None) -> str:
    """Return the text of a reference that fails until it is written.

    Args:
        spec: the operator.
        converter: the class of the imported repository, if it could be read.
    """
    outputs = [f'"{output.name}"' for output in spec.outputs]
    rule = None
    if converter and (method := converter.functions.get("compute_output_shape")):
        names = ([each.name for each in tensors] for tensors in (spec.inputs, spec.outputs))
        rule = translated_shape_rule(method, *names)
    methods = converter.methods if converter else {}
    params = (f'"{param.name}"' for param in spec.params)
    return _REFERENCE.format(
        name=spec.name,
        shapes=", ".join(f"{output}: (...)" for output in outputs),
        arrays=", ".join(f"{output}: array" for output in outputs),
        inputs=", ".join(f'"{input_.name}"' for input_ in spec.inputs),
        params=f"{', '.join(params)} -> value" if spec.params else "this operator has none",
        comments=" The comments have the code of the imported class." if methods else "",
        to_write="reference() is to be written." if rule else "Both functions are to be written.",
        shape_rule=(
            "    # Translated from compute_output_shape of the imported class: compare with it.\n"
            + "".join(f"    {line}\n" for line in rule)
            if rule
            else _comment(methods.get("compute_output_shape", ()))
            + _NO_SHAPE_RULE.format(name=spec.name)
        ),
        math=_comment(methods.get("compute_output_tensor", ())),
    )


def case_file(spec: OpSpec, conversion: str = "") -> str:
    """Return the text of the tests, with one value of each param: a kernel may take no others.

    Args:
        spec: the operator.
        conversion: the name of the kernel's own function from float to half, which may be less
            exact than the reference's.
    """
    dtypes = {each.name: each.dtype or CASE_DTYPE for each in spec.inputs}
    are_floats = all(ELEMENT_TYPES[dtype].kind == "float" for dtype in dtypes.values())
    values = ["uniform(-1, 1)" if are_floats else "uniform(0, 9)"]
    if are_floats and not conversion:
        values.append("special()")
    params = {
        each.name: sample(each) if each.default is None else each.default for each in spec.params
    }
    checks = [f"check_{kernel}_kernel" for kernel in spec.kernels]
    makers = [value.partition("(")[0] for value in values]
    shapes = (literal(dict.fromkeys(dtypes, shape), "", 8) for shape in _SHAPES)
    about_values = f"special() adds infinities, NaN and subnormals; {conversion} may know none."
    about_limit = f"{conversion} may cut bits off instead of rounding."
    text = _TESTS.format(
        name=spec.name,
        lower=spec.lower,
        kernels="all kernels" if len(spec.kernels) > 1 else "the CPU kernel",
        imports=", ".join(sorted(["cases", *checks, *makers])),
        shapes="\n".join(f"        {shape}," for shape in shapes),
        about_values=f"    # {about_values}\n" if conversion else "",
        values=", ".join(values),
        params=f"    params=[{literal(params, 'params=[', 4)}],\n" if params else "",
        dtype=literal(dtypes, "dtype=", 4)
        if {*dtypes.values()} != {CASE_DTYPE}
        else f'"{CASE_DTYPE}"',
    )
    for kernel in spec.kernels:
        is_inexact = conversion and kernel == "cpu"
        text += _TEST.format(
            kernel=kernel,
            about_limit=f"    # {about_limit}\n" if is_inexact else "",
            max_ulp=1 if is_inexact else 0,
        )
    return text


def _comment(lines: Sequence[str]) -> str:
    """Return a method as a comment in a function; no character in it can end the comment."""
    parts = [part for line in lines for part in (line.splitlines() or [""])]
    return "".join(f"    # {part}".rstrip() + "\n" for part in parts)


def compute(spec: OpSpec, skeleton: str) -> str:
    """Return the text of `<op>_compute.h`, which no imported kernel includes.

    Args:
        spec: the operator.
        skeleton: the text for a new operator.
    """
    note = block_comment(
        f"Not compiled yet: rknn_kernel_{spec.lower}.c was imported with math of its own. To have "
        "the math here, for every runtime, write it below, and replace the whole text of "
        f'rknn_kernel_{spec.lower}.c by #include "{spec.lower}_compute.h" and '
        f'#include "generated/{spec.lower}_kernels.h", with the launch of the VX kernel if there '
        "is one."
    )
    return f"{note}\n{skeleton}"


def attributes(skeleton: str, unchanged: Sequence[str]) -> str:
    """Return the text of .gitattributes, with rules that keep the bytes of some files."""
    return skeleton + "".join(f"/{path} -text\n" for path in unchanged)
