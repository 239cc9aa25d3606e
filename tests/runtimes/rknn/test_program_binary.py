"""The program binary, from a file and from a stand-in of RKNN-Toolkit."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import pytest

from opkit.common.errors import OpkitError
from opkit.common.file_io import FileError
from opkit.runtimes.rknn import program_binary
from opkit.runtimes.rknn.program_binary import ProgramBinaryError
from opkit.runtimes.rknn.rknnop import Package, pack

STAND_IN = '''
"""What is known of `python3 -m rknn.bin.custom_op --action build --op_path DIR`."""

import argparse
import pathlib
import sys

parser = argparse.ArgumentParser()
parser.add_argument("-a", "--action", choices=["create", "build"], required=True)
parser.add_argument("-p", "--op_path", type=pathlib.Path, required=True)
arguments = parser.parse_args()
assert arguments.action == "build"
folder = arguments.op_path
here = pathlib.Path(__file__).parents[2]
description = (folder / "op.yml").read_text()
assert "op_version: 2" in description
name = description.splitlines()[0].split(": ")[1]
for abi in ("x64", "aarch64", "armhf"):
    assert (folder / f"makefile.linux.{abi}").is_file(), abi
(folder / ".out").mkdir()
left = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
(here / "seen.txt").write_text("\\n".join([*left, ""]))
(here / "where.txt").write_text(str(folder))
print("building", name)
exec((here / "then.py").read_text())
'''

OP_YML = "name: ResizeArea\nframework: tensorflow\n"
VENDORS_OP_YML = OP_YML + "op_version: 2\n"
SOURCES = (
    "include/VX/vx.h",
    "makefile.linux.aarch64",
    "makefile.linux.armhf",
    "makefile.linux.x64",
    "op.yml",
    "rknn_kernel_resizearea.vx",
)
PRODUCTS = (
    ".git/config",
    ".mypy_cache/x",
    ".out/x64/libresizearea.so",
    ".sconsign.dblite",
    ".venv/bin/tool",
    "ResizeArea.rknnop",
    "build/rv1126/ResizeArea.rknnop",
    "tests/__pycache__/test_op.pyc",
)


def package(binary: bytes, version: int = 2) -> bytes:
    libraries = {"x64": b"x", "aarch64": b"a"}
    if version == 2:
        libraries["armhf"] = b"h"
    return pack(Package(version, binary, libraries, OP_YML, ""))


class Toolkit:
    """A Python with a stand-in of RKNN-Toolkit, and a repository to build."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.repository = root / "resize area"
        self.work = self.repository / "build" / "toolkit"
        for name in (*SOURCES, *PRODUCTS):
            path = self.repository / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(OP_YML)
        folder = root / "toolkit" / "rknn" / "bin"
        folder.mkdir(parents=True)
        (folder / "custom_op.py").write_text(STAND_IN)
        self.python = root / "toolkit" / "python3"
        paths = f"PYTHONPATH={shlex.quote(str(root / 'toolkit'))} PYTHONDONTWRITEBYTECODE=1"
        self.python.write_text(f'#!/bin/sh\n{paths} exec {shlex.quote(sys.executable)} "$@"\n')
        self.python.chmod(0o755)
        self.before = self.files()

    def files(self) -> dict[str, str]:
        return {
            str(path.relative_to(self.repository)): path.read_text()
            for path in self.repository.rglob("*")
            if path.is_file()
        }

    def on_build(self, code: str) -> None:
        """Set the code to run at the end of the build command."""
        (self.root / "toolkit" / "then.py").write_text(code)

    def on_build_write(self, **packages: bytes) -> None:
        self.on_build(
            "\n".join(
                f"(folder / '{name}.rknnop').write_bytes({data!r})"
                for name, data in packages.items()
            )
        )

    def copied_files(self) -> list[str]:
        return (self.root / "toolkit" / "seen.txt").read_text().splitlines()

    def build(self) -> bytes:
        python, name = str(self.python), "ResizeArea"
        return program_binary.from_toolkit(python, self.repository, name, VENDORS_OP_YML, self.work)

    def build_error(self) -> str:
        with pytest.raises(OpkitError) as caught:
            self.build()
        return str(caught.value)

    def assert_untouched(self) -> None:
        assert not Path((self.root / "toolkit" / "where.txt").read_text()).exists()
        assert list(self.work.iterdir()) == []
        assert self.files() == self.before


@pytest.fixture
def toolkit(tmp_path: Path) -> Toolkit:
    return Toolkit(tmp_path)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("binary", [b"SHDR\0\1\2", b"FULLPRGM\xff"])
def test_program_binary_from_toolkit_package(toolkit: Toolkit, version: int, binary: bytes) -> None:
    toolkit.on_build_write(ResizeArea=package(binary, version))
    assert toolkit.build() == binary
    assert toolkit.copied_files() == list(SOURCES)
    toolkit.assert_untouched()


def test_unusual_places(toolkit: Toolkit) -> None:
    """Packages of any path, the copy inside of the repository, modules named like the toolkit's."""
    toolkit.work = toolkit.repository / "here"
    (toolkit.repository / "rknn").mkdir()
    (toolkit.repository / "rknn/__init__.py").write_text("raise AssertionError\n")
    toolkit.on_build(
        "(folder / 'out').mkdir()\n"
        f"(folder / 'out' / 'anything.rknnop').write_bytes({package(b'SHDR')!r})\n"
        f"(folder / 'resizearea.rknnop').write_bytes({package(b'SHDR')!r})\n"
    )
    assert toolkit.build() == b"SHDR"
    assert toolkit.copied_files() == sorted([*SOURCES, "rknn/__init__.py"])


