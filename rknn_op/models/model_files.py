"""The files of models: the libraries that read them, and limits that hold for all formats."""

from __future__ import annotations

import importlib
import shlex
import sys
from pathlib import Path
from typing import Any

from opkit.common import file_io
from opkit.common.errors import OpkitError
from opkit.common.text import printable, shortened
from rknn_op.models.model_graph import STANDARD

EXTRA = "onnx onnxruntime onnxscript tensorboardX"
"""The distributions of the extra: names of their owners, on every index."""

CONTRIBUTED = "com.microsoft"
"""The domain of the operators that onnxruntime adds to ONNX's."""
WITHOUT_FUSION = (
    "onnxruntime's optimizer makes this operator of ONNX's own ones: take the model before it, or "
    "optimize it at the basic level at most"
)
"""The remedy for a model with contributed operators."""


def required(module: str) -> Any:
    """Return a module of the extra `onnx`.

    Raises:
        OpkitError: it is not installed, or cannot be imported.
    """
    distribution = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if error.name == distribution:
            raise OpkitError(
                f"{distribution} is not installed, which reads models; install it: "
                f"{shlex.quote(sys.executable)} -m pip install {EXTRA}"
            ) from None
        reason = printable(shortened(str(error).partition("\n")[0], 200))
        raise OpkitError(
            f"{module} cannot be imported: {reason}; install {distribution} again"
        ) from None


def schema_of(op_type: str, domain: str, opset: int) -> Any:
    """Return the schema of ONNX's operators and of onnxruntime's contributed ones, or None."""
    defs = required("onnx").defs
    if domain == CONTRIBUTED:
        return _contributed_schema(op_type)
    if domain != STANDARD or not defs.has(op_type):
        return None
    try:
        return defs.get_schema(op_type, opset, domain)
    except defs.SchemaError:
        return None


def input_names(schema: Any) -> list[str]:
    """Return the names of a schema's inputs, and behind them those that later opsets append."""
    names = [each.name for each in schema.inputs]
    newest = schema_of(schema.name, schema.domain, required("onnx").defs.onnx_opset_version())
    later = [each.name for each in newest.inputs] if newest else []
    return later if later[: len(names)] == names else names


def _contributed_schema(op_type: str) -> Any:
    """Return the schema of an operator of onnxruntime, as onnx's own class; None: it has none."""
    state = required("onnxruntime.capi.onnxruntime_pybind11_state")
    found = [
        each
        for each in state.get_all_operator_schema()
        if (each.domain, each.name) == (CONTRIBUTED, op_type)
    ]
    if not found:
        return None
    onnx = required("onnx")
    made, own = onnx.defs.OpSchema, max(found, key=lambda each: int(each.since_version))

    def formal(each: Any) -> Any:
        option = getattr(made.FormalParameterOption, each.option.name)
        return made.FormalParameter(each.name, each.typeStr, each.description, param_option=option)

    def attribute(each: Any) -> Any:
        default = onnx.AttributeProto.FromString(each._default_value)
        if default.type:
            return made.Attribute(each.name, default, each.description)
        kind = getattr(made.AttrType, each.type.name)
        return made.Attribute(each.name, kind, each.description, required=each.required)

    return made(
        op_type,
        CONTRIBUTED,
        own.since_version,
        own.doc or "",
        inputs=[*map(formal, own.inputs)],
        outputs=[*map(formal, own.outputs)],
        type_constraints=[
            (each.type_param_str, [*each.allowed_type_strs], each.description)
            for each in own.type_constraints
        ],
        attributes=[*map(attribute, own.attributes.values())],
    )


# ---- Files ---------------------------------------------------------------------------------------

MAX_NODES = 250_000
"""Maximum nodes, with those of subgraphs and of local functions at each call."""

_MAX_BYTES = 2**31 - 1
"""Protobuf's maximum size of a message."""


class InvalidError(Exception):
    """The model is invalid; the message names the node or tensor, not the file."""


def contents(file: Path, expected: str) -> bytes:
    """Return the content of a model's file.

    Args:
        file: a regular file.
        expected: the expected content, for messages, such as `an ONNX model`.

    Raises:
        InvalidError: the file cannot be read, is not a regular file, or is larger than 2 GB.
    """
    try:
        return file_io.read_bounded(file, expected, _MAX_BYTES)
    except file_io.FileError as error:
        raise InvalidError(error.problem) from None


def quoted(name: str) -> str:
    """Return a name of a model in quotes, shortened."""
    return repr(shortened(name))


def check_count(nodes: int) -> None:
    """Raise InvalidError for a model with too many nodes."""
    if nodes > MAX_NODES:
        raise InvalidError(f"has {nodes:,} nodes (expected at most {MAX_NODES:,}); cut the model")


def model_error(file: Path, problem: InvalidError) -> OpkitError:
    """Return the error for a file with an invalid model."""
    return OpkitError(f"{printable(str(file))}: {problem}")
