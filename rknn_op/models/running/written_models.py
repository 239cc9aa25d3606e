"""Write a model with its weights: in its file, or in one beside it."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from opkit.common import file_io
from opkit.common.errors import OpkitError
from opkit.common.text import printable
from rknn_op.models.model_files import required
from rknn_op.models.onnx_file import is_external
from rknn_op.models.running.weights import OpenModel, append, first_line, location, tensors

SUFFIX = ".onnx"

MAX_FILE = 2**31 - 2**20
"""Maximum bytes of a model in one file; protobuf's limit is 2 GB."""

_CHUNK = 2**24


def assembled(model: OpenModel, folder: Path, name: str, what: str) -> list[Path]:
    """Write a model into an empty folder; return its files, the model last.

    The weights are in the model's file, or in one file beside it: where the model has external
    data already, or would exceed the limit.

    Args:
        model: the model.
        folder: the folder.
        name: the name of the model's file.
        what: its name in messages, such as `grafted`.

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
        with files[0].open("wb") as data:
            for tensor in external:
                append(tensor, _chunks(tensor, model.folder), data, files[0].name)
    else:
        for tensor in external:
            tensor.raw_data = b"".join(_chunks(tensor, model.folder))
            tensor.ClearField("data_location")
            del tensor.external_data[:]
    files[-1].write_bytes(proto.SerializeToString())
    onnx = required("onnx")
    try:
        onnx.checker.check_model(str(files[-1]))
        onnx.shape_inference.infer_shapes(model.proto, check_type=True, data_prop=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError, ValueError) as error:
        raise OpkitError(
            f"{model.file}: the {what} model is not valid: {first_line(error)}"
        ) from None
    return files


def refuse_output(file: Path, output: Path, option: str) -> None:
    """Refuse a file to write that is not a model's, exists, or has no folder.

    Args:
        file: the model that is read.
        output: the file.
        option: its option, for messages.

    Raises:
        OpkitError: it is refused.
    """
    called = f"{option} {printable(str(output))}"
    if output.suffix != SUFFIX:
        raise OpkitError(f"{called}: invalid file name (expected *{SUFFIX})")
    if os.path.realpath(output) == os.path.realpath(file):  # Path.resolve() refuses cyclic links
        raise OpkitError(f"{called}: is MODEL itself; pass another file")
    if not output.parent.is_dir():
        raise OpkitError(f"{called}: no such folder: {output.parent}")
    refuse_existing([output, output.with_name(f"{output.name}.data")], option)


def refuse_existing(files: Iterable[Path], option: str) -> None:
    """Refuse files that exist.

    Raises:
        OpkitError: one exists.
    """
    for path in files:
        if path.exists() or path.is_symlink():
            raise OpkitError(f"{printable(str(path))}: exists; delete it, or pass another {option}")


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
