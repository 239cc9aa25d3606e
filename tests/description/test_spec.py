"""op.yml -> OpSpec: valid descriptions, with their order kept. Invalid ones: bad_descriptions."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import settings as fewer
from hypothesis import strategies as st

from opkit.description.reader import DescriptionError
from opkit.description.spec import AUTO_THREADS
from opkit.description.types import PARAM_TYPES, ParamType
from opkit.description.words import keyword_of
from opkit.runtimes import parse
from opkit.runtimes.rknn.boards import CHIPS, TARGETS
from opkit.runtimes.rknn.scons.package import package_description
from opkit.runtimes.rknn.settings import has_vx_kernel, settings
from tests.description.descriptions import documents

GUIDE = """\
name: ResizeArea
framework: tensorflow
target_platform: RK1808        # optional, any case; default rk1808
inputs:
  input: {type: VX_TYPE_TENSOR}
outputs:
  output: {type: VX_TYPE_TENSOR}
params:
  size: {type: VX_TYPE_ARRAY}
  align_corners: {type: VX_TYPE_BOOL}
"""
MINIMAL = "name: A\ninputs: {x: {type: VX_TYPE_TENSOR}}\noutputs: {y: {type: VX_TYPE_TENSOR}}\n"


def test_vendor_guide_example() -> None:
    spec = parse(GUIDE)
    assert (spec.name, spec.lower, spec.framework) == ("ResizeArea", "resizearea", "tensorflow")
    assert (spec.target_platform, settings(spec).kernel_index) == ("rk1808", 0)
    assert [p.name for p in spec.parameters] == ["input", "output", "size", "align_corners"]
    assert [p.type.name for p in spec.params] == ["VX_TYPE_ARRAY", "VX_TYPE_BOOL"]


def test_equal_descriptions_are_one_key() -> None:
    assert {parse(GUIDE): 1}[parse(GUIDE)] == 1


def test_defaults() -> None:
    spec = parse(MINIMAL)
    assert (spec.target_platform, spec.framework, spec.params) == ("rk1808", "tensorflow", ())
    assert parse(MINIMAL + "params:\n") == spec


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("int", "VX_TYPE_INT64"),
        ("float", "VX_TYPE_FLOAT32"),
        ("ints", "VX_TYPE_ARRAY"),
        ("vx_type_int8", "VX_TYPE_INT8"),
    ],
)
def test_words_for_param_types(word: str, name: str) -> None:
    (param,) = parse(MINIMAL + f"params: {{p: {{type: {word}}}}}").params
    assert param.type.name == name


def test_outputs_with_the_shape_of_an_input() -> None:
    text = MINIMAL.replace("outputs: {y: {", "outputs: {y: {same_as: x, ")
    assert [output.same_as for output in parse(text).outputs] == ["x"]
    assert parse(MINIMAL).outputs[0].same_as is None


def test_dtypes_of_tensors() -> None:
    text = MINIMAL.replace("inputs: {x: {", "inputs: {x: {dtype: int16, ")
    spec = parse(text)
    assert (spec.inputs[0].dtype, spec.outputs[0].dtype) == ("int16", None)


@pytest.mark.parametrize("chip", CHIPS)
def test_chips_are_case_insensitive(chip: str) -> None:
    for text in (chip, chip.upper(), chip.capitalize()):
        assert parse(MINIMAL + f"target_platform: {text}").target_platform == chip


def test_package_description_can_be_parsed() -> None:
    packed = "op_version: 2\nout_binary: A.rknnop\nop_py_file: rknn_op_a.py\nvx_file: a.vx\n"
    assert parse(MINIMAL + packed) == parse(MINIMAL)


@pytest.mark.parametrize(
    ("line", "kernels"),
    [
        ("", ("cpu", "vx")),
        ("kernels: [cpu]", ("cpu",)),
        ("kernels: [cpu, vx]", ("cpu", "vx")),
        ("kernels: [VX, Cpu]", ("cpu", "vx")),
        ("kernels: [cpu, vx]\nkernel_index: 1", ("cpu", "vx")),
    ],
)
def test_kernels(line: str, kernels: tuple[str, ...]) -> None:
    spec = parse(f"{MINIMAL}{line}\n")
    assert spec.kernels == kernels
    assert has_vx_kernel(spec) == (len(kernels) == 2)


@pytest.mark.parametrize(("line", "version"), [("", 1), ("vx_version: 1", 1), ("vx_version: 2", 2)])
def test_vx_version(line: str, version: int) -> None:
    assert settings(parse(f"{MINIMAL}{line}\n")).vx_version == version


def test_added_keys() -> None:
    spec = parse(
        MINIMAL + "params:\n"
        "  size: {type: vx_type_array, doc: 'height,\n    width', source: const:size, length: 2,"
        " default: [3, -4]}\n"
        "  eps: {type: VX_TYPE_FLOAT32, default: 1}\n"
        "  on_off: {type: VX_TYPE_BOOL, default: false}\n"
    )
    size, eps, on_off = spec.params
    assert (size.doc, size.source, size.length) == ("height, width", "const:size", 2)
    assert size.default == (3, -4)
    assert (eps.default, type(eps.default), on_off.default) == (1.0, float, False)


@pytest.mark.parametrize(
    "type_",
    [t for t in PARAM_TYPES.values() if t.element.kind in ("int", "uint") and not t.is_text],
    ids=lambda t: t.name,
)
def test_default_limits_match_type(type_: ParamType) -> None:
    def described(value: object) -> str:
        default = f"[{value}]" if type_.is_list else f"{value}"
        return MINIMAL + f"params: {{p: {{type: {type_.name}, default: {default}}}}}"

    limits = type_.element.limits
    assert limits is not None
    low, high = limits
    for good in (low, high, 0):
        parse(described(good))
    for bad in (low - 1, high + 1, 0.5, "a", "true"):
        with pytest.raises(DescriptionError, match=r"op\.yml:4: params\.p\.default") as error:
            parse(described(bad))
        assert f"must be a whole number from {low} to {high}, not '{bad}'" in str(error.value)


@given(documents())
@fewer(max_examples=40, deadline=None)
def test_spec_holds_what_was_described(document: dict[str, Any]) -> None:
    spec = parse(yaml.safe_dump(document, sort_keys=False, allow_unicode=True))
    assert spec.name == document["name"]
    assert [(t.name, t.doc, t.dtype) for t in spec.inputs] == [
        (name, facts["doc"], facts.get("dtype")) for name, facts in document["inputs"].items()
    ]
    assert [t.name for t in spec.outputs] == [*document["outputs"]]
    for param, (name, facts) in zip(spec.params, document["params"].items(), strict=True):
        default = list(param.default) if isinstance(param.default, tuple) else param.default
        assert (param.name, param.type.name, param.doc) == (name, facts["type"], facts["doc"])
        assert (param.length, default) == (facts.get("length"), facts.get("default"))
    packed = parse(package_description(spec, "rv1126"))
    assert [(p.name, p.type) for p in packed.params] == [(p.name, p.type) for p in spec.params]
    assert [p.name for p in packed.parameters] == [p.name for p in spec.parameters]


@given(st.text(max_size=200))
def test_random_text_raises_description_error_only(text: str) -> None:
    try:
        parse(text)
    except DescriptionError as error:
        assert str(error).startswith("op.yml:")


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("int", "C"),
        ("restrict", "C"),
        ("NULL", "C"),
        ("float16", "OpenCL"),
        ("uchar3", "OpenCL"),
        ("image2d_array_t", "OpenCL"),
        ("lambda", "Python"),
        ("None", "Python"),
        ("float5", None),
        ("size", None),
        ("axis", None),
    ],
)
def test_reserved_words(name: str, language: str | None) -> None:
    assert keyword_of(name) == language


def test_every_chip_is_in_one_family() -> None:
    families = [(TARGETS[chip].family, chip) for chip in CHIPS]
    assert families == [
        *(("rk1808", chip) for chip in ("rk1806", "rk1808", "rk3399pro")),
        *(("rv1126", chip) for chip in ("rv1109", "rv1126")),
    ]
    assert tuple(TARGETS) == CHIPS


@pytest.mark.parametrize(
    ("line", "threads"),
    [
        ("", 1),
        ("threads: 1", 1),
        ("threads: 4", 4),
        ("threads: 64", 64),
        ("threads: auto", AUTO_THREADS),
        ("threads: AUTO", AUTO_THREADS),
    ],
)
def test_threads(line: str, threads: int) -> None:
    spec = parse(f"{MINIMAL}runtimes: [rknn2]\n{line}\n")
    assert (spec.threads, spec.has_threads) == (threads, threads != 1)


def test_one_thread_is_for_every_runtime() -> None:
    assert parse(f"{MINIMAL}threads: 1\n") == parse(MINIMAL)
