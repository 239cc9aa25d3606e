"""RKNN-Toolkit2's names, targets, limits, types and keys of op.yml."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import yaml

from opkit.common.complaint import Complaint
from opkit.common.text import shortened
from opkit.description.describe import RuntimeDescription
from opkit.description.parser import IDENTIFIER
from opkit.description.reader import Reader, is_key
from opkit.description.spec import OpSpec
from opkit.runtimes.rknn2 import gpu_files
from opkit.runtimes.rknn2.chips import (
    LIMITS,
    REFUSED_TARGETS,
    TARGETS,
    TENSOR_TYPES,
    lost_params,
    unreadable_numbers,
)
from opkit.runtimes.rknn2.gpu_files import GPU
from opkit.runtimes.rknn2.toolkit2 import LATER_OPERATORS, MAX_OPSET, ONNX_OPERATORS

NAME = "rknn2"
MAX_OP_TYPE = 255
"""The maximum characters in the runtime's struct."""
PREFIX = "cst"
KEYS = {
    "op_type": {
        "description": f"The operator's name in models; by default {PREFIX} and the name. With a "
        "name of ONNX's own, nodes stay as they are; it needs librknnrt 2.x.",
        "type": "string",
        "pattern": f"^{IDENTIFIER}$",
        "maxLength": MAX_OP_TYPE,
        "not": {"enum": sorted(LATER_OPERATORS)},
    }
}


class Settings(NamedTuple):
    """The value of this runtime's own key of op.yml.

    Attributes:
        op_type: the operator's name in models.
    """

    op_type: str

    @property
    def is_standard(self) -> bool:
        """Whether the name is ONNX's own: RKNN-Toolkit2 has the operator, and takes no class."""
        return self.op_type in ONNX_OPERATORS

    @property
    def oldest_runtime(self) -> str:
        """The oldest librknnrt for a plugin; 1.6.0 aborts in rknn_init at a name of ONNX's own."""
        return "2.0.0" if self.is_standard else "1.6.0"


def settings(spec: OpSpec) -> Settings:
    """Return the settings of an operator."""
    found = spec.settings[NAME]
    assert isinstance(found, Settings)
    return found


def read_settings(reader: Reader, entries: Mapping[str, yaml.Node]) -> Settings:
    """Read the settings of a description.

    Raises:
        DescriptionError: they are invalid, or a param cannot be an attribute or input of a node.
    """
    params = entries.get("params")
    for key, value in params.value if isinstance(params, yaml.MappingNode) else ():
        reader.attempt(_check_param, reader, key, value)
    return Settings(reader.attempt(_op_type, reader, entries))


def _op_type(reader: Reader, entries: Mapping[str, yaml.Node]) -> str:
    """Return the name in models: `op_type`, or `cst` and the operator's name."""
    key = "op_type" if "op_type" in entries else "name"
    node = entries.get(key)
    if node is None:
        return ""  # the parser refuses a description without a name
    op_type = reader.text(node, key) if key == "op_type" else PREFIX + reader.text(node, key)
    called = shortened(op_type)
    if op_type in LATER_OPERATORS:
        reader.fail(
            node,
            key,
            f"{called!r} is an operator of ONNX that opset {MAX_OPSET} does not have, the newest "
            "for RKNN-Toolkit2",
            hint=f"write `op_type: {PREFIX}{op_type}`, and rename the nodes of the model",
        )
    if len(op_type) > MAX_OP_TYPE:
        problem = f"{called!r} is longer than {MAX_OP_TYPE} characters, librknnrt's limit"
        reader.fail(node, key, problem, hint="write a shorter `op_type`")
    if key == "op_type" and not re.fullmatch(IDENTIFIER, op_type):
        reader.fail(
            node,
            key,
            f"{called!r} is not an operator's name",
            hint="allowed are letters (a to z), digits and _, beginning with a letter",
        )
    return op_type


def _check_param(reader: Reader, key: yaml.Node, value: yaml.Node) -> None:
    """Refuse a param that cannot be an attribute or input of a node; the parser checks the rest."""
    where = f"params.{key.value}"
    if key.value == "name":
        reader.fail(
            key,
            where,
            "librknnrt keeps the attribute 'name' for the name of the node",
            hint="choose another one",
        )
    details = {}
    if isinstance(value, yaml.MappingNode):
        details = {each.value: detail for each, detail in value.value if is_key(each)}
    type_ = details.get("type")
    is_text = isinstance(type_, yaml.ScalarNode) and type_.value.upper() == "STRING"
    if is_text and "source" in details:
        reader.fail(
            details["source"],
            f"{where}.source",
            "a text is an attribute: RKNN-Toolkit2 has no tensors of text",
        )


def _complaints(spec: OpSpec) -> Iterator[Complaint]:
    """Warn of attributes that librknnrt does not hand over; explain a name of ONNX's own."""
    for param in spec.params:
        for each in unreadable_numbers(param.default)[:1]:
            yield Complaint(
                "",
                f"{each} is out of range for an attribute, at which librknnrt aborts; it "
                "works only where nodes omit the attribute",
                field=f"params.{param.name}.default",
                severity="warning",
            )
        if param.default is None and lost_params([param]):
            yield Complaint(
                "",
                "librknnrt 1.6.0 hands over no attribute whose name begins with q_, so that the "
                "operator fails there",
                field=f"params.{param.name}",
                hint="choose another name, or a `default` from which the value is computed",
                severity="note",
            )
    yield from gpu_files.complaints(spec)
    own = settings(spec)
    if own.is_standard:
        yield Complaint(
            "",
            f"{own.op_type} is an operator of ONNX: RKNN-Toolkit2 has its own and would ignore a "
            "class, so none is generated, and nodes stay as they are; the plugin needs librknnrt "
            "2.x, because 1.6.0 aborts in rknn_init",
            field="op_type",
            hint=f"for 1.6.0, write `op_type: {PREFIX}{own.op_type}` and rename the nodes",
            severity="note",
        )
    for name in ONNX_OPERATORS - LATER_OPERATORS - {own.op_type}:
        if name.lower() == own.op_type.lower():
            yield Complaint(
                "",
                f"{own.op_type} is not ONNX's {name}: names of operators are case-sensitive",
                field="op_type",
                hint=f"write {name}, or a name that differs in more than case",
                severity="warning",
            )


def _name_refusal(name: str) -> str:
    """Refuse the name of a file, a type or a function of librknnrt's."""
    is_taken = name.lower() in ("rknn", "get_rknn", "rknn_custom_op")
    return "is taken by the generated code; choose another name" if is_taken else ""


DESCRIBE = RuntimeDescription(
    name=NAME,
    title="RKNN-Toolkit2",
    frameworks=("onnx", "tensorflow"),
    converter="RKNN-Toolkit2",
    next_steps=(
        "python $folder/rknn2/convert.py MODEL.onnx\n"
        "    with a Python that has RKNN-Toolkit2\n"
        "scons deploy\n"
        "    in $folder: print the commands to copy the plugin to a board\n"
    ),
    starter=f"target_platform: RK3588  # {', '.join(TARGETS)}\n",
    targets=TARGETS,
    default_target="rk3588",
    refused_targets=REFUSED_TARGETS,
    product_pattern="lib*_*",
    limits=LIMITS,
    tensor_types=TENSOR_TYPES,
    kernels={GPU: False},
    single_thread="",
    no_fp16="",
    keys=KEYS,
    settings=read_settings,
    name_refusal=_name_refusal,
    complaints=_complaints,
    expected_kernels=gpu_files.expected_kernels,
)
