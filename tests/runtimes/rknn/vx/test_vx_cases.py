"""The generated cases reach every work item and lane; a note names gaps of other cases."""

from __future__ import annotations

import re

import numpy as np
import pytest

from opkit.runtimes import parse
from opkit.runtimes.invocation import Invocation
from opkit.runtimes.rknn.vx.launch import Launch, coverage
from tests.marks import quick_first
from tests.repositories import Repository

LAUNCH = "rknn_kernel_myoperator.c"
KERNEL = "rknn_kernel_myoperator.vx"
WIDTH = "(width + ELEMENTS_PER_ITEM - 1) / ELEMENTS_PER_ITEM"
LANES = "VXC_MODIFIER(0, 7, 0, VXC_RM_TowardZero, 0)"


def edit(repository: Repository, file: str, old: str, new: str) -> None:
    path = repository.path / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("file", "old", "new"),
    quick_first(
        1,
        [
            pytest.param(LAUNCH, WIDTH, "1", id="launch of width 1"),
            pytest.param(LAUNCH, WIDTH, "width / ELEMENTS_PER_ITEM", id="launch rounded down"),
            pytest.param(LAUNCH, ", height,", ", 1,", id="launch of one row"),
            pytest.param(LAUNCH, "output.size / (width * height)", "1", id="launch of one slice"),
            pytest.param(LAUNCH, "ELEMENTS_PER_ITEM 8", "ELEMENTS_PER_ITEM 9", id="scale of 9"),
            pytest.param(KERNEL, LANES, LANES.replace("7", "6"), id="lanes 0 to 6"),
            pytest.param(
                KERNEL,
                "get_global_id(1), get_",
                "get_global_id(1) & ~1, get_",
                id="every second row",
            ),
            pytest.param(
                KERNEL, "get_global_id(2), 0)", "get_global_id(2) % 4, 0)", id="slices 0 to 3"
            ),
        ],
    ),
)
def test_wrong_kernels_fail(copy_of_fresh: Repository, file: str, old: str, new: str) -> None:
    edit(copy_of_fresh, file, old, new)
    checked = copy_of_fresh.scons("check", check=False)
    assert checked.returncode != 0
    assert re.search(r"^VX kernel .* FAILED$", checked.stdout, re.MULTILINE), checked.stdout


@pytest.mark.slow
def test_generated_cases_have_no_gaps(copy_of_fresh: Repository) -> None:
    assert "note: no case" not in copy_of_fresh.scons("check").stdout


@pytest.mark.slow
def test_gaps_are_noted(copy_of_fresh: Repository) -> None:
    """The cases pass with a launch of one work item, which has 7 of 8 lanes."""
    (test,) = (copy_of_fresh.path / "tests").glob("test_*.py")
    text = re.sub(r"shapes=\[.*?\],", 'shapes=[{"input": (7,)}],', test.read_text(), flags=re.S)
    test.write_text(text)
    checked = copy_of_fresh.scons("check").stdout
    assert re.findall(r"^note: (no case of .*)$", checked, re.MULTILINE) == [
        "no case of the VX kernel launches more than one work item along x",
        "no case of the VX kernel launches more than one work item along y",
        "no case of the VX kernel launches more than one work item along z",
        "no case of the VX kernel reaches the last of 8 lanes along x",
    ]


@pytest.mark.slow
def test_selected_cases_have_no_notes_of_gaps(copy_of_fresh: Repository) -> None:
    checked = copy_of_fresh.run("pytest", "-k", "8-uniform", "tests").stdout
    assert "VX kernel" in checked
    assert "note: no case" not in checked


def test_declared_types_are_noted() -> None:
    text = "name: Op\ninputs: {x: {type: VX_TYPE_TENSOR, dtype: float16}}\n"
    spec = parse(f"{text}outputs: {{y: {{type: VX_TYPE_TENSOR}}}}\n", "op.yml")
    launch = Launch(1, (0, 0, 0), (4, 1, 1), (0, 0, 0), (2, 1, 1))
    notes = {
        dtype: coverage(
            launch, spec, Invocation({"x": np.zeros(3, dtype)}, {}, {"y": ((3,), "f4")})
        )
        for dtype in ("float16", "float32")
    }
    declared = "no case of the VX kernel has 'x' as float16, its dtype in op.yml"
    lanes = "no case of the VX kernel reaches the last of 4 lanes along x"
    items = "no case of the VX kernel launches more than one work item along x"
    assert notes["float16"] == {items: True, lanes: False, declared: True}
    assert notes["float32"] == {items: True, lanes: False, declared: False}
