"""The parts of the generated sources that depend on `layout` of op.yml.

The engines keep floats of 4 dimensions in formats with channels in blocks: N16CX on x86, N4CX and
N8CX on riscv. Around an op for NDARRAY they convert, which costs three to four times an elementwise
operator. In these formats the last block of channels is filled up with padding, which is in the
buffer.
"""

from __future__ import annotations

from opkit.c_layout import comment
from opkit.description.spec import OpSpec
from opkit.runtimes.pplnn.names import Names
from opkit.runtimes.pplnn.settings import settings
from opkit.text import render

_TEMPLATES = "runtimes/pplnn/templates"
_DENSE = {"x86": "", "riscv": " By default, the op would get any format."}
_FORMAT = "ppl::common::dataformat_t FormatOf{title}(const InputOutputInfo &info)"
_ROWS = """\
    status = DescribeAsRows(info, inputs, &outputs[0]);
    if (status != RC_SUCCESS) {
        return status;
    }
"""


def header_values(spec: OpSpec, where: Names) -> dict[str, str]:
    """Return the values of the math's header."""
    if not settings(spec).takes_any_layout:
        return {"layout_format": ""}
    doc = comment(
        "Returns the data format of the inputs if the math can take them as they are, else "
        "NDARRAY: several inputs must have one format and one known shape."
    )
    return {"layout_format": f"{doc}\n{_FORMAT.format(title=where.title)};\n\n"}


def math_values(spec: OpSpec, where: Names) -> dict[str, str]:
    """Return the values of the math's source."""
    if not settings(spec).takes_any_layout:
        return {
            "layout_check": render(f"{_TEMPLATES}/layout_check.cc"),
            "layout_rows": "",
            "layout_format": "",
            "describe_rows": "",
        }
    return {
        "layout_check": "",
        "layout_rows": render(f"{_TEMPLATES}/layout_rows.cc"),
        "layout_format": render(f"{_TEMPLATES}/layout_format.cc", title=where.title),
        "describe_rows": _ROWS,
    }


def op_values(spec: OpSpec, where: Names, engine: str) -> dict[str, str]:
    """Return the values of an engine's op."""
    if not settings(spec).takes_any_layout:
        return {
            "format_doc": comment(f"Requests dense tensors for the math.{_DENSE[engine]}"),
            "select_formats": "",
            "format": "DATAFORMAT_NDARRAY",
        }
    chosen = f"    const dataformat_t chosen = nn::{where.folder}::FormatOf{where.title}(info);\n\n"
    doc = "Requests the tensors in the format that they have, if the math can take them so."
    return {"format_doc": comment(doc), "select_formats": chosen, "format": "chosen"}
