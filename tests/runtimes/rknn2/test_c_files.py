"""OpSpec -> the generated C: its text, its format, and its compilation."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from opkit.files.skeletons import once_only_files
from opkit.runtimes import parse
from opkit.runtimes.rknn2.c_files import c_files
from opkit.toolchains.abi import ABIS
from tests.compiling import build, compile_c
from tests.marks import quick_first
from tests.runtimes.rknn2.support import HEADERS, write_operator

HEAD = (
    "runtimes: [rknn2]\ninputs: {x: {type: VX_TYPE_TENSOR}}\noutputs: {y: {type: VX_TYPE_TENSOR}}\n"
)
TYPES = ("bool", "char", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
EVERY_TYPE = "".join(f"  p_{name}: {{type: VX_TYPE_{name.upper()}}}\n" for name in TYPES)
DESCRIPTIONS = {
    "no_params": f"name: NoParams\n{HEAD}",
    "every_type": f"name: EveryType\n{HEAD}params:\n{EVERY_TYPE}"
    "  f: {type: float}\n  d: {type: VX_TYPE_FLOAT64}\n  i: {type: ints}\n  fs: {type: floats}\n"
    "  s: {type: string}\n",
    "defaults": f"name: Defaults\n{HEAD}params:\n"
    "  lowest: {type: int, default: -9223372036854775808}\n"
    "  highest: {type: VX_TYPE_UINT64, default: 18446744073709551615}\n"
    "  int32: {type: VX_TYPE_INT32, default: -2147483648}\n"
    "  tiny: {type: float, default: 1.0e-30}\n  whole: {type: VX_TYPE_FLOAT64, default: 3}\n"
    "  largest: {type: float, default: 3.4028234663852886e+38}\n"
    '  text: {type: string, default: "\\"??/\\t\\u00e4\\x01%s\\\\"}\n'
    '  none: {type: string, default: ""}\n'
    f"  i: {{type: ints, default: {[-(2**31)] * 16}}}\n"
    f"  f: {{type: floats, default: {[-1.2345678901] * 16}}}\n",
    "constants": f"name: Constants\n{HEAD}params:\n  a: {{type: int}}\n"
    "  b: {type: ints, length: 2, source: 'const:b'}\n  c: {type: float, source: 'const:c'}\n",
    "longest": f"name: {'L' * 127}\n{HEAD}params: {{{'p' * 127}: {{type: int, default: 1}}}}\n",
    "long": f"name: {'SpatialTransformer' * 2}\nruntimes: [rknn2]\n"
    "inputs: {feature_map_of_the_backbone: {type: VX_TYPE_TENSOR}}\n"
    "outputs: {transformed_feature_map: {type: VX_TYPE_TENSOR}}\n"
    "params: {number_of_sampling_points: {type: VX_TYPE_ARRAY, length: 2, default: [1, 2]}}\n",
    "names_of_ours": "name: custom_op\nruntimes: [rknn2]\n"
    "inputs: {inputs: {type: VX_TYPE_TENSOR}, params: {type: VX_TYPE_TENSOR}}\n"
    "outputs: {outputs: {type: VX_TYPE_TENSOR}, context: {type: VX_TYPE_TENSOR}}\n"
    "params: {input_count: {type: int}, problem: {type: string}, compute: {type: floats}}\n",
}
RESIZE = """\
name: Resize2
runtimes: [rknn2]
inputs: {image: {type: VX_TYPE_TENSOR}}
outputs: {resized: {type: VX_TYPE_TENSOR}}
params:
  size: {type: ints, length: 2, source: "const:size"}
  mode: {type: string, default: linear}