def test_failed_build_shows_end_of_output(toolkit: Toolkit) -> None:
    toolkit.on_build(
        "for number in range(100):\n    print('line', number, flush=True)\n"
        "print('E no license', file=sys.stderr, flush=True)\nsys.exit(3)"
    )
    message = toolkit.build_error()
    assert " -m rknn.bin.custom_op --action build --op_path " in message
    assert "failed with status 3. The end of its output:\n  line 81\n" in message
    assert "  line 99\n  E no license\nCheck that this Python has RKNN-Toolkit 1.x: " in message
    toolkit.assert_untouched()


@pytest.mark.parametrize(
    ("packages", "message"),
    [
        (
            {},
            "RKNN-Toolkit's build command made no package for ResizeArea, though it did not fail; "
            "build the repository with it by hand and pass vx_binary=FILE",
        ),
        (
            {"a": package(b"SHDR1"), "b": package(b"SHDR2")},
            "different program binaries: a.rknnop, b.rknnop; pass the right one",
        ),
        (
            {"ResizeArea": package(b"")},
            "the package that RKNN-Toolkit made for ResizeArea: invalid program binary: is "
            "empty (expected SHDR or FULLPRGM); pass one that RKNN-Toolkit compiled",
        ),
        ({"ResizeArea": package(b"SHDR")[:-1]}, "ResizeArea.rknnop: at offset "),
    ],
)
def test_invalid_packages(packages: dict[str, bytes], message: str, toolkit: Toolkit) -> None:
    toolkit.on_build_write(**packages)
    assert message in toolkit.build_error()
    toolkit.assert_untouched()


def test_endless_package_of_toolkit(toolkit: Toolkit) -> None:
    toolkit.on_build("(folder / 'x.rknnop').symlink_to('/dev/zero')")
    assert "x.rknnop: is a device or a pipe, not a file" in toolkit.build_error()


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (b"#!/bin/sh\nexit 1\n", "failed with status 1. The end of its output:\n  (nothing)\n"),
        (b"\x7fELF nothing", "cannot be run: Exec format error"),
        # A link is not resolved.
        (b'#!/bin/sh\necho "run as $0"\nexit 1\n', "run as {python}\n"),
        (None, "No module named rknn.bin.custom_op"),
        (None, "{python} -c 'import rknn.bin.custom_op'"),
    ],
)
def test_python_without_toolkit(script: bytes | None, message: str, toolkit: Toolkit) -> None:
    if script is None:
        (toolkit.root / "toolkit/rknn/bin/custom_op.py").unlink()
    else:
        toolkit.python.write_bytes(script)
    link = toolkit.root / "venv/python3"
    link.parent.mkdir()
    link.symlink_to(toolkit.python)
    toolkit.python = link
    assert message.format(python=link) in toolkit.build_error()


def test_missing_python(toolkit: Toolkit) -> None:
    toolkit.python.unlink()
    assert toolkit.build_error().startswith(f"rknn_python={toolkit.python}: no such program; pass ")
    assert not toolkit.work.exists()


def test_missing_repository(toolkit: Toolkit) -> None:
    missing = toolkit.root / "missing"
    with pytest.raises(ProgramBinaryError, match="missing: cannot be copied to "):
        program_binary.from_toolkit(
            str(toolkit.python), missing, "Op", VENDORS_OP_YML, toolkit.work
        )
    assert list(toolkit.work.iterdir()) == []


@pytest.mark.parametrize("data", [b"SHDR", b"SHDR\0\0", b"FULLPRGM\1"])
def test_program_binary_file(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "resizearea.bin"
    path.write_bytes(data)
    assert program_binary.from_file(path) == data


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "is empty"),
        (b"SHD", "begins with b'SHD'"),
        (b"#include <x>", "begins with b'#include'"),
        (b"RKNN\0\0\0\0", r"begins with b'RKNN\x00\x00\x00\x00'"),
    ],
)
def test_invalid_program_binary_file(tmp_path: Path, data: bytes, what: str) -> None:
    path = tmp_path / "resizearea.vx"
    path.write_bytes(data)
    with pytest.raises(ProgramBinaryError) as caught:
        program_binary.from_file(path)
    assert str(caught.value) == (
        f"{path}: invalid program binary: {what} (expected SHDR or FULLPRGM); pass one that "
        "RKNN-Toolkit compiled"
    )


def test_missing_program_binary_file(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be read: No such file or directory"):
        program_binary.from_file(tmp_path / "missing")


def test_endless_program_binary_file(tmp_path: Path) -> None:
    """An endless file is refused, as is a pipe, which could block the build."""
    os.mkfifo(tmp_path / "pipe")
    for path in (Path("/dev/zero"), tmp_path / "pipe"):
        with pytest.raises(FileError) as caught:
            program_binary.from_file(path)
        assert str(caught.value) == (
            f"{path}: is a device or a pipe, not a file (expected a program binary, which begins "
            "with SHDR or FULLPRGM)"
        )
