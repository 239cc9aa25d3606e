"""`scons check case=NAME` runs one case; without a match it says so."""

from __future__ import annotations

import pytest

from tests.check.target_repositories import counts
from tests.repositories import Repository


@pytest.mark.slow
def test_one_case(copy_of_fresh: Repository) -> None:
    done = copy_of_fresh.scons("-Q", "check", "quick=1", "case=8-uniform", "workers=2")
    assert counts(done.stdout) == {"CPU kernel": 1, "VX kernel": 1}
    assert "8-special" not in done.stdout
    wrong = copy_of_fresh.scons("-Q", "check", "quick=1", "case=8-unform", check=False)
    assert wrong.returncode == 2
    assert "no test has a case '8-unform'; the closest ones are 8-uniform, " in (
        wrong.stdout + wrong.stderr
    )
