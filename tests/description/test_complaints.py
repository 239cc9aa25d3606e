"""All errors of a description are reported at once, without errors that follow from others."""

from __future__ import annotations

from pathlib import Path

import pytest

from opkit import runtimes
from opkit.description.parser import MAX_COMPLAINTS
from opkit.description.reader import DescriptionError
from tests.description.test_bad_descriptions import FILES

GOOD = """\
name: Op
runtimes: [rknn2]
inputs:
  x: {type: VX_TYPE_TENSOR}
outputs:
  y: {type: VX_TYPE_TENSOR, same_as: x}
params:
  p: {type: VX_TYPE_INT32, default: 3}
"""


def complaints(text: str) -> list[str]:
    """Return line, column and field of each complaint."""
    spec, found = runtimes.complaints(text, "some.yml")
    assert (spec is None) == bool(found)
    assert all(each.file == "some.yml" and each.severity == "error" for each in found)
    return [f"{each.line}:{each.column} {each.field}" for each in found]


def changed(*changes: tuple[str, str]) -> str:
    text = GOOD
    for there, instead in changes:
        assert there in text
        text = text.replace(there, instead, 1)
    return text


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_first_error_is_among_all(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    spec, found = runtimes.complaints(text, "some.yml")
    assert spec is None
    with pytest.raises(DescriptionError) as error:
        runtimes.parse(text, "some.yml")
    assert str(error.value) in map(str, found)
    assert str(error.value) == str(error.value.complaint)


def test_valid_description_has_no_complaints() -> None:
    assert runtimes.complaints(GOOD) == (runtimes.parse(GOOD), [])


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("name: Op: b\n", "1:9"),
        ("name: @Op\n", "1:7"),
        ("name: Op\nparams:\n\tp: 1\n", "3:1"),
        ("name: Op\nparams\n  p: 1\n", "2:1"),
        ("name: Op\n  doc: a\n", "2:3"),
        ("name: Op\nruntimes: [a\ninputs: {}\n", "2:11"),
        ("name: Op\nruntimes: [a b}\n", "2:15"),
        ("name: Op\ndoc: 'a\nruntimes: [rknn]\n", "2:6"),
        ('name: Op\ndoc: "a\\q"\n', "2:9"),
        ("name: Op\ndoc: *none\n", "2:6"),
        ("name: Op\n---\nname: b\n", "2:1"),
    ],
)
def test_place_of_a_syntax_error(text: str, place: str) -> None:
    assert [each.strip() for each in complaints(text)] == [place]


def test_every_complaint_at_once() -> None:
    text = """\
name: double
framework: keras
target_platform: rk9
runtimes: [rknn2]
inputs:
  int: {type: VX_TYPE_TENSR, dtype: int8, colour: red}
  1: {type: VX_TYPE_TENSOR}
outputs:
  y: {type: VX_TYPE_TENSOR, same_as: z, dtype: int9, doc: [a]}
params:
  Y: {type: VX_TYPE_INT8, default: 300, length: 3, source: foo}
  q: {type: VX_TYPE_ARRAY, default: [a, 1, 2.5]}
  name: {}
sources: [a.x, b.c, ./b.c, {}]
cflags: [--x, -I.]
op_type: Gelu
colour: red
"""
    expected = """
        1:7 name, 2:12 framework, 3:18 target_platform,
        6:3 inputs.int, 6:15 inputs.int.type, 6:37 inputs.int.dtype, 6:43 inputs.int.colour,
        7:3 inputs, 9:38 outputs.y.same_as, 9:48 outputs.y.dtype, 9:59 outputs.y.doc,
        11:3 params.Y, 11:36 params.Y.default, 11:49 params.Y.length, 11:60 params.Y.source,
        12:38 params.q.default[0], 12:44 params.q.default[2], 13:3 params.name,
        13:3 params.name.type, 14:11 sources[0], 14:21 sources[2], 14:28 sources[3],
        15:10 cflags[0], 15:15 cflags[1], 16:10 op_type, 17:1 colour
    """
    assert complaints(text) == [" ".join(each.split()) for each in expected.split(",")]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([("inputs:", "imputs:")], ["3:1 imputs"]),
        ([("{type: VX_TYPE_INT32", "{typ: VX_TYPE_INT32")], ["8:7 params.p.typ"]),
        ([("x: {", "if: {"), ("same_as: x", "same_as: if")], ["4:3 inputs.if"]),
        ([("x: {", "yes: {"), ("same_as: x", "same_as: yes")], ["4:3 inputs"]),
        ([("INT32, default: 3", "X, length: a, default: a")], ["8:13 params.p.type"]),
        ([("rknn2", "rk"), ("name: Op", "name: Op\ntarget_platform: x")], ["3:12 runtimes[0]"]),
        ([("rknn2", "rk"), ("name: Op", "op_type: A\nname: Op")], ["3:12 runtimes[0]"]),
        ([("rknn2", "rk"), ("VX_TYPE_INT32, default: 3", "string")], ["2:12 runtimes[0]"]),
        ([("[rknn2]", "[rknn]\nkernels: [gpu]\nkernel_index: 1")], ["3:11 kernels[0]"]),
        ([("inputs:\n  x: {type: VX_TYPE_TENSOR}\n", "")], ["1:1 inputs"]),
        ([("name: Op\n", "name: Op\nname: if\n")], ["2:1 name"]),
    ],
)  # fmt: skip
def test_consequences_are_not_reported(changes: list[tuple[str, str]], expected: list[str]) -> None:
    assert complaints(changed(*changes)) == expected


