"""The licenses of a repository: opkit's, and the user's own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

import pytest

from opkit.common.errors import OpkitError
from opkit.files.generation import generated_files
from opkit.files.skeletons import once_only_files
from opkit.runtimes import available, parse, selected
from rknn_op.creation.choices import NO_LICENSE, license_text
from rknn_op.runtimes.rknn2.bundles.bundling import application_files
from tests.repositories import EXAMPLES, ROOT

TEXTS = ROOT / "licenses"
NAMES = sorted(path.name for path in TEXTS.iterdir())


def covered(folder: str) -> Iterator[tuple[str, str]]:
    """Yield pattern and license of a folder's REUSE.toml, in its order: the last match counts."""
    for table in (ROOT / folder / "REUSE.toml").read_text().split("[[annotations]]")[1:]:
        values = dict(line.split(" = ") for line in table.splitlines() if " = " in line)
        patterns = json.loads(values["path"])
        for pattern in patterns if isinstance(patterns, list) else [patterns]:
            yield pattern, json.loads(values["SPDX-License-Identifier"])


def texts_of_users() -> list[str]:
    """Return the texts that opkit writes into folders of users."""
    spec = parse((EXAMPLES / "exp/exp.yml").read_text())
    assert {*spec.runtimes} == {*available()}
    spec = spec._replace(kernels=("cpu", "vx", "gpu"))
    once = once_only_files(spec, selected(spec))
    reference = once[f"{spec.lower}_reference.py"]
    bundle = application_files({"cstExp": "exp"}, "rk3588", ("aarch64", "armhf"), "m.rknn", "1.6.0")
    return [
        *once.values(),
        *generated_files(spec, reference, selected(spec)).values(),
        *(content.decode() for content in bundle.values()),
    ]


def test_opkit_has_the_license_of_the_project() -> None:
    assert (ROOT / "opkit/LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


@pytest.mark.parametrize(
    ("folder", "example"),
    [
        ("opkit", "files/templates/README.md"),
        ("rknn_op", "runtimes/rknn2/bundles/application/main.c"),
    ],
)
def test_each_file_is_covered(folder: str, example: str) -> None:
    """Code copied into the user's files is without conditions; all else is under MIT."""
    # As in the tool reuse, `**/` includes no folder, and fnmatch's `*` any number of them.
    patterns = [
        (pattern.replace("**/", "*").replace("**", "*"), license_)
        for pattern, license_ in covered(folder)
    ]
    written = texts_of_users()
    copied = set()
    for path in (ROOT / folder).rglob("*"):
        if not path.is_file() or path.suffix == ".pyc":
            continue
        name = path.relative_to(ROOT / folder).as_posix()
        matching = [license_ for pattern, license_ in patterns if fnmatchcase(name, pattern)]
        assert matching, name
        text = path.read_text()
        if "templates" in path.parts or (text and any(text in each for each in written)):
            assert matching[-1] == "MIT-0", name
            copied.add(name)
        elif path.suffix != ".h":  # any header may become one of a repository
            assert matching[-1] == "MIT", name
    assert example in copied


def test_user_files_have_no_project_license() -> None:
    spec = parse((EXAMPLES / "exp/exp.yml").read_text())
    assert {*spec.runtimes} == {*available()}
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
    assert questions["license"] == NO_LICENSE
    assert license_text(TEXTS, NO_LICENSE, "", "exp") == ""
    assert ", ".join([NO_LICENSE, *NAMES]) in questions["__prompts__"]["license"]


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


def test_longest_author() -> None:
    assert f" {'a' * 200}\n" in license_text(TEXTS, "MIT", "a" * 200, "exp")
