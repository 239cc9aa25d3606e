"""The records of a run: histogram, sample, and a round trip."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from opkit.check.profile import Profile
from opkit.check.results import (
    SAMPLE,
    Errors,
    Record,
    Result,
    RunningTest,
    errors,
    load,
    output,
    running,
    running_test,
    save,
)
from opkit.check.session import Session


def steps(value: float, count: int) -> float:
    """Return the half `count` representable values above `value`; below, if it is negative."""
    half = np.float16(value)
    for _ in range(abs(count)):
        half = np.nextafter(half, np.float16(np.inf if count > 0 else -np.inf))
    return float(half)


def test_error_histogram() -> None:
    nan, infinity = float("nan"), float("inf")
    pairs = [
        (1, 1),  # 0
        (-0.0, 0),  # 0
        (nan, nan),  # 0
        (infinity, infinity),  # 0
        (steps(1, 1), 1),  # 1
        (65504, infinity),  # -1: the largest half is next to infinity
        (steps(-1, 2), -1),  # 2
        (steps(1, -3), 1),  # -3
        (steps(1, -4), 1),  # -4
        (steps(0, 5), 0),  # 5
        (steps(0, 2), steps(0, -6)),  # 8, across zero
        (1, nan),
        (nan, infinity),
    ]
    kernel, reference = (np.array(side, np.float16) for side in zip(*pairs, strict=True))
    counted = errors(kernel, reference)
    assert counted == Errors({0: 4, 1: 1, -1: 1, 2: 1, -3: 2, 4: 2}, incomparable=2)
    assert counted.total == len(pairs)


def test_bin_widths_double() -> None:
    distance = np.arange(2**16, dtype=np.uint16)
    nothing = np.zeros_like(distance)
    expected = {0: 1, 1: 1, **{k: 2 ** (k - 2) for k in range(2, 17)}}
    expected[17] = 2**15 - 1  # up to 65535, one less than 2**16
    assert errors(distance, nothing) == Errors(expected)
    assert errors(nothing, distance) == Errors({-k: count for k, count in expected.items()})


def test_max_integer_distance() -> None:
    limits = np.iinfo(np.int64)
    low, high = np.array([limits.min]), np.array([limits.max])
    assert errors(high, low) == Errors({65: 1})
    assert errors(low, high) == Errors({-65: 1})


def test_large_output_sample_includes_worst() -> None:
    reference = np.arange(300_000, dtype=np.float32).reshape(3, 1000, 100)
    kernel = reference.copy()
    kernel[1, 234, 56] += 1000
    kept = output("out", kernel, reference)
    assert kept.shape == (3, 1000, 100)
    assert kept.kernel.shape == kept.reference.shape
    assert len(kept.kernel) <= SAMPLE
    assert {0, 123_456, 299_999} <= set(kept.reference)
    assert kept.kernel[list(kept.reference).index(123_456)] == 124_456
    assert kept.errors.bins[0] == 299_999
    again = output("out", kernel, reference)
    np.testing.assert_array_equal(again.kernel, kept.kernel)


def test_small_output_is_not_sampled() -> None:
    reference = np.arange(SAMPLE, dtype=np.int16)
    np.testing.assert_array_equal(output("out", reference, reference).reference, reference)


def test_record_round_trip(tmp_path: Path) -> None:
    half = np.array([[1, np.nan], [np.inf, -0.0]], np.float16)
    wide = np.array([2**63 - 1, -(2**63)], np.int64)
    record = Record(
        Result("CPU kernel, armhf", "1x2 «ä»", "line 1\nline 2", np.inf, 2**63, 1.5e-6),
        "test_cpu_kernel",
        {"input": "float16 1x2"},
        {"size": [3, 10], "align_corners": np.bool_(True), "scale": np.float32(0.5), "n": 2**40},
        (output("halves", half, half), output("wide", wide, wide[::-1])),
    )
    save(tmp_path / "new" / "folder", record)
    (loaded,) = load(tmp_path / "new" / "folder")
    assert loaded.result == record.result
    assert (loaded.test, loaded.inputs) == (record.test, record.inputs)
    assert loaded.params == {"size": [3, 10], "align_corners": True, "scale": 0.5, "n": 2**40}
    for one, other in zip(loaded.outputs, record.outputs, strict=True):
        assert (one.name, one.shape, one.errors) == (other.name, other.shape, other.errors)
        for side in ("kernel", "reference"):
            array = getattr(one, side)
            assert array.dtype == getattr(other, side).dtype
            assert array.tobytes() == getattr(other, side).tobytes()


def test_profile_round_trip(tmp_path: Path) -> None:
    profile = Profile({"math": 1.5, "other": 0.25}, 64, 100)
    save(tmp_path, Record(Result("CPU kernel", "a", profile=profile)))
    (loaded,) = load(tmp_path)
    assert loaded.result.profile == profile


def test_older_record_has_no_profile(tmp_path: Path) -> None:
    save(tmp_path, Record(Result("CPU kernel", "a")))
    (path,) = tmp_path.iterdir()
    with np.load(path) as file:
        about = json.loads(str(file["about"]))
    del about["result"]["profile"]
    np.savez(path, about=np.array(json.dumps(about)))
    (loaded,) = load(tmp_path)
    assert loaded.result == Result("CPU kernel", "a")


def test_crash_record_has_no_outputs(tmp_path: Path) -> None:
    save(tmp_path, Record(Result("CPU kernel", "a", "the kernel crashes")))
    (loaded,) = load(tmp_path)
    assert loaded.result == Result("CPU kernel", "a", "the kernel crashes")
    assert loaded.outputs == ()


def test_records_load_in_run_order(tmp_path: Path) -> None:
    names = [f"case {number}" for number in (3, 1, 20, 2)]
    for name in names:
        save(tmp_path, Record(Result("CPU kernel", name)))
    assert [record.result.case for record in load(tmp_path)] == names
    assert load(tmp_path / "nothing") == []


def test_running_test_results_are_isolated() -> None:
    outer, inner = RunningTest(function="outer"), RunningTest(function="inner")
    with running(outer):
        with running(inner):
            running_test().results.append(Result("CPU kernel", "a"))
        assert running_test() is outer
    assert (len(inner.results), outer.results) == (1, [])
    assert running_test().results == []
    assert running_test().session == Session()