def test_missing_key_beside_unknown_one() -> None:
    text = changed(("name: Op", "colour: red"))
    assert complaints(text) == ["1:1 colour", "1:1 name"]


def test_complaints_are_limited() -> None:
    text = GOOD + "".join(f"  p{i}: {{type: VX_TYPE_X}}\n" for i in range(2 * MAX_COMPLAINTS))
    assert len(complaints(text)) == MAX_COMPLAINTS == 100


def test_too_many_parameters_are_one_complaint() -> None:
    text = GOOD.replace("rknn2", "rknn")
    text += "".join(f"  p{i}: {{type: VX_TYPE_INT32}}\n" for i in range(200))
    assert complaints(text) == ["134:3 params.p125"]


@pytest.mark.parametrize(
    ("type_", "runtime", "hint"),
    [
        ("VX_TYPE_INT", "rknn", "did you mean VX_TYPE_INT32?"),
        ("int32", "rknn", "did you mean VX_TYPE_INT32?"),
        ("double", "pplnn", "did you mean VX_TYPE_FLOAT64?"),
        ("VX_TYPE_STRING", "pplnn", "did you mean `string`?"),
        ("VX_TYPE_FLOATS", "rknn2", "did you mean `floats`?"),
        ("VX_TYPE_UNIT8", "rknn2", "did you mean VX_TYPE_UINT8?"),
        ("VX_TYPE_COLOUR", "rknn2", ""),
        (
            "VX_TYPE_STRING",
            "rknn",
            "RKNN-Toolkit does not deliver it; use a VX_TYPE_INT32 for each choice (`string` is "
            "for pplnn and rknn2)",
        ),
    ],
)
def test_type_hint(type_: str, runtime: str, hint: str) -> None:
    text = changed(("VX_TYPE_INT32, default: 3", type_), ("rknn2", runtime))
    _, (complaint,) = runtimes.complaints(text)
    assert complaint.hint == hint
    assert complaint.message.startswith(f"invalid '{type_}' (expected VX_TYPE_BOOL, VX_TYPE_ARRAY")


def test_fp16_math_is_for_runtimes_of_processors_with_it() -> None:
    text = changed(("[rknn2]", "[rknn, rknn2]\nfp16_math: true"))
    spec, found = runtimes.complaints(text, "some.yml")
    assert spec is not None
    assert spec.fp16_math
    assert [(each.severity, str(each)) for each in found] == [
        (
            "note",
            "some.yml:3: fp16_math: without effect for rknn: with RKNN-Toolkit, none of its "
            "targets has arithmetic of halves",
        )
    ]
    for line, problem in (
        (
            "[pplnn]\nfp16_math: true",
            "no runtime of the operator computes with halves: with PPLNN, none of its targets has "
            "arithmetic of halves; delete the key; it is for rknn2",
        ),
        ("[rknn2]\nfp16_math: 1", "invalid '1' (expected true, false)"),
    ):
        _, (complaint,) = runtimes.complaints(changed(("[rknn2]", line)), "some.yml")
        assert (complaint.line, complaint.field) == (3, "fp16_math")
        assert str(complaint).endswith(problem)


def test_fp16_math_is_for_floats() -> None:
    text = """\
name: Twice
runtimes: [rknn2]
elementwise: true
fp16_math: true
inputs: {x: {type: VX_TYPE_TENSOR, dtype: int32}}
outputs: {y: {type: VX_TYPE_TENSOR}}
"""
    _, (complaint,) = runtimes.complaints(text, "some.yml")
    assert "'x' is int32 (expected float16, float32)" in str(complaint)
    assert complaint.line == 4


def test_note_on_runtime_without_threads() -> None:
    text = changed(("[rknn2]", "[rknn, rknn2, pplnn]\nthreads: auto"))
    spec, found = runtimes.complaints(text, "some.yml")
    assert spec is not None
    assert [(each.severity, str(each)) for each in found] == [
        (
            "note",
            "some.yml:3: threads: without effect for rknn: with RKNN-Toolkit, the driver of its "
            "boards calls kernels in a thread of its own",
        )
    ]
    for line in ("[rknn2, pplnn]\nthreads: 3", "[rknn, rknn2]\nthreads: 1"):
        assert runtimes.complaints(changed(("[rknn2]", line)), "some.yml")[1] == []
