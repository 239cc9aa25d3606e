"""The rules of a description for RKNN-Toolkit2."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from opkit import runtimes
from opkit.description.reader import DescriptionError
from opkit.runtimes import parse
from opkit.runtimes.rknn2.describe import settings
from tests.repositories import ROOT

HEAD = "name: {name}\nruntimes: [{runtimes}]\n"
TENSORS = "inputs: {x: {type: VX_TYPE_TENSOR}}\noutputs: {y: {type: VX_TYPE_TENSOR}}\n"


def text(more: str = "", name: str = "Window", runtimes: str = "rknn2") -> str:
    return HEAD.format(name=name, runtimes=runtimes) + TENSORS + more


def test_defaults() -> None:
    spec = parse(text())
    assert settings(spec).op_type == "cstWindow"
    assert (spec.framework, spec.target_platform) == ("onnx", "rk3588")


def test_op_type() -> None:
    assert settings(parse(text("op_type: MyWindow"))).op_type == "MyWindow"
    assert settings(parse(text(name="Exp"))).op_type == "cstExp"


def test_description_for_both_toolkits() -> None:
    spec = parse(text("target_platform: RV1126", runtimes="rknn, rknn2"))
    assert (spec.framework, spec.target_platform) == ("tensorflow", "rv1126")


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (
            "op_type: Gelu",
            "op.yml:5: op_type: 'Gelu' is an operator of ONNX that opset 19 does not",
        ),
        ("op_type: Swish", "write `op_type: cstSwish`, and rename the nodes"),
        ("op_type: a-b", "'a-b' is not an operator's name"),
        ("op_type: [A]", "op_type: must be one word or text"),
        ("op_type: " + "a" * 256, "is longer than 255 characters"),
        ("params: {name: {type: int}}", "op.yml:5: params.name: librknnrt keeps the attribute"),
        (
            "params: {p: {type: string, source: 'const:p'}}",
            "params.p.source: a text is an attribute",
        ),
        ("params: {p: {type: VX_TYPE_TENSOR}}", "a tensor is an input or an output, not a param"),
        ("target_platform: RV1106", "RV1106 has no custom operators: RKNN-Toolkit2 converts"),
        ("target_platform: rv1103b", "RV1103B has no custom operators"),
        ("target_platform: rk2118", "RK2118 has no custom operators"),
        ("target_platform: rk9999", "unknown value 'rk9999'"),
        ("kernel_index: 0", "is a key of the runtime rknn"),
    ],
)
def test_refusals(more: str, problem: str) -> None:
    with pytest.raises(DescriptionError, match=re.escape(problem)):
        parse(text(more))


@pytest.mark.parametrize(
    ("param", "number"),
    [
        ("{type: int, default: 2147483648}", "2147483648"),
        ("{type: VX_TYPE_UINT32, default: 4294967295}", "4294967295"),
        ("{type: float, default: 1.0e-40}", "1e-40"),
        ("{type: floats, default: [1, -1.0e-45]}", "-1e-45"),
        ("{type: int, default: -2147483648}", ""),
        ("{type: float, default: 3000000000}", ""),
        ("{type: floats, default: [0, 3.4e+38]}", ""),
        ("{type: string, default: '9999999999'}", ""),
    ],
)
def test_default_out_of_range_for_an_attribute(param: str, number: str) -> None:
    description = text(f"params: {{p: {param}}}")
    spec, found = runtimes.complaints(description)
    assert spec == parse(description)
    assert [str(each) for each in found] == [
        f"op.yml:5: params.p.default: {number} is out of range for an attribute, at which "
        "librknnrt aborts; it works only where nodes omit the attribute"
    ][: bool(number)]
    assert all(each.severity == "warning" for each in found)
    assert runtimes.complaints(description.replace("[rknn2]", "[pplnn]"))[1] == []


def test_name_that_librknnrt_does_not_hand_over() -> None:
    """A default may be on purpose: q_num_heads of the library's Attention is 0."""
    description = text(
        "params: {q_heads: {type: int}, q_size: {type: int, default: 0}, qs: {type: int}}"
    )
    _, found = runtimes.complaints(description)
    assert [str(each) for each in found] == [
        "op.yml:5: params.q_heads: librknnrt 1.6.0 hands over no attribute whose name begins "
        "with q_, so that the operator fails there; choose another name, or a `default` from which "
        "the value is computed"
    ]
    assert [each.severity for each in found] == ["note"]
    assert runtimes.complaints(description.replace("[rknn2]", "[pplnn]"))[1] == []


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "uint32"])
def test_unsupported_dtypes_of_tensors(dtype: str) -> None:
    outputs = f"outputs: {{y: {{type: VX_TYPE_TENSOR, dtype: {dtype}}}}}\n"
    with pytest.raises(DescriptionError, match="RKNN-Toolkit2 has no such tensors"):
        parse(text().partition("outputs")[0] + outputs)


def test_longest_name() -> None:
    assert settings(parse(text(name="W" * 127))).op_type == "cst" + "W" * 127
    with pytest.raises(DescriptionError, match="has 128 characters; librknnrt allows 127"):
        parse(text(name="W" * 128))


@pytest.mark.slow
def test_new_description_for_both_toolkits(tmp_path: Path) -> None:
    subprocess.run(
        [*(sys.executable, "-m", "cookiecutter", str(ROOT), "--no-input"), "runtimes=rknn2, rknn"],
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path)},
        check=True,
        capture_output=True,
    )
    spec = parse((tmp_path / "MyOperator/op.yml").read_text())
    assert (spec.runtimes, spec.target_platform) == (("rknn2", "rknn"), "rk3588")
    assert spec.framework == "tensorflow"


@pytest.mark.parametrize("more", ["params: 3", "params: [a]", "params: {[a]: b}", "name: 2"])
def test_malformed_descriptions_are_refused(more: str) -> None:
    with pytest.raises(DescriptionError):
        parse(text(more))
