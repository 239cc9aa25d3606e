"""The warnings of `scons` about drift of a .vx file from op.yml."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from opkit.common.errors import OpkitError
from opkit.description.spec import OpSpec
from opkit.description.types import PARAM_TYPES
from opkit.opencl import clang
from opkit.runtimes import parse
from opkit.runtimes.rknn.deliveries import DELIVERIES
from opkit.runtimes.rknn.settings import has_vx_kernel
from opkit.runtimes.rknn.vx.drift import drift
from tests.files.test_emit import DESCRIPTIONS
from tests.files.texts import once_only_files

SPEC = parse("""
name: Op
framework: tensorflow
target_platform: RV1126
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR}}
params: {size: {type: VX_TYPE_ARRAY}, gain: {type: VX_TYPE_FLOAT32}}
""")
RIGHT = """
#define IN __read_only image2d_array_t
typedef float gain_t;
__kernel void other(int a) { }
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void op(IN x, __write_only image2d_array_t y, vx_array_int size, const gain_t gain) { }
"""


@pytest.fixture
def root(vx_folder: Path, tmp_path: Path) -> Path:
    """Return a folder for a repository that shares the compilations of all tests."""
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "vx").symlink_to(vx_folder)
    return tmp_path


def differences(root: Path, text: str, spec: OpSpec = SPEC) -> list[str]:
    (root / f"rknn_kernel_{spec.lower}.vx").write_text(text)
    return [*map(str, drift(root, spec, root / "build"))]


def has_vx_skeleton(name: str) -> bool:
    spec = parse(DESCRIPTIONS[name])
    return has_vx_kernel(spec) and not spec.elementwise


@pytest.mark.parametrize("name", [name for name in DESCRIPTIONS if has_vx_skeleton(name)])
def test_generated_kernel_has_no_drift(root: Path, name: str) -> None:
    spec = parse(DESCRIPTIONS[name])
    text = once_only_files(spec)[f"rknn_kernel_{spec.lower}.vx"]
    assert differences(root, text, spec) == []


def test_matching_kernel_spellings(root: Path) -> None:
    assert differences(root, RIGHT) == []
    assert differences(root, RIGHT.replace("gain_t gain)", "gain_t *gain)")) == []


@pytest.mark.parametrize(
    ("there", "instead"),
    [
        (", const gain_t gain", ""),
        ("gain_t gain)", "gain_t gain, int more)"),
        ("vx_array_int size", "int size"),
        ("IN x", "IN z"),
        ("gain_t gain", "double gain"),
    ],
)
def test_mismatched_arguments(root: Path, there: str, instead: str) -> None:
    (text,) = differences(root, RIGHT.replace(there, instead))
    assert text == (
        "rknn_kernel_op.vx:6: the arguments of op are not those of op.yml; write\n\n"
        "__kernel void op(\n    __read_only image2d_array_t x,\n"
        "    __write_only image2d_array_t y,\n    vx_array_int size,\n    float gain\n)\n"
    )


@pytest.mark.parametrize(
    ("type_", "in_vx", "drifts"),
    [
        ("VX_TYPE_INT32", "float gain", True),
        ("VX_TYPE_INT32", "uint gain", True),
        ("VX_TYPE_UINT32", "int gain", True),
        ("VX_TYPE_FLOAT64", "int gain", True),
        ("VX_TYPE_BOOL", "float gain", True),
        ("VX_TYPE_INT32", "int gain", False),
        ("VX_TYPE_FLOAT64", "float gain", False),
        ("VX_TYPE_BOOL", "int gain", False),
        ("VX_TYPE_INT8", "uint gain", False),
        ("VX_TYPE_INT32", "float *gain", False),
    ],
)
def test_changed_type_of_param(root: Path, type_: str, in_vx: str, drifts: bool) -> None:
    gain = SPEC.params[1]
    spec = SPEC._replace(params=(SPEC.params[0], gain._replace(type=PARAM_TYPES[type_])))
    texts = differences(root, RIGHT.replace("const gain_t gain", in_vx), spec)
    assert len(texts) == drifts
    if drifts:
        (found, right) = (in_vx.split()[0], DELIVERIES[type_].vx_type)
        assert texts[0].startswith(
            f"rknn_kernel_op.vx:6: gain is {found}, but {type_} in op.yml, which a VX kernel gets "
            f"as {right}; write\n\n__kernel void op(\n"
        )
        assert f"    {right} gain\n)" in texts[0]


def test_missing_kernel(root: Path) -> None:
    (text,) = differences(root, RIGHT.replace("void op", "void operator_"))
    assert text.startswith("rknn_kernel_op.vx: there is no `__kernel void op(...)`; write")
    assert differences(root, "/* __kernel void op() */ void op(int x) { }\n") == [text]


def test_uncompilable_source_is_ignored(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert drift(root, SPEC, root / "build") == []
    assert differences(root, RIGHT.replace("IN x", "IN")) != []
    assert differences(root, RIGHT.replace("IN x", "nothing x")) == []

    def no_compiler() -> str:
        raise OpkitError("no compiler")

    monkeypatch.setattr(clang, "_compiler", no_compiler)
    assert differences(root, RIGHT.replace("IN x", "IN z")) == []


def test_second_check_starts_no_process(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    header = root / "types.h"
    header.write_text("typedef float number;\n")
    text = '#include "types.h"\n' + RIGHT.replace("gain_t gain)", "number gain)")
    assert differences(root, text) == []

    def refuse(*arguments: Any, **options: Any) -> None:
        raise AssertionError(arguments)

    with monkeypatch.context() as context:
        context.setattr(subprocess, "Popen", refuse)
        assert drift(root, SPEC, root / "build") == []
        with pytest.raises(AssertionError):
            differences(root, f"{text}\n")
    header.write_text("typedef int number[2];\n")
    assert differences(root, text) == []  # the board may pass a pointer to a scalar
    header.write_text("typedef double number;\n")
    assert len(differences(root, text)) == 1
