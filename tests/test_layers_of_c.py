"""The C files of a folder call each other from the top down, without a circle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile

from opkit.runtimes.rknn2.opencl_libraries import EMULATOR, SHIM
from tests.compiling import OPKIT, build

RUNTIMES = OPKIT / "runtimes"
HARNESS = OPKIT / "check/harness"
# name -> the folders of the files that one program or library has
FOLDERS = {
    "harness": [HARNESS / "memory", HARNESS],
    "rknn": [RUNTIMES / "rknn/host_runtime"],
    "rknn2": [RUNTIMES / "rknn2/host_runtime"],
    "pplnn": [RUNTIMES / "pplnn/harness"],
    "vx": [OPKIT / "opencl/runtime", RUNTIMES / "rknn/vx/runtime"],
    "opencl emulator": [OPKIT / folder for folder in EMULATOR.sources],
    "opencl shim": [OPKIT / folder for folder in SHIM.sources],
}
HEADERS = [f"-I{RUNTIMES / name / 'include'}" for name in ("rknn", "rknn2")]
# name -> its files from the bottom up: each calls only those before it
ORDERS = {
    "harness": ["protocol", "process_state", "faults", "invocation", "supervisor", "main"],
    "vx": ["log", "shadow", "copies", "groups", "driver"],
    "opencl emulator": [
        *("session", "imports", "objects", "platform", "library", "buffers", "programs"),
        *("memory", "launches"),
    ],
    "opencl shim": ["session", "imports", "process", "real", "buffers", "objects", "commands"],
}


def symbols(source: Path, folder: Path) -> tuple[set[str], set[str]]:
    """Compile a file; return (defined global symbols, used global symbols)."""
    made = build(folder / f"{source.stem}.o", "-c", "-O0", "-D_GNU_SOURCE=", *HEADERS, source)
    with made.open("rb") as file:
        table: Any = ELFFile(file).get_section_by_name(".symtab")
        found = [each for each in table.iter_symbols() if each["st_info"]["bind"] != "STB_LOCAL"]
    used = {each.name for each in found if each["st_shndx"] == "SHN_UNDEF"}
    return {each.name for each in found} - used, used


def calls(sources: Iterable[Path], folder: Path) -> dict[str, set[str]]:
    """Return the files of which each file uses a function or a variable, by their stems."""
    files = list(sources)
    with ThreadPoolExecutor() as pool:
        found = list(pool.map(lambda source: symbols(source, folder), files))
    home = {
        name: file.stem for file, (defined, _) in zip(files, found, strict=True) for name in defined
    }
    return {
        file.stem: {home[name] for name in used & home.keys()}
        for file, (_, used) in zip(files, found, strict=True)
    }


def circle(calls: Mapping[str, set[str]]) -> list[str]:
    """Return files that call each other in a circle; empty if there is none."""
    try:
        TopologicalSorter(calls).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def calls_upward(calls: Mapping[str, set[str]], order: Sequence[str]) -> list[str]:
    """Return the calls of a file to one that comes after it."""
    return [
        f"{file} calls {callee}"
        for index, file in enumerate(order)
        for callee in order[index + 1 :]
        if callee in calls[file]
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", FOLDERS)
def test_calls_go_down(name: str, tmp_path: Path) -> None:
    found = calls((path for folder in FOLDERS[name] for path in folder.glob("*.c")), tmp_path)
    assert found
    assert circle(found) == []
    assert calls_upward(found, ORDERS.get(name, [])) == []


def test_call_upward_is_found(tmp_path: Path) -> None:
    low, high = tmp_path / "low.c", tmp_path / "high.c"
    low.write_text("void above(void);\nvoid below(void);\nvoid below(void) { above(); }\n")
    high.write_text("void above(void);\nvoid above(void) {}\n")
    found = calls([low, high], tmp_path)
    assert calls_upward(found, ["low", "high"]) == ["low calls high"]
    assert circle(found) == []
    high.write_text("void above(void);\nvoid below(void);\nvoid above(void) { below(); }\n")
    assert sorted({*circle(calls([low, high], tmp_path))}) == ["high", "low"]