"""


@pytest.mark.parametrize("name", [name for name in DESCRIPTIONS if name != "longest"])
def test_line_length(name: str) -> None:
    for file, source in c_files(parse(DESCRIPTIONS[name])).items():
        assert max(map(len, source.splitlines())) <= 100, file


def compile_operator(folder: Path, text: str, abi: str) -> list[Path]:
    """Write an operator with generated math, and compile it; return the objects."""
    spec = parse(text)
    math = once_only_files(spec, [])[f"{spec.lower}_compute.h"]
    write_operator(folder, text, math)
    objects = []
    for source in sorted((folder / "rknn2").glob("*.c")):
        result = compile_c(
            source.with_suffix(".o"), "-c", source, HEADERS, f"-I{folder}", abi=ABIS[abi]
        )
        assert (result.returncode, result.stderr) == (0, "")
        objects.append(source.with_suffix(".o"))
    return objects


@pytest.mark.parametrize(
    "name", quick_first(2, [name for name in DESCRIPTIONS if name != "every_type"])
)
def test_generated_c_compiles(name: str, tmp_path: Path) -> None:
    compile_operator(tmp_path, DESCRIPTIONS[name], "x64")


@pytest.mark.parametrize("abi", ["x64", "aarch64", "armhf"])
def test_generated_c_compiles_for_each_abi(abi: str, tmp_path: Path) -> None:
    compile_operator(tmp_path, DESCRIPTIONS["every_type"], abi)


def test_rows_of_params() -> None:
    text = c_files(parse(RESIZE))["rknn2/resize2_custom_op.c"]
    size = '{"size", OPKIT_PARAM_INT32_ARRAY, offsetof(struct resize2_params, size), 2, NULL, 1}'
    assert f"    {size},\n" in text
    assert 'custom_op_defaults = {\n    .mode = "linear",\n};\n' in text
    assert '        .op_type = "cstResize2",\n' in text
    image = '{"image", OPKIT_DTYPE_ANY, offsetof(struct resize2_inputs, image)}'
    assert f"custom_op_inputs[] = {{\n    {image},\n}};\n" in text


def test_dtypes_of_tensors() -> None:
    text = HEAD.replace("inputs: {x: {", "inputs: {x: {dtype: int64, ").replace(
        "outputs: {", "outputs: {h: {type: VX_TYPE_TENSOR, dtype: float16}, "
    )
    rows = c_files(parse(f"name: A\n{text}"))["rknn2/a_custom_op.c"]
    assert re.findall(r'\{"(\w+)", OPKIT_DTYPE_(\w+), ', rows) == [
        ("x", "INT64"),
        ("h", "FLOAT32"),
        ("y", "INT64"),
    ]


def test_operator_without_params_has_no_init() -> None:
    text = c_files(parse(DESCRIPTIONS["no_params"]))["rknn2/noparams_custom_op.c"]
    assert "init" not in text
    assert "destroy" not in text
    assert "        .compute = compute_callback,\n    };" in text


APPLICATION = """\
#include <stdio.h>

#include "one/rknn2/noparams_custom_op.h"
#include "two/rknn2/constants_custom_op.h"

int rknn_register_custom_ops(rknn_context ctx, rknn_custom_op *op, uint32_t custom_op_num)
{
    for (uint32_t i = 0; i < custom_op_num; i++) {
        printf("%d %s\\n", (int)ctx, op[i].op_type);
    }
    return 0;
}

void rknn_custom_op_get_op_attr(rknn_custom_op_context *op_ctx, const char *attr_name,
                                rknn_custom_op_attr *op_attr)
{
    (void)op_ctx;
    (void)attr_name;
    (void)op_attr;
}

int main(void)
{
    rknn_custom_op operators[2];

    operators[0] = *noparams_custom_op();
    operators[1] = *constants_custom_op();
    noparams_register_all(1);
    constants_register_all(2);
    return rknn_register_custom_ops(3, operators, 2);
}
"""


def test_application_with_two_operators(tmp_path: Path) -> None:
    objects = [
        path
        for folder, name in (("one", "no_params"), ("two", "constants"))
        for path in compile_operator(tmp_path / folder, DESCRIPTIONS[name], "x64")
        if "plugin" not in path.name
    ]
    source = tmp_path / "application.c"
    source.write_text(APPLICATION)
    program = build(tmp_path / "application", source, *objects, HEADERS, f"-I{tmp_path}")
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    assert printed == "1 cstNoParams\n2 cstConstants\n3 cstNoParams\n3 cstConstants\n"


def test_header_of_operator_is_cxx_too(tmp_path: Path) -> None:
    compile_operator(tmp_path, DESCRIPTIONS["no_params"], "x64")
    source = tmp_path / "application.cpp"
    source.write_text('#include "rknn2/noparams_custom_op.h"\n')
    result = compile_c(tmp_path / "o", "-c", source, HEADERS, language="c++11")
    assert (result.returncode, result.stderr) == (0, "")
