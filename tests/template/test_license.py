"""The licenses of a repository: opkit's, and the user's own."""

from __future__ import annotations

import json
import re
from fnmatch import fnmatchcase

import pytest

from opkit.creation.license import NONE, license_text
from opkit.errors import OpkitError
from opkit.files.generated import generated_files
from opkit.files.skeletons import once_only_files
from opkit.runtimes import available, parse, selected
from tests.repositories import EXAMPLES, ROOT

TEXTS = ROOT / "licenses"
NAMES = sorted(path.name for path in TEXTS.iterdir())


def covered() -> dict[str, str]:
    """Return pattern -> license of opkit/REUSE.toml, in its order: the last that matches counts."""
    lines = (ROOT / "opkit/REUSE.toml").read_text().splitlines()
    values = [line.split(" = ")[1].strip('"') for line in lines if " = " in line][1:]
    return dict(zip(values[::3], values[2::3], strict=True))


def test_opkit_has_the_license_of_the_project() -> None:
    assert (ROOT / "opkit/LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_each_file_of_opkit_is_covered() -> None:
    """Code copied into the user's files is without conditions; all else is under MIT."""
    files = [path for path in (ROOT / "opkit").rglob("*") if path.is_file()]
    for path in files:
        name = f"/{path.relative_to(ROOT / 'opkit')}"
        matching = [
            license_
            for pattern, license_ in covered().items()
            if fnmatchcase(name, f"/{pattern}".replace("/**", "/*").replace("*/*", "*"))
        ]
        assert matching, name
        assert matching[-1] == ("MIT-0" if "templates" in path.parts else "MIT"), name


def test_user_files_have_no_project_license() -> None:
    spec = parse(
        (EXAMPLES / "exp/exp.yml").read_text() + f"\nruntimes: [{', '.join(available())}]\n"
    )
    once = once_only_files(spec, selected(spec))
    written = once | generated_files(spec, once[f"{spec.lower}_reference.py"], selected(spec))
    for name, text in written.items():
        assert not re.search(r"SPDX|Copyright|rknn-op-template authors", text), name
    assert "opkit is under the MIT license" in once["README.md"]


@pytest.mark.parametrize("name", NAMES)
def test_license_text(name: str) -> None:
    text = license_text(TEXTS, name.upper(), " Jane $author Doe ", "exp")
    assert text.count("Jane $author Doe\n") == 1
    assert "$year" not in text
    assert text.endswith("\n")
    assert "the authors of exp\n" in license_text(TEXTS, name, "", "exp")


def test_no_license_is_the_default() -> None:
    questions = json.loads((ROOT / "cookiecutter.json").read_text())
    assert questions["license"] == NONE
    assert license_text(TEXTS, NONE, "", "exp") == ""
    assert ", ".join([NONE, *NAMES]) in questions["__prompts__"]["license"]


@pytest.mark.parametrize(
    ("choice", "author", "message"),
    [
        ("GPL", "", r"license: invalid 'GPL' \(expected none, 0BSD, Apache-2.0, BSD-3-Clause, MIT"),
        ("../MIT", "", "license: invalid"),
        ("", "", "license: invalid ''"),
        ("MIT", "a\nb", "author: invalid"),
        ("none", "\x1b[31m", r"author: invalid '\\x1b"),
        ("MIT", "a" * 201, "author: invalid 'a{40}'"),
    ],
)
def test_invalid_license_is_refused(choice: str, author: str, message: str) -> None:
    with pytest.raises(OpkitError, match=message):
        license_text(TEXTS, choice, author, "exp")
