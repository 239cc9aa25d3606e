"""ONNX models for RKNN-Toolkit2: its operators, its custom nodes, its rules, the toolkit itself."""

from __future__ import annotations

from pathlib import Path

import yaml

from opkit.description.spec import OpSpec
from opkit.runtimes.rknn2.chips import READABLE, TENSOR_TYPES, unreadable_numbers
from opkit.runtimes.rknn2.describe import PREFIX, settings
from rknn_op.runtimes.models import ConverterRules, Form, Models, OperatorList, Renaming
from rknn_op.runtimes.rknn2.models.toolkit import TOOLKIT

_RENAMING = Renaming(
    PREFIX,
    # In the vendor's examples; rknn2/make_onnx.py of a repository writes it, too.
    "rknn_cst",
    "op_type",
    "librknnrt 2.x only",
)

_RULES = ConverterRules(  # those of check_model in a repository's rknn2/convert.py
    input_types=(*TENSOR_TYPES, "int8", "uint8"),  # integers of 8 bits may be quantized tensors
    dynamic_shape="a custom operator with such a shape crashes on the board",
    has_subgraphs=False,
)


def _operators(target: str, checkout: Path | None) -> OperatorList:
    """Return the list of a chip."""
    data = yaml.safe_load(Path(__file__).with_name("operators.yml").read_text(encoding="utf-8"))
    chips = {chip: names for key, names in data["npu"].items() for chip in key.split(", ")}
    return OperatorList(
        f"{data['toolkit']}, {data['runtime']}",
        f"{target}'s NPU",
        frozenset(chips[target]),
        frozenset(data["cpu"]),
        data["names"],
        {name: tuple(left) for name, left in data["left"].items()},
        data["refused"],
        {name: tuple(positions) for name, positions in data["constant"].items()},
        max_opset=data["max_opset"],
        max_ir_version=data["max_ir_version"],
        renaming=_RENAMING,
    )


def _form(spec: OpSpec) -> Form:
    chosen = settings(spec)
    if chosen.is_standard:
        return Form(chosen.op_type, None)
    return Form(
        chosen.op_type,
        _RENAMING.domain,
        has_constants=True,
        unreadable=unreadable_numbers,
        readable=READABLE,
        prefix=PREFIX,
    )


MODELS = Models(
    framework="onnx",
    suffix=".onnx",
    is_default=True,
    operators=_operators,
    renaming=_RENAMING,
    form=_form,
    rules=_RULES,
    toolkit=TOOLKIT,
)
