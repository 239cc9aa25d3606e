"""An operator's kernels: one harness of each runtime serves all cases."""

from __future__ import annotations

from pathlib import Path

from opkit.check.operators import Operator

DESCRIPTION = """
name: Twice
runtimes: [pplnn, rknn2]
inputs: {input: {type: VX_TYPE_TENSOR}}
outputs: {output: {type: VX_TYPE_TENSOR}}
"""
BUILT = (
    *("host/harness", "pplnn/host/libpplnn_driver.so", "rknn2/host/librknnrt.so"),
    *("pplnn/host/libtwice.so", "pplnn/host/delivered/libtwice.so"),
    *("rknn2/host/librkcst_twice.so", "rknn2/x64/librkcst_twice.so"),
)


def test_every_case_has_the_same_kernels(tmp_path: Path) -> None:
    (tmp_path / "op.yml").write_text(DESCRIPTION)
    for name in BUILT:
        (tmp_path / "build" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "build" / name).touch()
    operator = Operator(tmp_path)
    first, second = operator.cpu_kernels(), operator.cpu_kernels()
    assert list(first) == ["CPU kernel", "CPU kernel, rknn2"]
    assert [id(kernel) for kernel in first.values()] == [id(each) for each in second.values()]
