"""The VX kernel of elementwise operators: the user's function as OpenCL C, or a clear refusal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from opkit.common.errors import OpkitError
from opkit.description.spec import OpSpec
from opkit.files import opencl_scalar as tables
from opkit.runtimes import parse
from opkit.runtimes.rknn.elementwise_vx import generated_vx
from opkit.runtimes.rknn.vx.compiler import compile_vx
from tests.elementwise.loops import in_opencl, scalar_file


def operator(name: str = "Soft", inputs: Sequence[str] = "x", params: str = "") -> OpSpec:
    tensors = ", ".join(f"{each}: {{type: VX_TYPE_TENSOR}}" for each in inputs)
    return parse(
        f"name: {name}\nelementwise: true\ninputs: {{{tensors}}}\n"
        f"outputs: {{output: {{type: VX_TYPE_TENSOR}}}}\nparams: {{{params}}}\n"
    )


def translated(body: str, name: str = "Soft") -> str:
    spec = operator(name)
    return in_opencl(spec, scalar_file(spec, body))


def refusal(text: str, name: str = "Soft") -> str:
    with pytest.raises(OpkitError) as raised:
        in_opencl(operator(name), text)
    return str(raised.value)


SCALAR = """\
/* The math. */
#ifndef SOFT_SCALAR_H
#define SOFT_SCALAR_H

#include <math.h>
#include "generated/soft.h"
#include "include/opkit/compute/math.h"

static const float table[2] = {0.5f, 2.0f};

/* Calls expf(x). */
static inline float soft_part(float x)
{
    const int32_t index = x > 0.0f; // expf
    return opkit_exp(fabsf(x)) * table[index];
}

static inline float soft_of(float x, const struct soft_params *params)
{
    (void)params;
    return opkit_sigmoid(soft_part(x));
}

#endif
"""


def test_text_is_the_same_but_for_words_of_the_language() -> None:
    text = in_opencl(operator(), SCALAR)
    assert (
        text
        == """\
#define opkit_sigmoid(x) (1.0f / (1.0f + exp(-(x))))

__constant float table[2] = {0.5f, 2.0f};

/* Calls expf(x). */
float of_soft_part(float x)
{
    const int index = x > 0.0f; // expf
    return exp(fabs(x)) * table[index];
}

float of_soft_of(float x, const struct soft_params *params)
{
    (void)params;
    return opkit_sigmoid(of_soft_part(x));
}"""
    )


@pytest.mark.parametrize("name", ["sin", "cos", "tan", "tanh"])
def test_fast_functions_are_those_of_the_language(name: str) -> None:
    assert f"return {name}(x);" in translated(f"return opkit_{name}_fast(x);", "Soft")


@pytest.mark.parametrize(("name", "sign"), [("least", "<"), ("most", ">")])
def test_limits_pass_nan(name: str, sign: str) -> None:
    """OpenCL C has fmax and fmin, which return the limit."""
    text = translated(f"return opkit_at_{name}(x, 1.0f);", "Soft")
    assert f"#define opkit_at_{name}(x, limit) ((x) {sign} (limit) ? (limit) : (x))\n" in text


@pytest.mark.parametrize("name", ["Soft", "O", "Of", "Element"])
def test_no_function_begins_with_the_name_of_the_kernel(name: str) -> None:
    """A board would take it for a kernel."""
    found = re.findall(r"(\w+)\(float", translated("return x;", name))
    assert len(found) == 1
    assert not found[0].startswith(name.lower())


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("return strlen(x);", "`strlen` does not exist in OpenCL C"),
        ("double y = x; return y;", "`double` does not exist in OpenCL C: write float"),
        ("return x * 0.5;", "0.5 is a double; write 0.5f"),
        ("return x * 1.5e-3;", "1.5e-3 is a double; write 1.5e-3f"),
        ("int64_t y = x; return y;", "`int64_t` does not exist in OpenCL C"),
        ("memcpy(&x, &x, 4); return x;", "`memcpy` does not exist in OpenCL C: opkit_float_bits"),
    ],
)
def test_words_that_the_language_lacks(line: str, problem: str) -> None:
    text = SCALAR.replace("    (void)params;\n", f"    (void)params;\n    {line}\n")
    start = f"soft_scalar.h:21: rknn_kernel_soft.vx: {problem}"
    message = refusal(text)
    assert message.startswith(start)
    assert "write `kernels: [cpu]` in op.yml" in message


def test_headers_of_the_user() -> None:
    text = SCALAR.replace("<math.h>", '"tables.h"')
    assert refusal(text).startswith(
        'soft_scalar.h:5: rknn_kernel_soft.vx: a VX kernel cannot include "tables.h"; '
    )


def test_missing_function() -> None:
    assert "soft_scalar.h:1: rknn_kernel_soft.vx: there is no function soft_of" in refusal(
        "float other(float x);\n"
    )


def test_kernel_with_the_name_of_a_function() -> None:
    """Of the language: the kernel hides it."""
    text = translated("return expf(x) + 1.0f;", "Exp")
    assert text.startswith("#define expf(x) exp2((x) * 1.44269504f)\n")
    assert "return expf(x) + 1.0f;" in text
    spec = operator("Tanh")
    message = refusal(scalar_file(spec, "return opkit_tanh(x);"), "Tanh")
    problem = "`opkit_tanh` is tanh in OpenCL C, a name that the kernel itself has"
    assert re.search(rf"tanh_scalar\.h:\d+: rknn_kernel_tanh\.vx: {problem}", message)
    hidden = scalar_file(operator("Exp"), "return opkit_sigmoid(x);")
    assert "`opkit_sigmoid` calls exp" in refusal(hidden, "Exp")


def compile_text(folder: Path, spec: OpSpec, body: str) -> None:
    """Compile the generated VX kernel by the emulator's compiler."""
    ((path, text),) = generated_vx(spec, scalar_file(spec, body)).items()
    (folder / path).write_text(text)
    compile_vx(folder / path, folder / "vx")


def test_all_words_compile(tmp_path: Path) -> None:
    calls = []
    for name in [*tables._WORDS, *tables._MACROS]:
        if not name.endswith("_t"):
            two = "pow|fmax|fmin|fmod|sign|hypot|remain|fdim|atan2|_at_"
            count = 2 if re.search(two, name) else 1
            count = 3 if name == "fmaf" else count
            arguments = ", ".join(["x"] * count)
            calls.append(f"{name}({'x, 2' if name == 'ldexpf' else arguments})")
    calls = [call.replace("from_bits(x)", "from_bits((uint32_t)x)") for call in calls]
    compile_text(tmp_path, operator(), f"return {' + '.join(calls)};")


def test_params_and_names_of_the_kernel_s_variables(tmp_path: Path) -> None:
    params = "low: {type: VX_TYPE_INT8}, params: {type: VX_TYPE_BOOL}, z: {type: VX_TYPE_FLOAT32}"
    spec = operator(inputs=["coord", "x"], params=params)
    body = "return params->params ? x * params->z + coord : params->low;"
    compile_text(tmp_path, spec, body)
    (text,) = generated_vx(spec, scalar_file(spec, body)).values()
    assert "struct soft_params params_ = {(char)low, params, z};" in text
    assert "low_.x = of_soft_of(coord_low.x, x_low.x, &params_);" in text
