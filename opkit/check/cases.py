"""The cases of a repository's tests: every shape with all values and params."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from opkit.check.mistakes import CheckError, caller_location
from opkit.check.tolerance import EXACT, Tolerance
from opkit.description.spec import TENSOR_DTYPES
from opkit.runtimes.invocation import Array


@dataclass(frozen=True)
class Quantization:
    """number = scale * (element - zero_point)."""

    scale: float
    zero_point: int = 0

    def numbers(self, elements: Array) -> Array:
        """Return the numbers of integer elements, as float32."""
        steps = elements.astype(np.float32) - np.float32(self.zero_point)
        numbers: Array = steps * np.float32(self.scale)
        return numbers

    def elements(self, numbers: Array, dtype: np.dtype[Any]) -> Array:
        """Return the nearest elements, in the range of an integer dtype; NaN is undefined.

        Of two equally near elements it is the one with an even distance from the zero point.
        """
        limits = np.iinfo(dtype)
        with np.errstate(all="ignore"):
            steps = np.rint(numbers / np.float32(self.scale)) + self.zero_point
            elements: Array = np.clip(steps, limits.min, limits.max).astype(dtype)
        return elements


# ---- Values -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Values:
    """Makes the elements of an input.

    Attributes:
        name: the part of a case's name.
        full_name: the same, with arguments.
        make: (shape, dtype, random generator, index of the input) -> array.
    """

    name: str
    full_name: str
    make: Callable[[tuple[int, ...], np.dtype[Any], np.random.Generator, int], Array]


def uniform(low: float, high: float) -> Values:
    """Return uniformly distributed values from low to high; integers for an integer tensor."""

    def make(
        shape: tuple[int, ...], dtype: np.dtype[Any], random: np.random.Generator, _: int
    ) -> Array:
        if dtype.kind == "b":
            return random.integers(0, 1, shape, endpoint=True).astype(bool)
        if dtype.kind in "iu":
            return random.integers(int(low), int(high), shape, dtype, endpoint=True)
        return random.uniform(low, high, shape).astype(dtype)

    return Values("uniform", f"uniform({low:g},{high:g})", make)


def integers(low: int, high: int) -> Values:
    """Return integers from low to high, both included, for tensors of any dtype."""

    def make(
        shape: tuple[int, ...], dtype: np.dtype[Any], random: np.random.Generator, _: int
    ) -> Array:
        return random.integers(low, high, shape, endpoint=True).astype(dtype)

    return Values("integers", f"integers({low},{high})", make)


_PERIODS: Mapping[str, Callable[[np.dtype[Any]], int]] = {
    "b": lambda dtype: 2,
    "f": lambda dtype: 1024,
    **dict.fromkeys("iu", lambda dtype: min(1024, np.iinfo(dtype).max)),
}
"""Kind of dtype -> the period of a ramp, in elements."""


def ramp() -> Values:
    """Return 0, 1, 2, ... in memory order, with a period of 1024, or 2 for bool."""

    def make(
        shape: tuple[int, ...], dtype: np.dtype[Any], _: np.random.Generator, __: int
    ) -> Array:
        period = _PERIODS[dtype.kind](dtype)
        numbers: Array = np.arange(np.prod(shape)) % period
        return numbers.reshape(shape).astype(dtype)

    return Values("ramp", "ramp", make)


def special() -> Values:
    """Return edge cases in turn: zeros, subnormals, the largest numbers, infinities and NaN.

    Each input steps through them at a different speed, so that the inputs form many pairs.
    """

    def make(
        shape: tuple[int, ...], dtype: np.dtype[Any], _: np.random.Generator, input_index: int
    ) -> Array:
        values = _special_values(dtype)
        index: Array = np.arange(np.prod(shape))
        turn: Array = (index + input_index * (index // len(values))) % len(values)
        array: Array = values[turn].reshape(shape)
        return array

    return Values("special", "special", make)


def _special_values(dtype: np.dtype[Any]) -> Array:
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        whole = np.array([0, 1, limits.min, limits.max, -(limits.min != 0)])
        distinct: Array = np.unique(whole.astype(dtype))
        return distinct
    info = np.finfo(dtype)
    positive = np.array(
        [
            *(0, info.smallest_subnormal, info.smallest_normal - info.smallest_subnormal),
            *(info.smallest_normal, 1, 1 + info.eps, info.max, np.inf, np.nan),
        ],
        dtype,
    )
    return np.stack([positive, -positive], axis=1).ravel()


# ---- Cases --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Recipe:
    """The values of a case, for the same case with other shapes.

    Attributes:
        name: the values' part of the case's name.
        values: name of each input -> its values.
    """

    name: str
    values: Mapping[str, Values]


@dataclass(frozen=True, eq=False)
class Case:
    """One call of the operator; str(case) is its name.

    Attributes:
        name: the case's name in the table and on the command line.
        inputs: name of each input -> array, slowest dimension first.
        params: name of each param -> value; params with a default in op.yml may be left out.
        output_dtypes: name of an output -> dtype; default: the dtype in op.yml, or else that of the
            first input. It may differ from the default only in the size of a float.
        origin: file:line that created the case, for messages.
        quantization: name of a quantized tensor -> its quantization. The tensor's arrays are
            integers; the reference gets and returns the numbers that they stand for.
        recorded: name of an output -> array of the model's own framework; a check compares the
            reference with it.
        recorded_tolerance: the tolerated difference of the reference from it.
        recipe: how cases() made the inputs; None: by hand, or recorded.
    """

    name: str
    inputs: Mapping[str, Array]
    params: Mapping[str, Any] = field(default_factory=dict)
    output_dtypes: Mapping[str, DTypeLike] = field(default_factory=dict)
    origin: str = field(default_factory=caller_location, repr=False)
    quantization: Mapping[str, Quantization] = field(default_factory=dict)
    recorded: Mapping[str, Array] = field(default_factory=dict)
    recorded_tolerance: Tolerance = EXACT
    recipe: Recipe | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return self.name

    def reshaped(self, shapes: Mapping[str, tuple[int, ...]]) -> Case:
        """Return the case with other shapes: the one of cases() with these shapes.

        Without a recipe, each element is one of the case's own, at random.

        Args:
            shapes: the shape of each input; no input of a case without a recipe is empty.
        """
        dtypes = {name: array.dtype for name, array in self.inputs.items()}
        sampled = {name: _elements_of(array) for name, array in self.inputs.items()}
        recipe = self.recipe or Recipe(f"elements-of-{self.name}", sampled)
        title = _title(shapes, dtypes, recipe.name, self.params if self.recipe else {})
        inputs = _inputs(title, shapes, dtypes, recipe.values)
        return replace(self, name=title, inputs=inputs, recorded={})


def _elements_of(array: Array) -> Values:
    """Return the values of a case made by hand: elements of its array."""
    return Values(
        "elements", "elements", lambda shape, _, random, __: random.choice(array.ravel(), shape)
    )


def _title(
    shapes: Mapping[str, tuple[int, ...]],
    dtypes: Mapping[str, np.dtype[Any]],
    values: str,
    params: Mapping[str, Any],
) -> str:
    """Return the name of a case."""
    parts = ["+".join(formatted(shape, "x") for shape in shapes.values())]
    names = dict.fromkeys(dtype.name for dtype in dtypes.values())
    if set(names) != {"float16"}:
        parts.append("+".join(names))
    parts.append(values)
    parts.extend(f"{name}={formatted(value)}" for name, value in params.items())
    return "-".join(parts)


def _inputs(
    title: str,
    shapes: Mapping[str, tuple[int, ...]],
    dtypes: Mapping[str, np.dtype[Any]],
    values: Mapping[str, Values],
) -> dict[str, Array]:
    """Return the inputs of a case, which depend only on its name."""
    inputs = {}
    for index, (name, shape) in enumerate(shapes.items()):
        random = np.random.default_rng(zlib.crc32(f"{title} {name}".encode()))
        with np.errstate(all="ignore"):  # out of range becomes infinite
            inputs[name] = values[name].make(shape, dtypes[name], random, index)
    return inputs


def cases(
    shapes: Iterable[Mapping[str, tuple[int, ...]]],
    values: Iterable[Values | Mapping[str, Values]],
    params: Iterable[Mapping[str, Any]] = ({},),
    dtype: str | Mapping[str, str] = "float16",
) -> list[Case]:
    """Return one case for each combination of shapes, values and params.

    The values of a case depend only on its name: they are the same in every run.

    Args:
        shapes: the shapes of all inputs for each combination, slowest dimension first.
        values: the values of the inputs, such as `uniform(-1, 1)`, for all inputs or by name.
        params: the values of the params for each combination.
        dtype: of all tensors, or by name of inputs and outputs. Default of an input: float16; of an
            output: the dtype in op.yml, or else that of the first input.

    Raises:
        CheckError: an argument is invalid; the message begins with the caller's line.
    """
    origin = caller_location()
    shapes, makers, params = map(_as_list, (shapes, values, params))
    problem = next(_problems_of_arguments(shapes, makers, params, dtype), "")
    if problem:
        raise CheckError(f"{origin}: cases(): {problem}")
    result: list[Case] = []
    taken: set[str] = set()
    for sizes, (values_name, maker), settings in itertools.product(
        shapes, zip(_names(makers), makers, strict=True), params
    ):
        dtypes = {name: np.dtype(_dtype(dtype, name)) for name in sizes}
        by_input = dict.fromkeys(sizes, maker) if isinstance(maker, Values) else maker
        title = _title(sizes, dtypes, values_name, settings)
        numbered = (f"{title}-{number}" for number in itertools.count(2))
        case_name = next(each for each in itertools.chain([title], numbered) if each not in taken)
        taken.add(case_name)
        inputs = _inputs(case_name, sizes, dtypes, by_input)
        outputs = (
            {}
            if isinstance(dtype, str)
            else {name: type_ for name, type_ in dtype.items() if name not in sizes}
        )
        recipe = Recipe(values_name, by_input)
        result.append(Case(case_name, inputs, dict(settings), outputs, origin, recipe=recipe))
    return result


def _as_list(values: Any) -> Any:
    """Return an argument of cases() as a list; an invalid one unchanged."""
    if isinstance(values, (str, Mapping)) or not isinstance(values, Iterable):
        return values
    return list(values)


_EXAMPLES = {
    "shapes": '[{"input": (1, 6, 5, 3)}]',
    "values": "[uniform(-1, 1), special()]",
    "params": '[{"size": [4, 4]}]',
}


def _problems_of_arguments(shapes: Any, makers: Any, params: Any, dtype: Any) -> Iterator[str]:
    for name, given in (("shapes", shapes), ("values", makers), ("params", params)):
        example = f"write a list, as {name}={_EXAMPLES[name]}"
        if not isinstance(given, list):
            yield f"{name} is {_kind(given)}; {example}"
        elif not given:
            yield f"{name} is empty; {example}"
        for entry in given:
            if not isinstance(entry, Mapping) and not (
                name == "values" and isinstance(entry, Values)
            ):
                yield f"{name} has {entry!r}; {example}"
    for sizes in shapes:
        for name, shape in sizes.items():
            if not isinstance(shape, (tuple, list)) or not all(map(_is_size, shape)):
                yield f"the shape of '{name}' is {shape!r}; write whole numbers, as (1, 6, 5, 3)"
        for maker in makers:
            for name in [] if isinstance(maker, Values) else sizes:
                if not isinstance(maker.get(name), Values):
                    yield f"values has no entry for input '{name}', which is in shapes"
    by_name = dtype if isinstance(dtype, Mapping) else {"": dtype}
    for name, type_ in by_name.items():
        if type_ not in TENSOR_DTYPES:
            location = f" of '{name}'" if name else ""
            yield f"unknown dtype {type_!r}{location} (expected {', '.join(TENSOR_DTYPES)})"


def _is_size(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 0


def _kind(value: Any) -> str:
    return "a single dict" if isinstance(value, Mapping) else repr(value)


def dtype_and_shape(array: Array) -> str:
    """Return a tensor's dtype and shape for messages, such as `float16 1x6x5x3`."""
    return f"{array.dtype} {'x'.join(map(str, array.shape))}"


def _dtype(dtype: str | Mapping[str, str], name: str) -> str:
    return dtype if isinstance(dtype, str) else dtype.get(name, "float16")


def _names(makers: Sequence[Values | Mapping[str, Values]]) -> list[str]:
    """Return the short names of the values, or the full names if two short names are equal."""

    def name(maker: Values | Mapping[str, Values], attribute: str) -> str:
        parts = [maker] if isinstance(maker, Values) else maker.values()
        return "+".join(dict.fromkeys(str(getattr(part, attribute)) for part in parts))

    short = [name(maker, "name") for maker in makers]
    if len(set(short)) == len(short):
        return short
    return [name(maker, "full_name") for maker in makers]


def formatted(value: Any, separator: str = ",") -> str:
    """Return the value of a param for names of cases and messages, such as `4,4`."""
    if isinstance(value, (list, tuple)):
        return separator.join(formatted(item) for item in value)
    if isinstance(value, float):
        return f"{value:g}"
    return str(int(value)) if isinstance(value, bool) else str(value)
