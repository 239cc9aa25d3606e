"""Makers of cases: vary_params() for a param's other values, recorded_cases() for a model's node.

A file of a recorded case has the arrays `inputs/INPUT` and `outputs/OUTPUT` by the names of op.yml,
and `params`, a JSON object in a 0-d array of text. Nothing in it is pickled.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from opkit.check.cases import Case
from opkit.check.mistakes import CheckError, caller_file, caller_location
from opkit.check.operators import Operator, operator_of
from opkit.check.session import repository_of
from opkit.check.tolerance import Tolerance
from opkit.common import file_io
from opkit.common.text import did_you_mean, printable, shortened
from opkit.description.case_values import other_values
from opkit.description.spec import Param
from opkit.runtimes.invocation import Array, RefusedError


def vary_params(
    base: Mapping[str, Any] = MappingProxyType({}), /, **values: Iterable[Any]
) -> list[dict[str, Any]]:
    """Return the params of cases: the base, and then each param with its other values.

    One param at a time differs from the base. The other values follow from op.yml: all `choices`;
    else the other bool; a larger number, and a smaller one or one with the other sign, within `min`
    and `max`; lists of such numbers, and of other lengths. A text without choices has none. Params
    named like an axis are 0, 1 and -1, and those named like a size are positive.

    Args:
        base: the values of params without a default in op.yml, or in place of the default.
        **values: the other values of a param, in place of those from op.yml; an empty list if it
            does not vary.

    Raises:
        CheckError: an argument is invalid; the message begins with the caller's line.
    """
    operator = operator_of(repository_of(caller_file()))
    if problem := next(_problems(operator.spec.params, base, values), ""):
        raise CheckError(f"{caller_location()}: vary_params(): {problem}")
    found = [dict(base)]
    for param in operator.spec.params:
        value = base.get(param.name, param.default)
        others = values.get(param.name, _supported(operator, param, other_values(param, value)))
        found += [{**base, param.name: each} for each in others if not np.array_equal(each, value)]
    return found


def _problems(params: Iterable[Param], base: Any, values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the errors in the arguments of vary_params()."""
    known = {param.name: param for param in params}
    required = [name for name, param in known.items() if param.default is None]
    example = f"vary_params({{{', '.join(f'{name!r}: ...' for name in required)}}})"
    if not isinstance(base, Mapping):
        yield f"the base is {base!r}; write a dict, as {example}"
    for name in chain(base, values):
        if name not in known:
            near = did_you_mean(str(name), known)
            hint = f"; {near}" if near else ""
            yield f"unknown param '{name}'{hint} (expected {', '.join(known) or 'none'})"
    for name, others in values.items():
        if isinstance(others, str) or not isinstance(others, Iterable):
            yield f"{name}={others!r}; write a list of values, as {name}=[{others!r}]"
    for name in required:
        if name not in base:
            yield f"param '{name}' has no default in op.yml; write {example}"


def _supported(operator: Operator, param: Param, values: Iterable[Any]) -> Iterator[Any]:
    """Yield the values that no runtime refuses."""
    for value in values:
        try:
            for runtime in operator.runtimes:
                runtime.check.convention.value(param, value)
        except RefusedError:
            continue
        yield value


_INPUTS, _OUTPUTS, _PARAMS = "inputs/", "outputs/", "params"
_EXPECTED = (
    f"NAME.npz with the arrays {_INPUTS}INPUT, {_OUTPUTS}OUTPUT and {_PARAMS}, as `rknn-op create "
    "--from MODEL` records them"
)


# ---- The cases of a folder -----------------------------------------------------------------------


