"""The JSON Schema of a description agrees with the parser, as far as a schema can."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from opkit import runtimes
from opkit.description.reader import DescriptionError
from rknn_op.creation.description_schema import FILE, MODELINE, description_schema
from tests.description.test_bad_descriptions import FILES
from tests.description.test_complaints import GOOD
from tests.files.test_emit import DESCRIPTIONS
from tests.marks import quick_first
from tests.repositories import EXAMPLE_DESCRIPTIONS, ROOT
from tests.rknn_op.command import rknn_op

SOURCE = "opkit/op.schema.json"
INEXPRESSIBLE = {
    *(
        "default_float_nan",
        "default_of_256_bytes",
        "default_other_length",
        "doc_with_half_a_character",
        "doc_with_nul",
    ),
    *("elementwise_integers_in_vx", "elementwise_list_in_vx", "elementwise_same_as"),
    *("gpu_kernel_of_bools", "kernel_index_1_without_vx", "kernels_duplicate", "key_twice"),
    *("merge_key", "min_above_max", "min_nan", "choices_above_max"),
    *("default_below_min", "default_item_outside", "default_not_in_choices"),
    *("param_key_twice", "parameters_too_many", "same_as_unknown", "threads_for_rknn"),
}
"""The bad descriptions that a schema accepts, besides the ones with reserved names: a schema
expresses neither sums, nor sizes in bytes, nor equality of two values."""

VALIDATOR = jsonschema.Draft202012Validator(description_schema())
GOOD_TEXTS = {
    **DESCRIPTIONS,
    **{path.stem: path.read_text() for path in EXAMPLE_DESCRIPTIONS},
    "every_key": """
name: Op
framework: ONNX
target_platform: RK3588
runtimes: [rknn2, pplnn]
op_type: MyOp
domain: my.domain
opset: [1, 3]
inputs: {x: {type: vx_type_tensor, doc: 5, dtype: int64}}
outputs: {y: {type: VX_TYPE_TENSOR, dtype: int32, same_as: x}}
params:
  a: {type: Float, default: 2, source: "const:a"}
  b: {type: floats, default: [1, 2.5], length: 2}
  c: {type: string, default: text}
  d: {type: INT, default: -9223372036854775808}
  e: {type: VX_TYPE_BOOL, default: null}
  f: {type: floats, min: 0, max: 1.5, default: [1, 1.5]}
  g: {type: int, min: -3, choices: [-3, 4]}
  h: {type: string, choices: [linear, "1"], default: "1"}
sources: [src/a.c, b.cpp]
include: null
cflags: [-DSTEPS=4, -O2, -Wno-all]
threads: Auto
""",
    "package": GOOD.replace("[rknn2]", "[rknn]\nop_version: 2\nvx_file: a\nkernel_index: '1'"),
}


def loaded(text: str) -> Any:
    return yaml.safe_load(text)


def test_patterns_are_those_of_ecma_262() -> None:
    """Its escapes are fewer than Python's; ajv, check-jsonschema and editors refuse others."""

    def patterns(value: Any) -> Iterator[str]:
        for key, each in value.items() if isinstance(value, dict) else ():
            if key == "pattern" and isinstance(each, str):
                yield each
            yield from patterns(each)
        for each in value if isinstance(value, list) else ():
            yield from patterns(each)

    found = [*patterns(description_schema())]
    assert any("[Vv][Xx]_[Tt]" in each for each in found)
    for each in found:
        assert not re.search(r"\\[^$\\.*+?()\[\]{}|/^dDwWsSbB]", each), each
        assert not re.search(r"\(\?(P|<[=!]|#|[aiLmsux])|\\[AZz]", each), each


def test_schema_is_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(description_schema())


@pytest.mark.parametrize(
    "arguments",
    quick_first(
        1,
        [
            ["--check-metaschema", ROOT / SOURCE],
            ["--schemafile", ROOT / SOURCE, *EXAMPLE_DESCRIPTIONS],
        ],
    ),
    ids=["schema", "library"],
)
def test_check_jsonschema(arguments: Sequence[str | Path]) -> None:
    """It has the regular expressions of ECMA 262."""
    command = [sys.executable, "-m", "check_jsonschema", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif("AJV" not in os.environ, reason="set AJV to the command of ajv-cli")
def test_ajv(tmp_path: Path) -> None:
    for path in EXAMPLE_DESCRIPTIONS:
        (tmp_path / f"{path.stem}.json").write_text(json.dumps(loaded(path.read_text())))
    command = [*shlex.split(os.environ["AJV"]), "validate", "--spec=draft2020", "--strict=log"]
    command += ["-s", str(ROOT / SOURCE), "-d", f"{tmp_path}/*.json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" valid\n") == len(EXAMPLE_DESCRIPTIONS)


@pytest.mark.parametrize("name", GOOD_TEXTS)
def test_valid_descriptions_validate(name: str) -> None:
    runtimes.parse(GOOD_TEXTS[name])
    assert [error.message for error in VALIDATOR.iter_errors(loaded(GOOD_TEXTS[name]))] == []


def test_bad_descriptions_fail() -> None:
    taken = set()
    for file in FILES:
        try:
            description = loaded(file.read_text(encoding="utf-8"))
        except (yaml.YAMLError, ValueError, ArithmeticError, LookupError, RecursionError):
            continue  # not a document that a schema can validate
        if VALIDATOR.is_valid(description):
            taken.add(file.stem)
    assert {stem for stem in taken if "name_" not in stem} == INEXPRESSIBLE


@pytest.mark.parametrize(
    ("there", "instead"),
    [
        ("[rknn2]", "[rknn]\nop_type: A"),
        ("[rknn2]", "[rknn2]\nkernels: [cpu, vx]"),
        ("[rknn2]", "[rknn2, rknn]\nframework: onnx"),
        ("[rknn2]", "[rknn]\ntarget_platform: rk3588"),
        ("VX_TYPE_INT32, default: 3", "VX_TYPE_INT32, default: 2147483648"),
        ("VX_TYPE_INT32, default: 3", "VX_TYPE_INT32, default: true"),
        ("VX_TYPE_INT32, default: 3", "VX_TYPE_FLOAT32, default: 1.0e+39"),
        ("VX_TYPE_INT32, default: 3", "VX_TYPE_FLOAT32, default: -1.0e+39"),
        ("VX_TYPE_INT32, default: 3", "ints, default: []"),
        ("default: 3", "length: 3"),
        ("default: 3", "min: 0.5"),
        ("default: 3", "choices: [1, 1]"),
        ("VX_TYPE_INT32, default: 3", "VX_TYPE_BOOL, max: 1"),
        ("VX_TYPE_INT32, default: 3", "string, choices: [2]"),
        ("same_as: x", "dtype: int16"),
        ("x: {type", "x: {dtype: int16, type"),
    ],
)
def test_schema_rules_of_runtimes_and_types(there: str, instead: str) -> None:
    text = GOOD.replace(there, instead)
    assert text != GOOD
    with pytest.raises(DescriptionError):
        runtimes.parse(text)
    assert not VALIDATOR.is_valid(loaded(text))


def test_repository_schema_equals_printed_schema() -> None:
    result = rknn_op("schema")
    assert json.loads(result.stdout) == json.loads(json.dumps(description_schema()))
    message = f"write it again: rknn-op schema > {SOURCE}"
    assert (ROOT / SOURCE).read_text() == result.stdout, message
    assert f"# yaml-language-server: $schema={FILE}\n" == MODELINE
