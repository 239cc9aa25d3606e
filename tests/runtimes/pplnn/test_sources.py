"""The files for ppl.nn: their paths, their format, and their settings in op.yml."""

from __future__ import annotations

import re

import pytest

from opkit import runtimes
from opkit.description.reader import DescriptionError
from opkit.description.spec import OpSpec
from opkit.files.generation import generated_files
from opkit.files.skeletons import once_only_files
from opkit.runtimes.pplnn.describe import Settings, settings
from opkit.runtimes.pplnn.sources import sources
from opkit.runtimes.pplnn.tree_names import domain_folder, names
from tests.repositories import EXAMPLE_NAMES
from tests.runtimes.pplnn.engines import example
from tests.runtimes.pplnn.test_engines import EVERY_KIND

DESCRIPTION = """\
name: Scale
runtimes: [pplnn]
{more}
inputs: {{x: {{type: VX_TYPE_TENSOR}}}}
outputs: {{y: {{type: VX_TYPE_TENSOR, same_as: x}}}}
params: {{{params}}}
"""


def described(more: str = "", params: str = "") -> str:
    return DESCRIPTION.format(more=more, params=params)


COMMON = [
    *("engines/{e}/kernels/custom/scale_kernel.cc", "engines/{e}/kernels/custom/scale_kernel.h"),
    *(
        "engines/{e}/optimizer/ops/custom/scale_op.cc",
        "engines/{e}/optimizer/ops/custom/scale_op.h",
    ),
]
OPUTILS = ["scale.cc", "scale.h", "scale_files.h", "scale_glue.cc", "scale_glue.h"]
WITH_PARAMS = [
    "models/onnx/parsers/custom/parse_scale_param.cc",
    "models/onnx/parsers/custom/parse_scale_param.h",
    "params/custom/scale_param.h",
]


@pytest.mark.parametrize("params", ["", "a: {type: float}"])
def test_file_set(params: str) -> None:
    expected = [each.format(e=engine) for engine in ("riscv", "x86") for each in COMMON]
    expected += [f"oputils/custom/{name}" for name in (*OPUTILS, "scale_math_files.h")]
    expected += WITH_PARAMS if params else []
    written = sources(runtimes.parse(described(params=params)))
    assert sorted(written) == sorted(f"pplnn/src/ppl/nn/{path}" for path in expected)


@pytest.mark.parametrize(
    ("type_", "default", "written"),
    [
        ("VX_TYPE_CHAR", 127, "127"),
        ("VX_TYPE_CHAR", 255, "static_cast<unsigned char>(255)"),
        ("VX_TYPE_INT32", -(2**31) + 1, "-2147483647"),
        ("VX_TYPE_INT32", -(2**31), "INT32_MIN"),
        ("int", -(2**63) + 1, "-9223372036854775807ll"),
        ("int", -(2**63), "INT64_MIN"),
    ],
)
def test_default_at_the_edge_of_a_type(type_: str, default: int, written: str) -> None:
    params = f"a: {{type: {type_}, default: {default}}}"
    texts = sources(runtimes.parse(described(params=params)))
    assert f" a = {written};" in texts["pplnn/src/ppl/nn/params/custom/scale_param.h"]


@pytest.mark.parametrize(
    "text",
    [
        EVERY_KIND,
        described(),
        EVERY_KIND.replace("everyKind", "AnOperatorWithLongName"),
        EVERY_KIND.replace("everyKind", "F").replace("my.domain", "d"),
        *(name for name in EXAMPLE_NAMES),
    ],
    ids=lambda text: re.sub(r"(?s).*?name: (\w+).*", r"\1", text),
)
def test_line_length(text: str) -> None:
    spec = example(text)[0] if "\n" not in text else runtimes.parse(text)
    chosen = runtimes.selected(spec)
    for path, content in (
        generated_files(spec, "", chosen) | once_only_files(spec, chosen)
    ).items():
        if path.endswith((".cc", ".h")):
            assert max(map(len, content.splitlines())) <= 100, path


@pytest.mark.parametrize(
    ("y", "z", "text"),
    [
        ("", "", "that of the first input."),
        (", dtype: int32", "", "y has int32, the others have that of the first input."),
        (", dtype: int32", ", dtype: bool", "y has int32, z has bool."),
    ],
)
def test_comment_on_data_types(y: str, z: str, text: str) -> None:
    outputs = "outputs: {{y: {{type: VX_TYPE_TENSOR{}}}, z: {{type: VX_TYPE_TENSOR{}}}}}\n"
    spec = runtimes.parse(
        "name: Scale\nruntimes: [pplnn]\ninputs: {x: {type: VX_TYPE_TENSOR}}\n"
        + outputs.format(y, z)
    )
    header = sources(spec)["pplnn/src/ppl/nn/oputils/custom/scale.h"]
    assert f"Returns the data type of an output: {text}" in re.sub(r"[\s*]+", " ", header)


def test_sources_depend_on_op_yml_alone() -> None:
    """A second build writes the same bytes, so that nothing is compiled again."""
    spec = runtimes.parse(EVERY_KIND)
    assert sources(spec) == sources(runtimes.parse(EVERY_KIND))


@pytest.mark.parametrize(
    ("domain", "folder"),
    [
        ("custom", "custom"),
        ("", "ai_onnx"),
        ("com.example-ops", "com_example_ops"),
        ("onnx", "onnx_domain"),
        ("common", "common_domain"),
        ("new", "new_domain"),
        ("int", "int_domain"),
    ],
)
def test_folder_of_domain(domain: str, folder: str) -> None:
    assert domain_folder(domain) == folder
    spec = runtimes.parse(described(f'domain: "{domain}"'))
    assert names(spec).folder == folder


def test_settings() -> None:
    assert settings(runtimes.parse(described())) == Settings("custom", (1, 1))
    spec = runtimes.parse(described("domain: a.b\nopset: [9, 16]"))
    assert settings(spec) == Settings("a.b", (9, 16))
    assert "of the domain `a.b` over a checkout" in readme(spec)


def readme(spec: OpSpec) -> str:
    return once_only_files(spec, runtimes.selected(spec))["README.md"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("domain: a b", "domain: invalid 'a b' (expected letters, digits, '_', '-' and '.')"),
        ("domain: .a", "domain: invalid '.a'"),
        ("domain: [a]", "domain: must be one word"),
        ("opset: 1", "opset: invalid '1' (expected two versions, for example [1, 1])"),
        ("opset: [1]", "opset: invalid a list"),
        ("opset: [1, true]", "opset: invalid a list"),
        ("opset: [2, 1]", "opset: invalid [2, 1] (expected two versions"),
        ("opset: [0, 1]", "opset: invalid [0, 1]"),
    ],
)
def test_invalid_settings(line: str, problem: str) -> None:
    with pytest.raises(DescriptionError, match=re.escape(f"op.yml:3: {problem}")):
        runtimes.parse(described(line))


def test_readme_of_generated_repository() -> None:
    assert "`pplnn/resizearea_shapes.h`" in readme(example("resize_area")[0])
    alone = " ".join(readme(runtimes.parse(described())).split())
    assert "shapes.h" not in alone
    assert not re.search("RKNN|OpenVX", alone.replace("rknn-op-template", ""))
