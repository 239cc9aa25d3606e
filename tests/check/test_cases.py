"""The names and the values of cases(); test_mistakes.py has invalid arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from opkit.runtimes.invocation import Array
from opkit.testing import Values, cases, integers, ramp, special, uniform


def values_of(values: Values, count: int, dtype: str) -> Array:
    return cases([{"x": (count,)}], [values], dtype=dtype)[0].inputs["x"]


# dtype -> the magnitudes of its special values, as integers of its bits
FLOATS: dict[str, list[int]] = {
    "float16": [0, 1, 0x3FF, 0x400, 0x3C00, 0x3C01, 0x7BFF, 0x7C00],
    "float32": [0, 1, 0x7FFFFF, 0x800000, 0x3F800000, 0x3F800001, 0x7F7FFFFF, 0x7F800000],
}


@pytest.mark.parametrize("dtype", FLOATS)
def test_special_floats(dtype: str) -> None:
    """Positive and negative take turns; the last two are NaN."""
    values = values_of(special(), 18, dtype)
    magnitudes = np.array(FLOATS[dtype], f"uint{8 * values.itemsize}").view(dtype)
    assert values[0:16:2].tobytes() == magnitudes.tobytes()
    assert values[1:16:2].tobytes() == (-magnitudes).tobytes()
    assert np.isnan(values[16:]).all()
    assert np.signbit(values[16:]).tolist() == [False, True]


@pytest.mark.parametrize(
    ("dtype", "expected"),
    {
        "bool": [False, True],
        "uint8": [0, 1, 255],
        "int8": [-128, -1, 0, 1, 127],
        "int16": [-32768, -1, 0, 1, 32767],
        "int32": [-(2**31), -1, 0, 1, 2**31 - 1],
        "int64": [-(2**63), -1, 0, 1, 2**63 - 1],
    }.items(),
)
def test_special_integers(dtype: str, expected: list[Any]) -> None:
    assert values_of(special(), len(expected) + 1, dtype).tolist() == [*expected, expected[0]]


def test_special_values_of_an_input_step_by_its_index() -> None:
    x, y, z = cases([dict.fromkeys("xyz", (9,))], [special()], dtype="uint8")[0].inputs.values()
    assert x.tolist() == [0, 1, 255, 0, 1, 255, 0, 1, 255]
    assert y.tolist() == [0, 1, 255, 1, 255, 0, 255, 0, 1]
    assert z.tolist() == [0, 1, 255, 255, 0, 1, 1, 255, 0]


@pytest.mark.parametrize(
    ("dtype", "period"),
    {"bool": 2, "int8": 127, "uint8": 255, "int16": 1024, "float16": 1024, "int64": 1024}.items(),
)
def test_ramp_begins_again(dtype: str, period: int) -> None:
    values = values_of(ramp(), 2 * period + 1, dtype)
    assert values.tolist() == [*range(period), *range(period), 0]


def test_bounds_are_included() -> None:
    assert set(values_of(integers(-2, 1), 100, "int16").tolist()) == {-2, -1, 0, 1}
    assert set(values_of(uniform(-2, 1), 100, "int16").tolist()) == {-2, -1, 0, 1}
    assert 40 < values_of(uniform(5, 7), 100, "bool").sum() < 60


def test_dtypes_by_name() -> None:
    (case,) = cases([{"x": (1,), "y": ()}], [ramp()], dtype={"x": "bool", "z": "float32"})
    assert {name: array.dtype.name for name, array in case.inputs.items()} == {
        "x": "bool",
        "y": "float16",
    }
    assert case.output_dtypes == {"z": "float32"}
    assert str(case) == "1+-bool+float16-ramp"


def test_values_by_name() -> None:
    (case,) = cases([{"x": (2,), "y": (2,)}], [{"x": ramp(), "y": integers(7, 7)}])
    assert {name: array.tolist() for name, array in case.inputs.items()} == {
        "x": [0, 1],
        "y": [7, 7],
    }


def test_params_in_names() -> None:
    params = {"flag": True, "scale": 0.5, "big": 1e9, "size": (2, 3), "text": "a"}
    (case,) = cases([{"x": (0,)}], [ramp()], [params])
    assert str(case) == "0-ramp-flag=1-scale=0.5-big=1e+09-size=2,3-text=a"


SHAPE, RAMP = {"x": (1,)}, ramp()


def test_equal_names_get_arguments_and_numbers() -> None:
    made = cases([SHAPE], [uniform(0, 1), integers(0, 1), RAMP])
    assert [*map(str, made)] == ["1-uniform", "1-integers", "1-ramp"]
    made = cases([SHAPE], [uniform(0, 1), uniform(0, 2)], [{}, {}, {}])
    names = ["1-uniform(0,1)", "1-uniform(0,2)"]
    assert [*map(str, made)] == [f"{name}{end}" for name in names for end in ("", "-2", "-3")]
