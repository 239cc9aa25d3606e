"""Launches of `.cl` kernels in the emulator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from opkit.opencl.pc_compiler import Program
from opkit.runtimes.rknn2.cl_results import ClRunResult, read_records
from tests.runtimes.rknn2.opencl_api import Array, Run, in_process, run_launches
from tests.runtimes.rknn2.opencl_builds import emulator

Result = tuple[Mapping[str, Array], ClRunResult]


def emulate(program: Program, runs: Sequence[Run]) -> list[Result]:
    """Run launches of a program in the emulator, in one process."""
    given = [
        replace(run, attachments={"opencl:program": str(program.library), **run.attachments})
        for run in runs
    ]
    results = []
    for outputs, records in in_process(run_launches, emulator(), given):
        result, others = read_records(records.log, records.attachments, outputs, program)
        assert others == []
        results.append((outputs, result))
    return results
