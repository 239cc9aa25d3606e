"""Write an open model to files, complete and checked."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from opkit import file_io
from opkit.errors import OpkitError
from rknn_op.models.extra import required
from rknn_op.models.running.weights import (
    OpenModel,
    append,
    first_line,
    is_external,
    location,
    tensors,
)

MAX_FILE = 2**31 - 2**20
"""Maximum bytes of a model in one file; protobuf's limit is 2 GB."""

_CHUNK = 2**24


def assembled(model: OpenModel, folder: Path, name: str) -> list[Path]:
    """Write a model into an empty folder; return its files, the model last.

    The weights are in the model's file, or in one file beside it: where the model has external
    data already, or would exceed the limit.

    Args:
        model: the model.
        folder: the folder.
        name: the name of the model's file.

    Raises:
        OpkitError: onnx's checker refuses the model.
        OSError: a file cannot be written.
    """
    proto = required("onnx").ModelProto()
    proto.CopyFrom(model.proto)
    external = [each for each in tensors(proto.graph) if is_external(each)]
    size = proto.ByteSize() + sum(_length(each, model.folder) for each in external)
    files = [folder / name]
    if external and (model.has_external_data or size > MAX_FILE):
        files.insert(0, folder / f"{name}.data")
        _write_data(external, model.folder, files[0])
    else:
        for tensor in external:
            tensor.raw_data = b"".join(_chunks(tensor, model.folder))
            tensor.ClearField("data_location")
            del tensor.external_data[:]
    files[-1].write_bytes(proto.SerializeToString())
    _check(files[-1], model)
    return files


def _write_data(external: list[Any], source: Path, file: Path) -> None:
    with file.open("wb") as data:
        for tensor in external:
            append(tensor, _chunks(tensor, source), data, file.name)


def _length(tensor: Any, folder: Path) -> int:
    """Return the bytes of a tensor's external data."""
    where, offset, length = location(tensor)
    return (folder / where).stat().st_size - offset if length is None else length


def _chunks(tensor: Any, folder: Path) -> Iterator[bytes]:
    """Yield the bytes of a tensor's external data."""
    where, offset, _ = location(tensor)
    left = _length(tensor, folder)
    with (folder / where).open("rb") as data:
        data.seek(offset)
        while left > 0 and (chunk := data.read(min(left, _CHUNK))):
            left -= len(chunk)
            yield chunk


def _check(file: Path, model: OpenModel) -> None:
    """Check a model with onnx's checker, and its types and shapes by inference."""
    onnx = required("onnx")
    try:
        onnx.checker.check_model(str(file))
        onnx.shape_inference.infer_shapes(model.proto, check_type=True, data_prop=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError, ValueError) as error:
        raise OpkitError(
            f"{model.file}: the grafted model is not valid: {first_line(error)}"
        ) from None


def publish(files: list[Path], folder: Path) -> list[Path]:
    """Move finished files into a folder, each in one step; return their new paths.

    Raises:
        OSError: a file cannot be written; then none is left.
    """
    written: list[Path] = []
    try:
        for file in files:
            target = folder / file.name
            written.append(target)
            with (
                file.open("rb") as source,
                mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ) as data,
            ):
                file_io.write_atomically(target, data)
    except BaseException:  # Ctrl-C, too
        for target in written:
            target.unlink(missing_ok=True)
        raise
    return written
