"""Complaints about errors of a whole operator that librknn_runtime 1.7.5 does not report."""

from __future__ import annotations

from collections.abc import Iterator

from opkit.complaint import Complaint
from opkit.description.spec import OpSpec
from opkit.runtimes.rknn import armhf
from opkit.runtimes.rknn.deliveries import INPUT_TYPES, OUTPUT_TYPES
from opkit.runtimes.rknn.elementwise import vx_complaints


def complaints(spec: OpSpec) -> Iterator[Complaint]:
    """Yield errors about lost tensors and the VX kernel, and warnings about changed defaults."""
    yield from _inputs(spec)
    yield from _outputs(spec)
    yield from _defaults(spec)
    yield from vx_complaints(spec)


def _inputs(spec: OpSpec) -> Iterator[Complaint]:
    for input_ in spec.inputs:
        if input_.dtype and input_.dtype not in INPUT_TYPES:
            yield Complaint(
                "",
                f"invalid '{input_.dtype}': rknn cannot pass it into a model",
                field=f"inputs.{input_.name}.dtype",
                hint=_way_out(spec),
                expected=", ".join(INPUT_TYPES),
            )


def _outputs(spec: OpSpec) -> Iterator[Complaint]:
    first = spec.inputs[0]
    for output in spec.outputs:
        dtype = output.dtype or first.dtype
        if dtype and dtype not in OUTPUT_TYPES:
            origin = "" if output.dtype else f", the dtype of input '{first.name}'"
            yield Complaint(
                "",
                f"invalid '{dtype}'{origin}: rknn cannot return it, a model's output of it "
                "has the size 0 and no call fails",
                field=f"outputs.{output.name}.dtype",
                hint=_way_out(spec),
                expected=", ".join(OUTPUT_TYPES),
            )


def _way_out(spec: OpSpec) -> str:
    way_out = "write `dtype: float16`, in which integers are exact up to 2048, or `dtype: int16`"
    others = " and ".join(name for name in spec.runtimes if name != "rknn")
    return f"{way_out}, or describe it twice: for rknn and for {others}" if others else way_out


def _defaults(spec: OpSpec) -> Iterator[Complaint]:
    defaults = {param.name: param.default for param in spec.params}
    for name, problem in armhf.warnings(spec.params, defaults):
        yield Complaint("", problem, field=f"params.{name}.default", severity="warning")
