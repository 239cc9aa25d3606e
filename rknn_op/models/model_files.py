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

EXTRA = "onnx onnxruntime tensorboardX"
"""The distributions of the extra: names of their owners, on every index."""


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
    """Return onnx's schema of a standard operator, or None."""
    defs = required("onnx").defs
    if domain != STANDARD or not defs.has(op_type):
        return None
    try:
        return defs.get_schema(op_type, opset, domain)
    except defs.SchemaError:
        return None


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
