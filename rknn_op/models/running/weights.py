"""Open an ONNX model to run it: local functions inlined, large weights in files.

onnxruntime maps these files into memory. Sessions share them without a copy, and protobuf's limit
of 2 GB is for the rest alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from opkit.common.errors import OpkitError
from opkit.common.scratch import temporary_folder
from opkit.common.text import printable
from rknn_op.models import model_files, onnx_file
from rknn_op.models.model_files import InvalidError, required
from rknn_op.models.onnx_file import MAX_INLINE, is_external

_ALIGNMENT = 4096  # of the operating system's pages
_WEIGHTS = "weights.bin"


@dataclass(frozen=True)
class OpenModel:
    """A model to run.

    Attributes:
        file: its file, for messages.
        proto: the message, without local functions; do not change it.
        folder: the folder of the files with its large initializers.
        has_external_data: whether these files are the model's own.
    """

    file: Path
    proto: Any
    folder: Path
    has_external_data: bool = False


@contextmanager
def opened(file: Path, max_inline: int = MAX_INLINE) -> Iterator[OpenModel]:
    """Open a model; the files of its weights are there as long as the context.

    Args:
        file: the .onnx file.
        max_inline: the maximum bytes of an initializer that stays in the message.

    Raises:
        OpkitError: onnx is not installed, the file is not a valid model, or its external data is
            missing or outside of its folder.
    """
    proto = onnx_file.load(file)
    external = [each for each in tensors(proto.graph) if is_external(each)]
    try:
        own = onnx_file.data_folder(external, file)
    except InvalidError as error:
        raise model_files.model_error(file, error) from None
    for tensor in external:
        _check_external(tensor, file, own)
        where, offset, length = location(tensor)
        with (own / where).open("rb") as data:
            data.seek(offset)
            content = data.read(max_inline + 1 if length is None else min(length, max_inline + 1))
        if len(content) <= max_inline:  # sizes and axes, which the inference of shapes reads
            tensor.raw_data = content
            tensor.ClearField("data_location")
            del tensor.external_data[:]
    if any(map(is_external, external)):
        yield OpenModel(file, _inlined(proto, file), own, True)
        return
    with temporary_folder() as folder:
        with (folder / _WEIGHTS).open("wb") as data:
            for tensor in proto.graph.initializer:
                if len(tensor.raw_data) > max_inline:
                    append(tensor, [tensor.raw_data], data, _WEIGHTS)
                    tensor.ClearField("raw_data")
        yield OpenModel(file, _inlined(proto, file), folder)


def tensors(graph: Any) -> Iterator[Any]:
    """Yield the tensors of a graph and of its subgraphs: initializers, and values of attributes."""
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors
        for subgraph in onnx_file.subgraphs(node):
            yield from tensors(subgraph)


def location(tensor: Any) -> tuple[str, int, int | None]:
    """Return the file, the offset and the bytes of external data; None: to the end of the file."""
    entries = {each.key: each.value for each in tensor.external_data}
    length = entries.get("length")
    return entries.get("location", ""), int(entries.get("offset") or 0), length and int(length)


def refer(tensor: Any, file: str, offset: int, length: int) -> None:
    """Make a tensor's data external."""
    tensor.data_location = required("onnx").TensorProto.EXTERNAL
    del tensor.external_data[:]
    for key, value in (("location", file), ("offset", offset), ("length", length)):
        tensor.external_data.add(key=key, value=str(value))


def append(tensor: Any, content: Iterable[bytes], data: BinaryIO, file: str) -> None:
    """Write a tensor's bytes behind those of others, and refer to them.

    Args:
        tensor: the tensor.
        content: its bytes, in parts.
        data: the open file.
        file: its name.
    """
    data.write(bytes(-data.tell() % _ALIGNMENT))
    start = data.tell()
    for part in content:
        data.write(part)
    refer(tensor, file, start, data.tell() - start)


def _check_external(tensor: Any, file: Path, folder: Path) -> None:
    """Refuse a missing file of external data, and parts outside of it; resolve its links."""
    name = printable(tensor.name)
    try:
        where, offset, length = location(tensor)
        path = (file.parent / where).resolve()
        size = path.stat().st_size if path.is_file() else None
    except (OSError, ValueError):
        raise OpkitError(f"{file}: tensor {name!r} has invalid external data") from None
    called = printable(where)
    if size is None:
        problem = "is not in a file" if path.exists() else "is missing"
        raise OpkitError(f"{file}: the external data of tensor {name!r} {problem}: {called!r}")
    if offset < 0 or (length or 0) < 0 or offset + (length or 0) > size:
        raise OpkitError(
            f"{file}: the external data of tensor {name!r} ends behind the end of {called!r}; the "
            "file is truncated"
        )
    refer(
        tensor, str(path.relative_to(folder)), offset, size - offset if length is None else length
    )


def _inlined(proto: Any, file: Path) -> Any:
    """Return a model without local functions."""
    if not proto.functions:
        return proto
    try:
        return required("onnx.inliner").inline_local_functions(proto)
    except (ValueError, RuntimeError) as error:
        raise OpkitError(f"{file}: is not a valid ONNX model: {first_line(error)}") from None


def array(tensor: Any, folder: Path) -> Any:
    """Return the value of a tensor; external data is mapped from its file.

    Args:
        tensor: the message.
        folder: the folder of external data.
    """
    numpy_helper = required("onnx.numpy_helper")
    if not is_external(tensor):
        return numpy_helper.to_array(tensor)
    import numpy as np  # only here: `rknn-op` starts without it

    where, offset, _ = location(tensor)
    dtype = required("onnx.helper").tensor_dtype_to_np_dtype(tensor.data_type)
    shape = tuple(tensor.dims)
    if not all(shape):
        return np.zeros(shape, dtype)
    try:
        return np.memmap(folder / where, dtype, "r", offset, shape)
    except (OSError, ValueError):
        raise OpkitError(
            f"tensor {printable(tensor.name)!r}: its external data is smaller than its shape"
        ) from None


def first_line(error: BaseException) -> str:
    """Return the first line of an error of a library, for messages."""
    return printable(str(error).strip().partition("\n")[0])