def recorded(
    folder: str = "data",
    max_ulp: int | Mapping[str, int] = 0,
    max_error: float | Mapping[str, float] | None = None,
) -> list[Case]:
    """Return the recorded cases of a folder: each of its .npz files, by name.

    A check compares the reference with the recorded outputs, and every kernel with the reference.

    Args:
        folder: the folder, relative to that of the test file.
        max_ulp: the tolerated difference of the reference from the recorded outputs, in
            representable values of the output's dtype; see check_cpu_kernel.
        max_error: the same as an absolute difference; see check_cpu_kernel.

    Raises:
        CheckError: an argument is invalid; the folder does not exist or has no case; or a file is
            not a recorded case.
    """
    test_file = caller_file()
    operator = operator_of(repository_of(test_file))
    tolerance = Tolerance(max_ulp, max_error)
    tolerance.refuse_invalid([output.name for output in operator.spec.outputs])
    place = test_file.parent / folder
    files = sorted(place.glob("*.npz")) if place.is_dir() else []
    if not files:
        problem = "has no recorded case" if place.is_dir() else "is not a folder"
        raise CheckError(
            f"{caller_location()}: recorded(): {_relative(place, operator.root)} {problem} "
            f"(expected {_EXPECTED})"
        )
    return [_case(file, _relative(file, operator.root), tolerance) for file in files]


def _relative(path: Path, root: Path) -> str:
    return printable(path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path))


def _case(file: Path, origin: str, tolerance: Tolerance) -> Case:
    try:
        inputs, outputs, params = _decoded(file_io.read_bounded(file, "a recorded case"))
    except file_io.FileError as error:
        raise CheckError(f"{origin}: {error.problem}") from None
    except Exception as error:  # numpy, zipfile and zlib raise a dozen types for damaged files
        reason = shortened(printable(str(error).partition("\n")[0] or type(error).__name__), 200)
        raise CheckError(
            f"{origin}: is not a recorded case: {reason} (expected {_EXPECTED})"
        ) from None
    dtypes = {name: array.dtype for name, array in outputs.items()}
    tolerance.refuse_unlimited(dtypes)
    return Case(file.stem, inputs, params, dtypes, origin, {}, outputs, tolerance)


# ---- The format of a file ------------------------------------------------------------------------


def encoded(
    inputs: Mapping[str, Array], outputs: Mapping[str, Array], params: Mapping[str, Any]
) -> bytes:
    """Return the bytes of a recorded case's file, the same for the same values.

    Args:
        inputs: name in op.yml -> array.
        outputs: the same of the outputs; empty if the model's own framework does not compute them.
        params: name -> value.

    Raises:
        ValueError: an array has Python objects, which only pickle stores.
    """
    text = json.dumps(dict(params), sort_keys=True, default=lambda value: value.tolist())
    arrays = {
        **{f"{_INPUTS}{name}": array for name, array in inputs.items()},
        **{f"{_OUTPUTS}{name}": array for name, array in outputs.items()},
        _PARAMS: np.array(text),
    }
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, array in arrays.items():
            member = zipfile.ZipInfo(f"{name}.npy")  # of 1980, in every run
            member.compress_type = zipfile.ZIP_DEFLATED
            data = io.BytesIO()
            ordered = np.asarray(array, np.asarray(array).dtype.newbyteorder("="), order="C")
            np.lib.format.write_array(data, ordered, allow_pickle=False)
            archive.writestr(member, data.getvalue())
    return content.getvalue()


def _decoded(data: bytes) -> tuple[dict[str, Array], dict[str, Array], dict[str, Any]]:
    """Return the inputs, outputs and params in a file; raise an Exception for an invalid one."""
    inputs: dict[str, Array] = {}
    outputs: dict[str, Array] = {}
    params: Any = None
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
        if unpacked > file_io.MAX_BYTES:
            raise ValueError(f"its arrays have {unpacked:,} bytes")
        for member in archive.namelist():
            name = member.removesuffix(".npy")
            with archive.open(member) as file:
                array: Array = np.lib.format.read_array(file, allow_pickle=False)
            if name.startswith(_INPUTS):
                inputs[name.removeprefix(_INPUTS)] = array
            elif name.startswith(_OUTPUTS):
                outputs[name.removeprefix(_OUTPUTS)] = array
            elif name == _PARAMS:
                params = json.loads(str(array))
            else:
                raise ValueError(f"unknown array '{name}'")
    if not inputs or not isinstance(params, dict):
        missing = f"{_INPUTS}INPUT" if not inputs else f"'{_PARAMS}' with a JSON object"
        raise ValueError(f"it has no array {missing}")
    return inputs, outputs, params
