"""The samples of a dataset, on which a model is quantized and compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from opkit.common.errors import OpkitError
from opkit.common.text import printable
from rknn_op.models.model_graph import Model
from rknn_op.models.running.model_inputs import check_inputs, read_inputs

Array = Any

_SUFFIXES = (".npz", ".npy")
_EXPECTED = (
    "expected a folder of .npz files, or of .npy files for a model with one input, or a text file "
    "with the .npy files of a sample's inputs in each line"
)


def samples(dataset: Path, model: Model) -> Iterator[Mapping[str, Array]]:
    """Yield the inputs of each sample by name, in the order of the model.

    Args:
        dataset: a folder with an .npz file of inputs by name, or for a model with one input an
            .npy file, for each sample; or a text file in which each line has the .npy files of a
            sample's inputs, in the order of the model, relative to the file.
        model: the model.

    Raises:
        OpkitError: the dataset is missing or empty, or a sample does not match the inputs.
    """
    try:
        entries = [*(_in_folder(dataset) if dataset.is_dir() else _in_lines(dataset))]
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "is not a text file"
        raise OpkitError(f"--dataset {_path(dataset)}: {reason} ({_EXPECTED})") from None
    if not entries:
        raise OpkitError(f"--dataset {_path(dataset)}: has no samples ({_EXPECTED})")
    names = [each.name for each in model.inputs]
    for where, files in entries:
        if files[0].suffix == ".npz":
            arrays = read_inputs(files[0], model)
        elif len(files) == len(names):
            arrays = {name: _array(file, where) for name, file in zip(names, files, strict=True)}
            check_inputs(arrays, model, where)
        else:
            inputs = printable(", ".join(names))
            raise OpkitError(f"{where}: {len(files)} .npy files (expected one each for {inputs})")
        yield {name: arrays[name] for name in names}


def _in_folder(folder: Path) -> Iterator[tuple[str, list[Path]]]:
    """Yield for each sample its place, for messages, and its file."""
    for file in sorted(folder.iterdir()):
        if file.suffix in _SUFFIXES:
            yield _path(file), [file]


def _in_lines(file: Path) -> Iterator[tuple[str, list[Path]]]:
    """Yield for each sample its place, for messages, and its files."""
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        files = [file.parent / name for name in line.split()]
        where = f"{_path(file)}:{number}"
        for each in files:
            if each.suffix != ".npy":
                raise OpkitError(
                    f"{where}: {_path(each)}: is not an .npy file; save the array of the model's "
                    "input, an image with the model's own mean, std and layout, with numpy.save"
                )
        if files:
            yield where, files


def _array(file: Path, where: str) -> Array:
    try:
        array = np.load(file, allow_pickle=False)
    except OSError as error:
        reason = error.strerror or error
        raise OpkitError(f"{where}: {_path(file)}: cannot be read: {reason}") from None
    except Exception as error:  # numpy raises many types for damaged files
        reason = printable(str(error).partition("\n")[0])
        raise OpkitError(f"{where}: {_path(file)}: is not an .npy file: {reason}") from None
    if not isinstance(array, np.ndarray):
        raise OpkitError(f"{where}: {_path(file)}: is not an .npy file")
    return array


def _path(file: Path) -> str:
    return printable(str(file))
