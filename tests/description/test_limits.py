"""Values at a limit of a description, and just beyond it."""

from __future__ import annotations

import pytest

from opkit import runtimes


def problems(runtime: str, params: str = "", name: str = "Op") -> list[str]:
    """Return the complaints about a description, without their places."""
    text = (
        f"name: {name}\nruntimes: [{runtime}]\ninputs: {{x: {{type: VX_TYPE_TENSOR}}}}\n"
        f"outputs: {{y: {{type: VX_TYPE_TENSOR}}}}\nparams: {{{params}}}\n"
    )
    _, complaints = runtimes.complaints(text)
    return [str(each).partition(f"{each.field}: ")[2] for each in complaints]


@pytest.mark.parametrize(
    ("runtime", "limit", "device"),
    [
        ("rknn", 127, "the board"),
        ("rknn2", 127, "librknnrt"),
        ("rknn2, rknn", 127, "librknnrt"),
    ],
)
def test_names(runtime: str, limit: int, device: str) -> None:
    param = f"{limit * 'p'}: {{type: VX_TYPE_INT32}}"
    assert problems(runtime, param, limit * "O") == []
    message = f"has {limit + 1} characters; {device} allows {limit}"
    assert problems(runtime, name=(limit + 1) * "O") == [message]
    assert problems(runtime, f"p{param}") == [message]


@pytest.mark.parametrize(
    ("runtime", "limit", "device"), [("rknn", 128, "the board"), ("rknn2", 1024, "librknnrt")]
)
def test_parameters(runtime: str, limit: int, device: str) -> None:
    entries = [f"p{index}: {{type: VX_TYPE_INT32}}" for index in range(limit - 1)]
    assert problems(runtime, ", ".join(entries[:-1])) == []
    assert problems(runtime, ", ".join(entries)) == [f"{device} takes at most {limit} parameters"]


@pytest.mark.parametrize(
    ("runtime", "of", "limit"),
    [("rknn", "rknn", 16), ("rknn2", "rknn2", 20_000), ("rknn2, rknn", "rknn", 16)],
)
def test_lengths(runtime: str, of: str, limit: int) -> None:
    for length in (1, limit):
        assert problems(runtime, f"p: {{type: VX_TYPE_ARRAY, length: {length}}}") == []
    for wrong in (0, limit + 1, 1.0, "true"):
        assert problems(runtime, f"p: {{type: VX_TYPE_ARRAY, length: {wrong}}}") == [
            f"invalid '{wrong}' (expected 1 to {limit:,}, the limit of the runtime {of})"
        ]


def test_paths() -> None:
    def problem(path: str) -> str:
        _, complaints = runtimes.complaints(
            "name: Op\nruntimes: [rknn2]\ninputs: {x: {type: VX_TYPE_TENSOR}}\n"
            f"outputs: {{y: {{type: VX_TYPE_TENSOR}}}}\nsources: [{path}]\n"
        )
        return " ".join(str(each) for each in complaints)

    assert problem("a/" + "b" * 196 + ".c") == ""
    assert "is too long (expected 200 characters at most)" in problem("a/" + "b" * 197 + ".c")


def test_items_of_defaults() -> None:
    for count in (1, 16):
        assert problems("rknn", f"p: {{type: VX_TYPE_ARRAY, default: {[0] * count}}}") == []
    for count in (0, 17):
        assert problems("rknn", f"p: {{type: VX_TYPE_ARRAY, default: {[0] * count}}}") == [
            f"has {count} items; the runtime rknn takes 1 to 16"
        ]
    for count in (1, 3):
        default = f"{{type: VX_TYPE_ARRAY, length: 2, default: {[0] * count}}}"
        assert problems("rknn", f"p: {default}") == [f"has {count} items, but length is 2"]


def test_floats() -> None:
    for value in ("3.4028234e+38", "-3.4028234e+38"):
        assert problems("rknn", f"p: {{type: VX_TYPE_FLOAT32, default: {value}}}") == []
    for value in ("3.4028236e+38", "-3.4028236e+38", ".inf", ".nan"):
        (problem,) = problems("rknn", f"p: {{type: VX_TYPE_FLOAT32, default: {value}}}")
        assert problem.endswith("is out of range for VX_TYPE_FLOAT32")


def test_bytes_of_texts() -> None:
    text = 127 * "é" + "a"
    assert problems("rknn2", f"p: {{type: string, default: {text}}}") == []
    assert problems("rknn2", f"p: {{type: string, default: {text}b}}") == [
        "has 256 bytes (expected 255 at most)"
    ]


def test_no_runtimes() -> None:
    assert problems("") == ["is empty (expected rknn, pplnn, rknn2)"]
    (problem,) = problems("rknn, rk")
    assert problem.startswith("unknown runtime 'rk'; did you mean 'rknn'? (expected rknn,")
