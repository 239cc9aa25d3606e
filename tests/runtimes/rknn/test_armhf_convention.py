"""An int64 that librknn_runtime for armhf changes: the check in qemu fails, the others warn."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from rknn_op.cli import main as rknn_op
from tests.check.target_repositories import check, need, problems
from tests.repositories import Repository, generate

DESCRIPTION = """\
name: SignOf
target_platform: RV1126
kernels: [cpu]
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR}}
params:
  end: {type: VX_TYPE_INT64, default: 9223372036854775807}
"""
REFERENCE = """\
import numpy as np


def output_shapes(input_shapes, params):
    return {"y": input_shapes["x"]}


def reference(inputs, params):
    return {"y": np.full_like(inputs["x"], np.sign(params["end"]))}
"""
WARNING = (
    "9223372036854775807 arrives as -9223372036854775808 on armhf (rv1109, rv1126); use a smaller "
    "number, up to 9007199254740992 all are exact"
)


@pytest.fixture(scope="module")
def sign_of(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    repository = generate(tmp_path_factory.mktemp("sign_of"), DESCRIPTION)
    (repository.path / "signof_reference.py").write_text(REFERENCE)
    compute = repository.path / "signof_compute.h"
    math = (
        "for (size_t i = 0; i < outputs->y.size; i++) {\n"
        "        outputs->y.float32[i] = params->end < 0 ? -1.0F : 1.0F;\n"
        "    }\n    return NULL;"
    )
    compute.write_text(compute.read_text().replace("return NULL;", math))
    return repository


@pytest.mark.slow
def test_check_shows_value_of_armhf(sign_of: Repository) -> None:
    need("qemu-arm-static", "qemu-user-static")
    run = check(sign_of, "target=rv1126", "verbose=1")
    failed = problems(run.stdout)
    assert {kernel for kernel, _ in failed} == {"CPU kernel, armhf"}
    assert len(failed) == 6
    assert re.search(rf"note: CPU kernel: param 'end': {re.escape(WARNING)} \(\d+ cases\)",
                     " ".join(run.stdout.split()))  # fmt: skip


@pytest.mark.slow
def test_check_on_other_chips_passes(sign_of: Repository) -> None:
    need("qemu-aarch64-static", "qemu-user-static")
    run = check(sign_of, "target=rk1808")
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.slow
def test_build_and_lint_warn_of_default(sign_of: Repository, tmp_path: Path) -> None:
    run = sign_of.scons("target=x64")
    assert run.stderr == f"warning: op.yml:8: params.end.default: {WARNING}\n"
    description = tmp_path / "signof.yml"
    description.write_text(DESCRIPTION)
    for path in (description, sign_of.path):
        found = CliRunner().invoke(rknn_op, ["lint", str(path), "--format", "json"])
        assert '"severity": "warning"' in found.output
        assert WARNING in found.output
        assert "1 problem" in found.output, found.output
