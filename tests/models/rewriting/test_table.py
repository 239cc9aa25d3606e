"""docs/rewrites.md: the table of all forms is what they are, also in the toolkit's simulator."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.rewriting.examples import examples, lists, simulated
from tests.models.rewriting.table import COLUMNS, in_simulator, of_this_pc, page
from tests.models.test_graft import TOOLKIT, needs_toolkit
from tests.repositories import ROOT

PAGE = (ROOT / "docs/rewrites.md").read_text()
ROWS = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| ")][2:]
FLOAT16 = COLUMNS.index("float16")
SIMULATOR = COLUMNS.index("simulator")

WANTED = """
Acos Acosh Asin Asinh Atan Atanh Tan Sinh Cosh Ceil Round Sign Mod IsNaN IsInf And Or Xor Not Celu
Selu Shrink Softsign ThresholdedRelu Mish Gelu Mean Sum ReduceL1 ReduceL2 ReduceLogSum
ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare LpPool
GlobalLpPool LayerNormalization RMSNormalization GroupNormalization InstanceNormalization
MeanVarianceNormalization CumSum Trilu OneHot CenterCropPad GatherND ScatterND ScatterElements
GridSample RoiAlign DFT STFT Col2Im Einsum RotaryEmbedding Det TopK AffineGrid DepthToSpace
""".split()
"""Operators that are rewritten, unless each chip has them."""


@pytest.mark.slow
def test_every_operator_has_a_form() -> None:
    known = {example.form.op_type for example in examples()}
    lacking = [op for op in WANTED if any(each.missing(op) for each in lists().values())]
    assert sorted({*lacking} - known) == []


@pytest.mark.slow
def test_a_form_of_each_operator_is_right() -> None:
    right = {each.form.op_type for each in examples() if not each.proof.problem}
    assert {each.form.op_type for each in examples()} == right


@pytest.mark.slow
def test_forms_are_those_of_the_page() -> None:
    found = [[*of_this_pc(each)] for each in examples()]
    assert [row[:FLOAT16] for row in found] == [row[:FLOAT16] for row in ROWS]


@pytest.mark.slow
@pytest.mark.nightly
@needs_toolkit
def test_simulator() -> None:
    """No right form leaves an operator that the chip lacks, and each operator has one."""
    results = simulated(Path(TOOLKIT))
    verdicts = [[*in_simulator(each)] for each in results]
    shown = [row[SIMULATOR:] for row in ROWS]
    assert [(row[0] == "wrong", row[1:]) for row in verdicts] == [
        (row[0] == "wrong", row[1:]) for row in shown
    ]
    right = {
        example.form.op_type
        for example, result in zip(examples(), results, strict=True)
        if not result.problem and not example.proof.problem
    }
    assert {example.form.op_type for example in examples()} == right
    assert page(results).startswith(PAGE.partition("| Acos")[0])
