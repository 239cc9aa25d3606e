"""opkit/creation/requirements.lock: exact versions with hashes of all requirements of opkit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.repositories import ROOT

PYTHONS = [f"3.{minor}" for minor in range(10, 15)]
_ENTRY = re.compile(r"(.+?)((?: --hash=sha256:[0-9a-f]{64})*)")


def requirements(path: Path) -> list[str]:
    """Return the lines of a file for pip, joined and without comments."""
    text = re.sub(r"\s+#.*|^#.*", "", path.read_text(), flags=re.MULTILINE)
    return [line for line in re.sub(r" \\\n\s+", " ", text).splitlines() if line]


def locked(python: str) -> dict[str, tuple[Requirement, int]]:
    """Return name -> (requirement, count of its hashes) for a version of Python."""
    entries: dict[str, tuple[Requirement, int]] = {}
    for line in requirements(ROOT / "opkit/creation/requirements.lock"):
        match = _ENTRY.fullmatch(line)
        assert match, line
        requirement = Requirement(match[1])
        environment = {"python_version": python, "python_full_version": f"{python}.0"}
        if not requirement.marker or requirement.marker.evaluate(environment):
            assert requirement.name not in entries, f"{line}: twice for {python}"
            entries[requirement.name] = (requirement, match[2].count("--hash"))
    return entries


@pytest.mark.parametrize("python", PYTHONS)
def test_lock_has_all_requirements(python: str) -> None:
    entries = locked(python)
    for line in requirements(ROOT / "opkit/creation/requirements.txt"):
        wanted = Requirement(line)
        requirement, _ = entries[wanted.name.lower()]
        (version,) = requirement.specifier
        assert version.operator == "=="
        assert wanted.specifier.contains(version.version), line
    for name, (_, hashes) in entries.items():
        assert hashes, f"{name}: no hash"


@pytest.mark.parametrize(("name", "hashes"), [("ziglang", 2), ("scons", 1), ("pyyaml", 10)])
def test_lock_has_wheels_of_both_processors(name: str, hashes: int) -> None:
    assert locked("3.12")[name][1] == hashes
