"""generated/manifest.json: the files written once, and their versions."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from opkit import manifest, repository
from opkit.common.errors import OpkitError
from opkit.manifest import Manifest, Wheel
from opkit.runtimes import DEFAULT, available
from opkit.version import VERSION, is_newer
from tests.repositories import ROOT, Repository


def test_version_is_defined_once(copy_of_fresh: Repository) -> None:
    assert (ROOT / "opkit/VERSION").read_text() == f"{VERSION}\n"
    assert f"(rknn-op-template {VERSION})" in copy_of_fresh.scons("-h").stdout
    assert f"opkit {VERSION}: " in (copy_of_fresh.path / "README.md").read_text()
    assert repository.read_manifest(copy_of_fresh.path).version == VERSION


@pytest.mark.parametrize(
    ("one", "other"), [("0.10.0", "0.9.1"), ("1.0", "0.9.9"), ("1.0.1", "1.0")]
)
def test_versions_are_numbers(one: str, other: str) -> None:
    assert is_newer(one, other)
    assert not is_newer(other, one)
    assert not is_newer(one, one)


_DIGEST = "0123456789abcdef" * 4


def test_round_trip() -> None:
    wheel = Wheel("rknn_opkit-0.2.0+0123456789ab-py3-none-any.whl", 64 * "0")
    made = Manifest("0.1.0", {"README.md": _DIGEST}, ("generated/a.h",), wheel)
    assert manifest.from_text(manifest.to_text(made)) == made


def test_text_is_sorted_and_ends_with_a_newline() -> None:
    made = Manifest("0.1.0", {"b": "1" * 64, "a": _DIGEST}, ("generated/d", "generated/c"))
    assert manifest.to_text(made) == (
        '{\n  "version": "0.1.0",\n  "written once": {\n'
        f'    "a": "{_DIGEST}",\n    "b": "{"1" * 64}"\n  }},\n'
        '  "generated": [\n    "generated/c",\n    "generated/d"\n  ]\n}\n'
    )


def test_two_dots_in_a_name_are_no_folder() -> None:
    made = Manifest("0.1.0", {"a..b": _DIGEST}, ("generated/...", "..a"))
    assert manifest.from_text(manifest.to_text(made)) == manifest.Manifest(
        "0.1.0", {"a..b": _DIGEST}, ("..a", "generated/...")
    )


_WITH_WHEEL = '{"version": "0.2.0", "written once": {}, "generated": [], "wheel": {"name": '


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"version": "x", "written once": {}, "generated": []}',
        '{"version": 1, "written once": {}, "generated": []}',
        '{"version": "0.1.0", "written once": {"a": "b"}, "generated": []}',
        '{"version": "0.1.0", "written once": {}, "generated": ["../outside"]}',
        '{"version": "0.1.0", "written once": {}, "generated": ["/outside"]}',
        '{"version": "0.1.0", "written once": {}, "generated": ["a.h", "a/../../outside", "b.h"]}',
        '{"version": "0.1.0", "written once": {}, "generated": ["a.h", "/outside"]}',
        f'{{"version": "0.1.0", "written once": {{"..": "{_DIGEST}"}}, "generated": []}}',
        f'{{"version": "0.1.0", "written once": {{"/b": "{_DIGEST}"}}, "generated": []}}',
        f'{{"version": "0.1.0", "written once": {{"a": "{_DIGEST[1:]}"}}, "generated": []}}',
        '{"version": "0.1.0", "written once": {}, "generated": ["a.h", 1]}',
        f'{_WITH_WHEEL}"../x.whl", "sha256": "{64 * "0"}"}}}}',
        f'{_WITH_WHEEL}"rknn_opkit-0.2.0+0123456789ab-py3-none-any.whl", "sha256": "0"}}}}',
    ],
)
def test_invalid_manifest_is_refused(content: str) -> None:
    with pytest.raises(OpkitError, match="git checkout generated"):
        manifest.from_text(content)


def test_newer_repository_is_refused(copy_of_fresh: Repository) -> None:
    path = copy_of_fresh.path / manifest.PATH
    path.write_text(json.dumps(json.loads(path.read_text()) | {"version": "99.0.0"}))
    refused = copy_of_fresh.scons("target=x64", check=False)
    assert refused.returncode == 2
    assert "version 99.0.0 of rknn-op-template wrote this repository" in refused.stderr
    assert "use version 99.0.0 or later" in refused.stderr


def test_products_are_listed_for_ci(copy_of_fresh: Repository) -> None:
    listed = copy_of_fresh.run("opkit.ci.products").stdout.splitlines()
    families = available()[DEFAULT].describe.targets
    assert listed == [f"build/{target}/MyOperator.rknnop" for target in families]
    shutil.rmtree(copy_of_fresh.path / "build")
    assert copy_of_fresh.run("opkit.ci.products").stdout == ""


@pytest.mark.slow
def test_unlisted_files_are_kept(copy_of_fresh: Repository) -> None:
    """A build deletes only files that a build has written."""
    generated = copy_of_fresh.path / "generated"
    (generated / "mine.txt").write_text("mine")
    (generated / "old.h").write_text("of an earlier build")
    path: Path = copy_of_fresh.path / manifest.PATH
    content = json.loads(path.read_text())
    content["generated"].append("generated/old.h")
    path.write_text(json.dumps(content))
    copy_of_fresh.scons("target=x64")
    assert (generated / "mine.txt").exists()
    assert not (generated / "old.h").exists()
