"""`rknn-op inspect`: the listing, JSON, and the extracted files."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given

from opkit.runtimes.rknn import rknnop
from opkit.runtimes.rknn.rknnop import Package, pack, unpack
from opkit.toolchains.abi import ABIS
from rknn_op.runtimes.rknn import package_changes, package_contents
from tests.compiling import build
from tests.mutation import measure, mutants
from tests.repositories import ROOT
from tests.rknn_op.command import assert_error, rknn_op, succeeded
from tests.rknn_op.packages import (
    LIBRARY,
    PACKAGE,
    PACKAGES,
    VERSION_1,
    write,
)

pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return a device library for x64."""
    source = tmp_path_factory.mktemp("library") / "op.c"
    source.write_text(LIBRARY)
    made = build(source.with_name("op.so"), "-shared", "-O2", "-s", source, abi=ABIS["x64"])
    return made.read_bytes()


def test_listing(folder: Path, library: bytes) -> None:
    package = dataclasses.replace(PACKAGE, libraries={**PACKAGE.libraries, "x64": library})
    result = succeeded("inspect", write(folder / "op.rknnop", package))
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert lines[0] == str(folder / "op.rknnop")
    assert lines[1:15] == [
        "operator        Op",
        "target_platform not given",
        "kernel_index    1",
        "package version 2",
        "",
        "section              bytes  kind",
        "program binary          12  FULLPRGM",
        f"x64 library     {len(library):>10}  EM_X86_64 64-bit little-endian",
        "                            glibc 2.2.5, exports vx_kernel_Op_list",
        "aarch64 library          6  not an ELF file: it begins with b'<htm'",
        "armhf library            0  not an ELF file: it begins with b''",
        f"op.yml                 {len(PACKAGE.description)}  text",
        "Python file             19  text",
        "",
    ]
    assert lines[15:] == ["op.yml:", *PACKAGE.description.splitlines()]


def test_listing_of_several_packages(folder: Path) -> None:
    first, second = write(folder / "a.rknnop", PACKAGE), write(folder / "b.rknnop", VERSION_1)
    parts = rknn_op("inspect", first, second).stdout.split("\n\n" + second + "\n")
    assert parts[0].startswith(first + "\n")
    assert "package version 1" in parts[1]
    assert "armhf" not in parts[1]


@given(PACKAGES)
def test_listing_holds_no_control_characters(package: Package) -> None:
    text = package_contents.as_text(package)
    assert all(character.isprintable() or character in "\n\t" for character in text)
    json.dumps(package_contents.as_json(package, "op.rknnop"))


@pytest.mark.parametrize(
    "description", [r'name: "\U2FFFFFFF"', r'name: "\UFFFFFFFF"', "{: \x1b[2J"]
)
def test_listing_of_invalid_yaml(description: str) -> None:
    text = package_contents.as_text(dataclasses.replace(PACKAGE, description=description))
    assert "operator        not given" in text
    assert description.replace("\x1b", r"\x1b") in text


def test_json(folder: Path, library: bytes) -> None:
    package = dataclasses.replace(PACKAGE, libraries={**PACKAGE.libraries, "x64": library})
    path = write(folder / "op.rknnop", package)
    result = rknn_op("inspect", "--json", path, write(folder / "1.rknnop", VERSION_1))
    first, second = json.loads(result.stdout)
    assert (second["version"], len(second["sections"])) == (1, 5)
    sections = {section.pop("name"): section for section in first.pop("sections")}
    assert first == {
        "file": path,
        "version": 2,
        "operator": "Op",
        "target_platform": None,
        "kernel_index": "1",
        "description": package.description,
        "python": package.python,
    }
    assert list(sections) == list(rknnop.section_names(2))
    for name, content in rknnop.sections(package).items():
        assert sections[name].pop("bytes") == len(content)
        assert sections[name].pop("sha256") == hashlib.sha256(content).hexdigest()
    assert list(sections.values()) == [
        {"kind": "FULLPRGM"},
        {
            "architecture": "EM_X86_64 64-bit little-endian",
            "glibc": "2.2.5",
            "exports": ["vx_kernel_Op_list"],
            "needed": ["libc.so.6"],
            "symbol_versions": {"GLIBC_2.2.5": ["malloc"]},
        },
        {"error": "not an ELF file: it begins with b'<htm'"},
        {"error": "not an ELF file: it begins with b''"},
        {},
        {},
    ]


@pytest.mark.parametrize("package", [PACKAGE, VERSION_1], ids=["version 2", "version 1"])
def test_repack_gives_the_same_bytes(package: Package, folder: Path) -> None:
    path = write(folder / "op.rknnop", package)
    result = succeeded("inspect", path, "--repack", "again.rknnop")
    assert result.stderr == "wrote again.rknnop\n"
    assert (folder / "again.rknnop").read_bytes() == (folder / "op.rknnop").read_bytes()


def test_extract_writes_each_section(folder: Path) -> None:
    result = succeeded("inspect", write(folder / "op.rknnop", PACKAGE), "--extract", "new/parts")
    extracted = {path.name: path.read_bytes() for path in (folder / "new/parts").iterdir()}
    contents = rknnop.sections(PACKAGE)
    assert extracted == {
        package_contents.FILES[name]: content for name, content in contents.items()
    }
    assert "wrote new/parts/program_binary.bin\n" in result.stderr
    assert "wrote" not in result.stdout


