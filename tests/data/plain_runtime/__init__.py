"""A runtime that calls the math as it is: a C library, for float32 tensors, on this PC."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from SCons.Action import Action

from opkit.build.compiler import compiler_for
from opkit.build.harness import GUARDED_MEMORY, harness, linked
from opkit.build.machinery import FOLDER
from opkit.check.executors import Executor
from opkit.check.harness.client import HarnessKernel
from opkit.description.spec import OpSpec, Param
from opkit.runtimes.interface import Readme, Runtime, Target
from opkit.runtimes.invocation import CallingConvention, Value

TENSOR_TYPES = {"float16": "float32", "float32": "float32"}
TARGETS = {"pc": Target("pc", "x64")}
GLUE = """\
/* Generated from op.yml by opkit. Do not edit: the next build writes it anew. */
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


def _value(param: Param, value: Any) -> Value:
    """Return the number as C has it."""
    array = np.array(value, param.type.element.dtype)
    return Value(param.name, array.dtype.name, array.shape, array.tobytes())


CONVENTION = CallingConvention(
    TENSOR_TYPES, TENSOR_TYPES, TENSOR_TYPES, _value, has_shape_rule=False
)


class Plain(Runtime):
    """The runtime."""

    name = "plain"
    title = "plain C"
    frameworks = ("tensorflow",)
    targets = TARGETS
    product_pattern = "*.so"
    tensor_types = TENSOR_TYPES

    def once_only_files(self, spec: OpSpec) -> dict[str, str]:
        """Return a note."""
        return {"plain/NOTES.md": f"{spec.name} as a C library.\n"}

    def generated_files(self, spec: OpSpec, reference: str) -> dict[str, str]:
        """Return what calls the math."""
        return {f"generated/{spec.lower}_plain.c": GLUE.format(lower=spec.lower)}

    def readme(self, spec: OpSpec) -> Readme:
        """Return a sentence and a section."""
        return Readme(f"{spec.name}, a C library.", sections="## Plain\n\nC, and no more.\n")

    def _library(self, env: Any, path: str, *libraries: Any) -> Any:
        compiler = compiler_for(env, "x64")
        source = f"generated/{env['OPERATOR'].lower}_plain.c"
        kernel = compiler.SharedObject(f"{path[:-3]}.o", source)
        return compiler.Command(path, [kernel, *libraries], Action("$SHAREDCOM", "link $TARGET"))

    def declare(self, env: Any, request: Any) -> list[Any]:
        """Declare the library and what calls it."""
        runtime = linked(
            env,
            "$SHAREDCOM",
            target="build/plain/runtime.so",
            sources=[f"{FOLDER}/runtimes/plain/*.c", GUARDED_MEMORY],
            objects="build/plain/",
            LIBRARIES=["-Wl,-soname,runtime.so"],
        )
        kernel = self._library(env, f"build/plain/{env['OPERATOR'].lower}.so", runtime)
        return [*harness(env), runtime, kernel]

    def products(self, env: Any, targets: Mapping[str, str]) -> list[Any]:
        """Return the library."""
        return [self._library(env, "build/pc/operator.so")]

    def calling_convention(self, abi: str = "") -> CallingConvention:
        """Return how it calls kernels."""
        return CONVENTION

    def cpu_kernel(self, spec: OpSpec, root: Path) -> HarnessKernel:
        """Return the math in the harness."""
        build = root / "build"
        files = ("host/harness", "plain/runtime.so", f"plain/{spec.lower}.so")
        command = (*(str(build / file) for file in files), f"{spec.lower}_plain")
        return HarnessKernel(spec, Executor("x64", command, measures=True), root, CONVENTION)


RUNTIME = Plain()
