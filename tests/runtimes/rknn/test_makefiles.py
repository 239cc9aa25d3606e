"""The makefiles for the vendor's build command, run in the ways of that command."""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from opkit.runtimes import parse
from opkit.runtimes.rknn import rknnop
from opkit.runtimes.rknn.files import makefiles
from opkit.runtimes.rknn.scons.package import package_description
from opkit.toolchains.abi import ABIS
from tests.check.target_repositories import need
from tests.pages import PAGES
from tests.repositories import Repository

LIBRARY = ".out/x64/libmyoperator.so"


@pytest.fixture(scope="module")
def built_by_make(fresh: Repository, tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Return a repository with an x64 library built by its makefile."""
    need("make", "make")
    need("gcc", "gcc")
    path = shutil.copytree(fresh.path, tmp_path_factory.mktemp("built_by_make") / fresh.path.name)
    make(path)
    return Repository(path)


def make(path: Path, *arguments: str, **environment: str) -> str:
    """Run the makefile for x64 and return its commands."""
    return subprocess.run(
        ["make", "-f", "makefile.linux.x64", *arguments],
        cwd=path,
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def headers(path: Path) -> list[str]:
    """Return the headers of the kernel's source, except the system's."""
    printed = subprocess.run(
        ["gcc", "-MM", "-I.", "-Iinclude", "rknn_kernel_myoperator.c"],
        cwd=path,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return re.findall(r"\S+\.h", printed)


def test_one_for_each_library_of_a_package(monkeypatch: pytest.MonkeyPatch) -> None:
    tensor = "{type: VX_TYPE_TENSOR}"
    spec = parse(f"name: Op\ninputs: {{x: {tensor}}}\noutputs: {{y: {tensor}}}\n")
    monkeypatch.setitem(ABIS, "another", dataclasses.replace(ABIS["x64"], name="another"))
    assert list(makefiles(spec)) == [f"makefile.linux.{name}" for name in rknnop.ABIS]


def test_second_make_is_noop_with_target_all(built_by_make: Repository) -> None:
    assert "Nothing to be done for 'all'" in make(built_by_make.path)
    assert "Nothing to be done for 'all'" in make(built_by_make.path, "all")


def test_dependencies_on_headers_and_op_yml(built_by_make: Repository) -> None:
    names = [*headers(built_by_make.path), "generated/myoperator.exports", "makefile.linux.x64"]
    assert {"generated/myoperator.h", "generated/myoperator_params.h"} <= set(names)
    for name in names:
        # As if the file had been changed after everything else was built.
        times = (built_by_make.path / name).stat()
        later = (built_by_make.path / LIBRARY).stat().st_mtime + 100
        os.utime(built_by_make.path / name, (later, later))
        assert f"-o {LIBRARY}" in make(built_by_make.path, "-n"), name
        os.utime(built_by_make.path / name, (times.st_atime, times.st_mtime))
    assert f"-o {LIBRARY}" not in make(built_by_make.path, "-n")


@pytest.mark.parametrize("how", ["argument", "environment"])
def test_compiler_from_environment(how: str, built_by_make: Repository) -> None:
    """CC may be an argument or exported: the vendor's command does not publish its way."""
    compiler = "/opt/sdk/arm-linux-gnueabihf-gcc"
    if how == "argument":
        printed = make(built_by_make.path, "-n", "-B", f"CC={compiler}")
    else:
        printed = make(built_by_make.path, "-n", "-B", CC=compiler)
    assert len(re.findall(rf"^{compiler} ", printed, re.MULTILINE)) == 3


def test_vendor_keys_command(copy_of_fresh: Repository) -> None:
    path = copy_of_fresh.path
    before = parse((path / "op.yml").read_text())
    (command,) = re.findall(r"^    (printf .* >> op\.yml)$", PAGES["rknn"], re.MULTILINE)
    for name in ("ResizeArea", "resizearea"):
        command = command.replace(name, before.name if name[0] == "R" else before.lower)
    subprocess.run(["sh", "-c", command], cwd=path, check=True)
    text = (path / "op.yml").read_text()
    wanted = yaml.safe_load(package_description(before, "rk1808"))
    for key in ("out_binary", "op_py_file", "vx_file"):
        assert yaml.safe_load(text)[key] == wanted[key]
    assert parse(text) == before
    assert "is up to date" in copy_of_fresh.scons("-Q").stdout


VENDORS_MAKEFILE = """\
all:
	$(CC) -shared -fPIC -I$(VENDOR) -o library.so rknn_kernel_myoperator.c
"""


def test_only_vendor_include_path_is_required(built_by_make: Repository, tmp_path: Path) -> None:
    """The makefiles of the vendor's generator have none of this project's -I options."""
    vendor = tmp_path / "vendor"
    vendor.mkdir()
    shutil.copytree(built_by_make.path / "include/VX", vendor / "VX")
    path = shutil.copytree(built_by_make.path, tmp_path / "MyOperator")
    (path / "makefile.linux.x64").write_text(VENDORS_MAKEFILE)
    make(path, f"VENDOR={vendor}")
    assert (path / "library.so").is_file()
