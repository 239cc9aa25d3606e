"""The folder of the boards' driver: its ABI, version and names; refusal of incomplete ones."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from opkit.common.errors import OpkitError
from opkit.runtimes.rknn.board_driver import read_driver, stubs
from tests.compiling import HOST, build
from tests.runtimes.rknn.driver_build import driver_folder

SOURCE = "const char text[] = {text};\n"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return driver_folder(tmp_path_factory.mktemp("vendor") / "driver", "armhf")


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    return shutil.copytree(whole, tmp_path / "driver", symlinks=True)


@pytest.mark.slow
def test_facts_of_driver(whole: Path) -> None:
    driver = read_driver(whole)
    assert (driver.folder, driver.abi) == (whole, "armhf")
    assert (driver.name, driver.runtime_name) == ("driver 0.1.2", "librknn_runtime 0.1.2")
    assert {"gcoOS_Allocate", "gcoHAL_NotInTheStandIn"} <= {*driver.hardware_names}
    text = stubs(driver.hardware_names)
    assert "\nSTUB(gcoHAL_NotInTheStandIn)\n" in text
    assert not re.search(r"STUB\(_", text)  # the linker's own


def test_runtime_of_models_is_optional(folder: Path) -> None:
    (folder / "librknn_runtime.so").unlink()
    driver = read_driver(folder)
    assert (driver.name, driver.has_runtime) == ("driver", False)


def test_unknown_version(folder: Path) -> None:
    runtime = folder / "librknn_runtime.so"
    runtime.write_bytes(runtime.read_bytes().replace(b"librknn_runtime version", b"x" * 23))
    assert (read_driver(folder).runtime_name) == "librknn_runtime"


def _library(folder: Path, name: str) -> None:
    source = folder / "other.c"
    source.write_text(SOURCE.format(text='"x"'))
    (folder / name).unlink()
    build(folder / name, "-shared", source, abi=HOST)


def _link_as_text(folder: Path) -> None:
    link = folder / "libOpenVX.so"
    text = str(link.readlink())
    link.unlink()
    link.write_text(text)


def _lfs_pointer(folder: Path) -> None:
    (folder / "libGAL.so").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\n")


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "no folder": (shutil.rmtree, "driver={folder}: not a folder; "),
    "no links": (
        lambda folder: (folder / "libOpenVX.so.1").unlink(),
        "driver={folder}: libOpenVX.so.1 not found. The folder needs libOpenVX.so.1.2 and links to "
        "it named libOpenVX.so and libOpenVX.so.1; ",
    ),
    "link as text": (
        _link_as_text,
        "driver={folder}/libOpenVX.so: not an ELF file: it begins with b'libO'; ",
    ),
    "no hardware layer": (
        lambda folder: (folder / "libGAL.so").unlink(),
        "driver={folder}: libGAL.so not found, which libOpenVX.so requires; ",
    ),
    "Git LFS": (
        _lfs_pointer,
        "driver={folder}/libGAL.so: not an ELF file: it begins with b'vers'; a pointer of Git LFS: "
        "fetch the file; ",
    ),
    "other ABI": (
        lambda folder: _library(folder, "libOpenVX.so.1.2"),
        f"driver={{folder}}/libOpenVX.so: it is {HOST.elf} (expected aarch64 or armhf); ",
    ),
    "mixed ABIs": (
        lambda folder: _library(folder, "libGAL.so"),
        f"driver={{folder}}/libGAL.so: it is {HOST.elf}, but libOpenVX.so is EM_ARM",
    ),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_folder_is_refused(name: str, folder: Path) -> None:
    damage, message = DAMAGES[name]
    damage(folder)
    with pytest.raises(OpkitError) as refused:
        read_driver(folder)
    assert str(refused.value).startswith(message.format(folder=folder))
    if message.endswith("; "):
        assert "repository rockchip-linux/rknpu has" in str(refused.value)
