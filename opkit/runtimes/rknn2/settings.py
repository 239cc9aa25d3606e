"""This runtime's own key of op.yml, and its restrictions of the common keys."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import yaml

from opkit.description.parser import IDENTIFIER
from opkit.description.reader import Reader, is_key
from opkit.description.spec import OpSpec
from opkit.runtimes.rknn2.onnx_names import LATER_OPERATORS, MAX_OPSET, ONNX_OPERATORS
from opkit.text import shortened

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
    },
}


@dataclass(frozen=True)
class Settings:
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


def differing_in_case(op_type: str) -> list[str]:
    """Return the operator of ONNX with this name but for capitals, in a list; or an empty list."""
    others = ONNX_OPERATORS - LATER_OPERATORS - {op_type}
    return [name for name in others if name.lower() == op_type.lower()]


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
