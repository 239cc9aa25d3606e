"""The locks in rknn_op/creation: exact versions with hashes of all requirements of a repository."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from rknn_op.creation.wheel import Extra, extra_in, lock_text, requirements_text, wheel
from tests.repositories import ROOT

PYTHONS = [f"3.{minor}" for minor in range(10, 15)]
_ENTRY = re.compile(r"(.+?)((?: --hash=sha256:[0-9a-f]{64})*)")


def requirements(path: Path) -> list[str]:
    """Return the lines of a file for pip, joined and without comments."""
    text = re.sub(r"\s+#.*|^#.*", "", path.read_text(), flags=re.MULTILINE)
    return [line for line in re.sub(r" \\\n\s+", " ", text).splitlines() if line]


CREATION = ROOT / "rknn_op/creation"
EXTRAS = ("", "-onnx")


def locked(python: str, extra: str = "") -> dict[str, tuple[Requirement, int]]:
    """Return name -> (requirement, count of its hashes) for a version of Python."""
    entries: dict[str, tuple[Requirement, int]] = {}
    for line in requirements(CREATION / f"requirements{extra}.lock"):
        match = _ENTRY.fullmatch(line)
        assert match, line
        requirement = Requirement(match[1])
        environment = {"python_version": python, "python_full_version": f"{python}.0"}
        if not requirement.marker or requirement.marker.evaluate(environment):
            assert requirement.name not in entries, f"{line}: twice for {python}"
            entries[requirement.name] = (requirement, match[2].count("--hash"))
    return entries


@pytest.mark.parametrize("extra", EXTRAS)
@pytest.mark.parametrize("python", PYTHONS)
def test_lock_has_all_requirements(python: str, extra: str) -> None:
    entries = locked(python, extra)
    files = dict.fromkeys(("requirements.txt", f"requirements{extra}.txt"))
    for line in [line for file in files for line in requirements(CREATION / file)]:
        wanted = Requirement(line)
        if wanted.marker and not wanted.marker.evaluate({"python_version": python}):
            continue
        requirement, _ = entries[wanted.name.lower()]
        (version,) = requirement.specifier
        assert version.operator == "=="
        assert wanted.specifier.contains(version.version), line
    for name, (_, hashes) in entries.items():
        assert hashes, f"{name}: no hash"


HASHES = [
    *(("", name, count) for name, count in {"ziglang": 2, "scons": 1, "pyyaml": 10}.items()),
    # By the stable ABI one wheel of onnx is for Python 3.12 and later; one of protobuf for all.
    *(
        ("-onnx", name, count)
        for name, count in {"onnx": 6, "protobuf": 3, "ml-dtypes": 10}.items()
    ),
    ("-onnx", "typing-extensions", 1),
]


@pytest.mark.parametrize(("extra", "name", "hashes"), HASHES)
def test_lock_has_wheels_of_both_processors(extra: str, name: str, hashes: int) -> None:
    assert locked("3.12", extra)[name][1] == hashes


@pytest.mark.parametrize("python", PYTHONS)
def test_extra_adds_its_packages_alone(python: str) -> None:
    """It changes no version; onnx requires typing-extensions for each Python."""
    base, more = locked(python), locked(python, "-onnx")
    added = more.keys() - base.keys()
    assert added - {"typing-extensions"} == {"ml-dtypes", "onnx", "protobuf"}
    assert {name: str(each.specifier) for name, (each, _) in base.items()} == {
        name: str(more[name][0].specifier) for name in base
    }
    assert "typing-extensions" in more


@pytest.mark.parametrize(
    ("line", "extra"),
    [
        ("onnx>=1.16        # evaluates\n", "onnx"),
        ("numpy\n  ONNX[reference] == 1.17 ; python_version > '3'\n", "onnx"),
        ("onnx", "onnx"),
        ("", ""),
        ("onnxruntime-gpu\nonnx-graphsurgeon\nonnx_ir\n# onnx\nskl2onnx\n", ""),
        ("onnxruntime>=1.17\nonnx>=1.16\n", "onnxruntime"),
        ("OnnxRuntime == 1.17", "onnxruntime"),
    ],
)
def test_lock_follows_the_requirements(line: str, extra: Extra) -> None:
    own, _ = wheel()
    text = requirements_text(own, line)
    assert extra_in(text) == extra
    assert requirements_text(own, text) == text
    lock = lock_text(own, extra)
    assert ("\nonnx==" in lock) == (extra != "")
    assert ("\nonnxruntime==" in lock) == (extra == "onnxruntime")


def test_new_repository_with_an_extra() -> None:
    own, _ = wheel()
    text = requirements_text(own, extra="onnx")
    assert re.search(r"^onnx>=", text, re.MULTILINE)
    assert extra_in(text) == "onnx"
    assert text.startswith(requirements_text(own))
    lock = lock_text(own, "onnx")
    assert lock.startswith(lock_text(own).partition("exceptiongroup")[0])
    assert re.search(r"^onnx==\S+ \\\n    --hash=sha256:", lock, re.MULTILINE)
