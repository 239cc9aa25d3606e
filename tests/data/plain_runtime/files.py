"""The files of the plain runtime."""

from __future__ import annotations

from opkit.description.spec import OpSpec
from opkit.runtimes.files import Files, Readme, RuntimeTexts

GLUE = """\
/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
#include "../{lower}_compute.h"
#include "../build/opkit/check/harness/runtime.h"

int {lower}_plain(unsigned count, struct harness_value *values);
int {lower}_plain(unsigned count, struct harness_value *values)
{{
    struct opkit_tensor tensors[2] = {{{{0}}}};
    for (unsigned i = 0; i < 2 && i < count; i++) {{
        tensors[i].rank = values[i].rank;
        tensors[i].size = values[i].size / sizeof(float);
        tensors[i].data = values[i].bytes;
    }}
    struct {lower}_inputs inputs = {{tensors[0]}};
    struct {lower}_outputs outputs = {{tensors[1]}};
    return {lower}_compute(&inputs, &(struct {lower}_params){{0}}, &outputs) != NULL;
}}
"""


def _texts(spec: OpSpec) -> RuntimeTexts:
    return RuntimeTexts(
        Readme("C"),
        once_only={"plain/NOTES.md": f"{spec.name} as a C library.\n"},
    )


def _generated(spec: OpSpec, reference: str) -> dict[str, str]:
    """Return what calls the math."""
    return {f"generated/{spec.lower}_plain.c": GLUE.format(lower=spec.lower)}


FILES = Files(_texts, _generated)
