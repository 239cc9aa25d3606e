"""An operator that stops being elementwise keeps working, with files of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from opkit import repository
from opkit.common.errors import OpkitError
from opkit.runtimes import parse
from tests.elementwise.loops import scalar_file

KEY = "elementwise: true\n"
DESCRIPTION = f"""\
name: Blend
runtimes: [rknn, rknn2, pplnn]
{KEY}inputs: {{x: {{type: VX_TYPE_TENSOR}}, y: {{type: VX_TYPE_TENSOR}}}}
outputs: {{output: {{type: VX_TYPE_TENSOR}}}}
params: {{gain: {{type: VX_TYPE_FLOAT32, default: 1.0}}}}
"""
ELEMENTWISE = parse(DESCRIPTION)
PLAIN = parse(DESCRIPTION.replace(KEY, ""))
HANDED_OVER = ("rknn_kernel_blend.vx", "pplnn/blend_shapes.h")
"""The generated files that become the user's."""
NOTICE = "/* Generated from op.yml"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A built repository of an elementwise operator."""
    repository.write(tmp_path, ELEMENTWISE)
    scalar = scalar_file(ELEMENTWISE, "return x * params->gain + y;")
    (tmp_path / "blend_scalar.h").write_text(scalar)
    repository.write(tmp_path, ELEMENTWISE)
    return tmp_path


def written(folder: Path) -> tuple[list[str], list[str]]:
    """Return the paths of the user's files and of the generated ones, from the manifest."""
    manifest = json.loads((folder / "generated/manifest.json").read_text())
    return [*manifest["written once"]], manifest["generated"]


def texts(folder: Path) -> dict[str, str]:
    return {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*") if p.is_file()}


def test_files_of_an_elementwise_operator(folder: Path) -> None:
    own, generated = written(folder)
    assert "blend_scalar.h" in own
    assert "blend_compute.h" not in own
    assert {*HANDED_OVER, "generated/blend_compute.h"} <= {*generated}
    assert all((folder / path).read_text().startswith(NOTICE) for path in HANDED_OVER)
    assert "x * params->gain + y" in (folder / HANDED_OVER[0]).read_text()
    before = texts(folder)
    repository.write(folder, ELEMENTWISE)
    assert texts(folder) == before


def test_generated_files_become_own(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = texts(folder)
    capsys.readouterr()
    repository.write(folder, PLAIN)
    reason = "op.yml has no `elementwise: true` any more, so it is yours now"
    said = capsys.readouterr().out.splitlines()
    assert sorted(said) == sorted(
        f"write {path}: {reason}" for path in (*HANDED_OVER, "blend_compute.h")
    )
    after = texts(folder)
    for path in HANDED_OVER:
        assert before[path].partition("\n")[2] == after[path]
    loop = after["blend_compute.h"]
    assert NOTICE not in loop
    assert '#include "blend_scalar.h"' in loop
    assert after["blend_scalar.h"] == before["blend_scalar.h"]
    assert "generated/blend_compute.h" not in after
    own, generated = written(folder)
    assert {*HANDED_OVER, "blend_compute.h", "blend_scalar.h"} <= {*own}
    assert not {*own} & {*generated}


def test_own_files_stay(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository.write(folder, PLAIN)
    for path in (*HANDED_OVER, "blend_compute.h"):
        (folder / path).write_text(f"/* mine */\n{(folder / path).read_text()}")
    before = texts(folder)
    capsys.readouterr()
    repository.write(folder, PLAIN)
    assert texts(folder) == before
    assert capsys.readouterr().out == ""


def test_way_back(folder: Path) -> None:
    """Each message names the file that is in the way; afterwards the operator can leave again."""
    repository.write(folder, PLAIN)
    with pytest.raises(OpkitError) as raised:
        repository.write(folder, ELEMENTWISE)
    assert str(raised.value) == (
        "op.yml: elementwise: blend_compute.h has the math of whole tensors, but that of an "
        "elementwise operator is generated; delete blend_compute.h; or delete `elementwise: true`"
    )
    (folder / "blend_compute.h").unlink()
    for path in sorted(HANDED_OVER):
        before = (folder / path).read_text()
        with pytest.raises(OpkitError, match=rf"^{path}: this file is yours, but .*; delete it"):
            repository.write(folder, ELEMENTWISE)
        assert (folder / path).read_text() == before
        (folder / path).unlink()
    repository.write(folder, ELEMENTWISE)
    test_files_of_an_elementwise_operator(folder)
    repository.write(folder, PLAIN)
    assert (folder / "blend_compute.h").is_file()


def test_key_in_an_operator_with_its_own_loop(tmp_path: Path) -> None:
    repository.write(tmp_path, PLAIN)
    with pytest.raises(OpkitError) as raised:
        repository.write(tmp_path, ELEMENTWISE)
    assert (
        "delete it, and write the math of one element into blend_scalar.h, as `static inline "
        "float blend_of(float x, float y, const struct blend_params *params)`" in str(raised.value)
    )
    assert not (tmp_path / "blend_scalar.h").exists()


def test_missing_scalar_file_is_not_written_again(folder: Path) -> None:
    (folder / "blend_scalar.h").unlink()
    with pytest.raises(OpkitError, match=r"blend_scalar\.h is missing"):
        repository.write(folder, ELEMENTWISE)


def test_unary_operator_without_same_as_gets_a_shape_rule(tmp_path: Path) -> None:
    """Of one input, an elementwise output has the shape; op.yml need not say so."""
    text = (
        f"name: Soft\nruntimes: [pplnn]\n{KEY}inputs: {{x: {{type: VX_TYPE_TENSOR}}}}\n"
        "outputs: {y: {type: VX_TYPE_TENSOR}}\n"
    )
    repository.write(tmp_path, parse(text))
    assert not (tmp_path / "pplnn/soft_shapes.h").exists()
    repository.write(tmp_path, parse(text.replace(KEY, "")))
    assert "sizeof inputs->x.shape" in (tmp_path / "pplnn/soft_shapes.h").read_text()