def test_extract_leaves_out_an_empty_program_binary(folder: Path) -> None:
    (folder / "parts").mkdir()
    package = dataclasses.replace(VERSION_1, program_binary=b"")
    path = write(folder / "op.rknnop", package)
    succeeded("inspect", path, "--extract", "parts")
    names = sorted(path.name for path in (folder / "parts").iterdir())
    assert names == ["aarch64.so", "op.py", "op.yml", "x64.so"]


@pytest.mark.parametrize("name", ["../../x", "/etc/x", r'"\0"', '""', "a/b", "~"])
def test_extract_takes_no_name_from_the_package(name: str, folder: Path) -> None:
    description = f"name: {name}\nout_binary: {name}\nop_py_file: {name}\nvx_file: {name}\n"
    package = dataclasses.replace(PACKAGE, description=description)
    path = write(folder / "op.rknnop", package)
    succeeded("inspect", path, "--extract", "parts")
    found = {str(path.relative_to(folder)) for path in folder.parent.rglob("*") if path.is_file()}
    assert found == {"op.rknnop", *(f"parts/{file}" for file in package_contents.FILES.values())}


def _occupied(path: Path) -> None:
    path.mkdir()
    (path / "mine.txt").touch()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (_occupied, "is not empty"),
        (Path.touch, "is not a folder"),
        (lambda path: path.symlink_to("elsewhere"), "is not a folder; links are not followed"),
        (lambda path: path.symlink_to("nowhere"), "is not a folder; links are not followed"),
        (os.mkfifo, "is not a folder"),
    ],
    ids=["occupied", "file", "link", "dangling link", "pipe"],
)
def test_extract_refuses_existing_files(
    make: Callable[[Path], None], message: str, folder: Path
) -> None:
    (folder / "elsewhere").mkdir()
    make(folder / "parts")
    path = write(folder / "op.rknnop", PACKAGE)
    before = sorted(folder.rglob("*"))
    assert_error(rknn_op("inspect", path, "--extract", "parts"), "parts: ", message)
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("make", [Path.touch, Path.mkdir, lambda path: path.symlink_to("nowhere")])
def test_repack_refuses_existing_file(make: Callable[[Path], None], folder: Path) -> None:
    make(folder / "out")
    path = write(folder / "op.rknnop", PACKAGE)
    assert_error(rknn_op("inspect", path, "--repack", "out"), "out: already exists")
    assert_error(rknn_op("inspect", path, "--repack", "no/out"), "no: cannot be written")
    assert not (folder / "nowhere").exists()


def test_failed_extract_leaves_no_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(folder / "op.rknnop", PACKAGE)
    monkeypatch.setattr(
        package_contents, "FILES", {**package_contents.FILES, "Python file": "no/op.py"}
    )
    assert_error(rknn_op("inspect", path, "--extract", "parts"), "parts/no/op.py: cannot be")
    assert not [*(folder / "parts").iterdir()]


def test_extract_and_repack_take_one_package(folder: Path) -> None:
    path = write(folder / "op.rknnop", PACKAGE)
    for option in ("--extract", "--repack"):
        assert rknn_op("inspect", path, path, option, "out").exit_code == 2
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("here", "here: is a folder, not a file (expected a package (.rknnop))"),
        ("/dev/zero", "/dev/zero: is a device or a pipe, not a file"),
        ("pipe", "pipe: is a device or a pipe, not a file"),
        ("none", "none: cannot be read: No such file or directory"),
        (
            "huge",
            "huge: has 268,435,457 bytes (expected a package (.rknnop) of at most 268,435,456",
        ),
        ("empty", "empty: is an empty file, not a package"),
        ("model.rknn", "model.rknn: is an RKNN model, not a package"),
    ],
)
def test_other_files_are_refused(path: str, message: str, folder: Path) -> None:
    (folder / "here").mkdir()
    os.mkfifo(folder / "pipe")
    (folder / "empty").touch()
    (folder / "huge").touch()
    os.truncate(folder / "huge", 256 * 1024 * 1024 + 1)
    (folder / "model.rknn").write_bytes(b"RKNN\0\0\0\0\6\0\0\0\0\0\0\0")
    assert_error(rknn_op("inspect", path), message)


def test_file_whose_name_is_not_utf8(folder: Path) -> None:
    name = os.fsdecode(b"a\xff\x1b.rknnop")
    write(folder / name, PACKAGE)
    result = subprocess.run(
        [sys.executable, "-m", "rknn_op", "inspect", os.fsencode(name)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
    )
    assert result.stdout.startswith(rb"a\udcff\x1b.rknnop" + b"\n")


@pytest.mark.slow
def test_damaged_packages_are_refused_at_once(library: bytes) -> None:
    """Reading takes bounded time and memory, and raises only exceptions for users."""
    package = dataclasses.replace(PACKAGE, libraries={**PACKAGE.libraries, "x64": library})

    def read(data: bytes) -> None:
        read = unpack(data, "op.rknnop")
        assert pack(read) == data
        json.dumps(package_contents.as_json(read, "op.rknnop"))
        package_contents.as_text(read)
        package_changes.changes(package, read)

    corpus = [pack(each) for each in (package, PACKAGE, VERSION_1)]
    cost = measure(read, mutants(corpus, 400))
    assert 100 < cost.refused < 400
    assert cost.seconds < 1
    assert cost.memory < 100  # of a library, which pyelftools reads
