"""ONNX models for RKNN-Toolkit2: its operators, its custom nodes, its rules, the toolkit itself."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from opkit.description.spec import OpSpec
from opkit.runtimes.rknn2.chips import READABLE, TENSOR_TYPES, unreadable_numbers
from opkit.runtimes.rknn2.converter_class import FOLDER
from opkit.runtimes.rknn2.describe import PREFIX, settings
from opkit.runtimes.rknn2.toolkit2 import DISTRIBUTION, PACKAGES
from rknn_op.models.model_graph import STANDARD, Node, at
from rknn_op.runtimes.models import ConverterRules, Form, Models, OperatorList, Renaming, Toolkit

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
    data, made = map(_yaml, ("operators", "conversions"))
    chips = {chip: names for key, names in data["npu"].items() for chip in key.split(", ")}
    return OperatorList(
        f"{made['toolkit']}, {data['runtime']}",
        f"{target}'s NPU",
        frozenset(chips[target]),
        frozenset(data["cpu"]),
        data["names"],
        {name: tuple(left) for name, left in made["left"].items()},
        made["refused"],
        {name: tuple(positions) for name, positions in made["constant"].items()},
        entry,
        max_opset=data["max_opset"],
        max_ir_version=data["max_ir_version"],
        renaming=_RENAMING,
    )


def entry(node: Node) -> str:
    """Return the name of a node in conversions.yml: its operator, or a special case of it.

    The toolkit makes a Gather of a GatherND along one axis, unless its indices are constant: there
    its rule fails. Whether an input is constant decides nothing else about missing operators.
    """
    indices = at(node.inputs, 1)
    is_along_one_axis = (
        (node.domain, node.op_type) == (STANDARD, "GatherND")
        and indices is not None
        and not indices.constant
        and len(shape := indices.shape or ()) > 1
        and shape[-1] == 1
        and not node.attributes.get("batch_dims")
    )
    return "GatherND along one axis" if is_along_one_axis else node.op_type


def _yaml(name: str) -> Any:
    text = Path(__file__).with_name(f"{name}.yml").read_text(encoding="utf-8")
    return yaml.safe_load(text)


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


# ---- The toolkit, in a Python of its own ---------------------------------------------------------

_NOT_OPERATORS = frozenset(("InputOperator", "OutputOperator"))


def nodes_of(package: bytes) -> Iterator[tuple[str, str]]:
    """Yield the type and the name of each node in a .rknn file.

    They are strings `<type>:<name>`, after their length. Tensors may be `onnx::<name>`, and
    instructions of the NPU may look like a type without a name.
    """
    for found in re.finditer(rb"(?<=\0)([A-Za-z]\w*):(?!:)([^\0]+)(?=\0)", package):
        start = found.start()
        length = struct.unpack_from("<I", package, start - 4)[0] if start >= 4 else 0
        name = found[1].decode()
        if length == len(found[0]) and name not in _NOT_OPERATORS:
            yield name, found[2].decode(errors="replace")


def _failed_rule(output: bytes) -> str:
    """Return the rule that the toolkit advises to disable after an error in it."""
    found = re.search(rb"You can add disable_rules=\['(\w+)'\]", output)
    return found[1].decode() if found else ""


TOOLKIT = Toolkit(
    name="RKNN-Toolkit2",
    distribution=DISTRIBUTION,
    packages=PACKAGES,
    environment=".venv-rknn2",
    module="rknn",
    suffix=".rknn",
    build=Path(__file__).with_name("toolkit_worker.py"),
    left=lambda package: (type_ for type_, _name in nodes_of(package)),
    simulate=Path(__file__).with_name("simulation_worker.py"),
    failed_rule=_failed_rule,
    quantize=Path(__file__).with_name("quantization_worker.py"),
    algorithms=("normal", "mmse", "kl_divergence"),
    scripts=FOLDER,
    class_file=lambda spec: (
        "" if settings(spec).is_standard else f"{FOLDER}/{spec.lower}_custom_op.py"
    ),
    simulated_types={"float16": "float32", "float64": "float32"},
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
