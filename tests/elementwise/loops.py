"""Compile the generated loop of an elementwise operator, and call it on numpy's arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from opkit.description.spec import OpSpec
from opkit.description.types import ELEMENT_TYPES
from opkit.files.elementwise import has_table
from opkit.files.opencl_scalar import Kernel, scalar_in_opencl
from opkit.runtimes.rknn.kernel_skeletons import vx_file
from opkit.toolchains.flags import EXACT
from tests.compiling import build
from tests.files.texts import generated_files, once_only_files

Array = npt.NDArray[np.generic]

_TYPES = ("float32", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "float16")
"""The dtypes in the order of enum opkit_type."""
_EXPORTS = """
const char *run(const void *inputs, const void *params, void *outputs, void *table);
const char *run(const void *inputs, const void *params, void *outputs, void *table)
{{
    (void)table;
    return {lower}_compute(inputs, params, outputs{table});
}}
"""
_RELEASE = """
void release(struct opkit_half_table *table);
void release(struct opkit_half_table *table)
{
    opkit_release_half_table(table);
}
"""


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_int),
        ("rank", ctypes.c_size_t),
        ("shape", ctypes.c_size_t * 6),
        ("size", ctypes.c_size_t),
        ("data", ctypes.c_void_p),
    )


class Table(ctypes.Structure):
    """A struct opkit_half_table: see opkit/compute/half.h."""

    _fields_ = (("results", ctypes.c_void_p), ("computed", ctypes.c_size_t))


@dataclass(frozen=True)
class Loop:
    """A compiled `<op>_compute`."""

    library: ctypes.CDLL

    def run(
        self,
        inputs: Sequence[Array],
        output: Array,
        params: bytes = bytes(64),
        table: Table | None = None,
    ) -> str:
        """Compute an output; return the message, or an empty text."""
        tensors = (_Tensor * len(inputs))(*map(_tensor, inputs))
        result = _tensor(output)
        message = self.library.run(
            tensors, params, ctypes.byref(result), table and ctypes.byref(table)
        )
        return message.decode() if message else ""

    @contextmanager
    def node(self) -> Iterator[Table]:
        """Yield the table of a node, and release it at the end."""
        table = Table()
        try:
            yield table
        finally:
            self.library.release(ctypes.byref(table))


def _tensor(array: Array) -> _Tensor:
    assert array.flags.c_contiguous
    dtype = "uint8" if array.dtype == bool else array.dtype.name
    shape = (ctypes.c_size_t * 6)(*array.shape, *[1] * (6 - array.ndim))
    return _Tensor(_TYPES.index(dtype), array.ndim, shape, array.size, array.ctypes.data)


def files(folder: Path, spec: OpSpec, texts: Mapping[str, str]) -> Path:
    """Write the files of an operator, with other texts in place of its own; return the folder."""
    own = once_only_files(spec)
    math = texts.get(spec.math_file, "")
    generated = generated_files(spec, own[f"{spec.lower}_reference.py"], math)
    for path, text in {**own, **generated, **texts}.items():
        if path.endswith((".h", ".vx", ".c")):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
    return folder


def scalar_file(spec: OpSpec, body: str, after: str = "") -> str:
    """Return the text of `<op>_scalar.h`, with another body of the function of one element."""
    declaration, _ = once_only_files(spec)[spec.math_file].split("\n{\n")
    return f"{declaration}\n{{\n    (void)params;\n    {body}\n}}\n{after}\n#endif\n"


IN_PARTS = """\
#include "include/opkit/compute/parallel.h"

static void in_parts(size_t count, size_t grain, opkit_loop_body body, const void *context)
{
    (void)grain;
    for (size_t begin = 0; begin < count; begin += 700) {
        body(context, begin, begin + 700 < count ? begin + 700 : count);
    }
}

#define opkit_parallel_for in_parts
"""
"""C that splits the loop, as several cores would."""


def compiled(
    folder: Path, spec: OpSpec, body: str, *flags: str, before: str = "", after: str = ""
) -> Loop:
    """Compile the loop around a body of the function of one element.

    Args:
        folder: the folder for all files.
        spec: the operator.
        body: the statements of the function.
        *flags: more flags of the compiler.
        before: C before the loop.
        after: C after the function of one element.
    """
    files(folder, spec, {spec.math_file: scalar_file(spec, body, after)})
    source = folder / "run.c"
    exports = _EXPORTS.format(lower=spec.lower, table=", table" if has_table(spec) else "")
    exports += _RELEASE if has_table(spec) else ""
    source.write_text(f'{before}#include "{spec.compute_header}"\n{exports}')
    name = "".join(filter(str.isalnum, "".join(flags)))
    library = ctypes.CDLL(
        str(build(folder / f"run{name}.so", source, "-shared", "-O2", *EXACT, *flags))
    )
    library.run.restype = ctypes.c_char_p
    return Loop(library)


def numpy_dtypes() -> list[str]:
    """Return numpy's names of the dtypes of tensors."""
    return [name for name, row in ELEMENT_TYPES.items() if row.computed_as]


def in_opencl(spec: OpSpec, text: str) -> str:
    """Return the functions of an operator's `<op>_scalar.h` for its VX kernel."""
    return scalar_in_opencl(spec, text, Kernel("VX kernel", vx_file(spec), spec.lower))
