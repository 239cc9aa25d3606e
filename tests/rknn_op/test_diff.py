"""`rknn-op diff`: the changes from one package to another."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from hypothesis import given

from opkit.runtimes.rknn.rknnop import Package, pack
from opkit.toolchains.abi import ABIS
from rknn_op.runtimes.rknn.package_changes import MAX_LINES, changes
from tests.compiling import build
from tests.rknn_op.command import assert_error, rknn_op
from tests.rknn_op.packages import (
    LIBRARY,
    OP_YML,
    PACKAGE,
    PACKAGES,
    VERSION_1,
    write,
)

pytestmark = pytest.mark.usefixtures("folder")


def differences(**changed: object) -> list[str]:
    """Return the reported differences of a changed PACKAGE, except sizes."""
    new = dataclasses.replace(PACKAGE, **changed)  # type: ignore[arg-type]
    return [
        change.text
        for change in changes(PACKAGE, new)
        if not change.text.startswith(("size ", "content differs"))
    ]


def test_same_packages(folder: Path) -> None:
    path = write(folder / "a.rknnop", PACKAGE)
    result = rknn_op("diff", path, path)
    assert (result.exit_code, result.output) == (0, "")


def test_different_packages(folder: Path) -> None:
    new = dataclasses.replace(
        PACKAGE, program_binary=b"SHDR", description=OP_YML + "framework: \x1b[2J\n"
    )
    old_path, new_path = write(folder / "a.rknnop", PACKAGE), write(folder / "b.rknnop", new)
    result = rknn_op("diff", old_path, new_path)
    assert result.exit_code == 1
    assert result.stderr == ""
    assert result.stdout.splitlines() == [
        "program binary",
        "  size 12 -> 4 bytes",
        "  kind FULLPRGM -> SHDR",
        "op.yml",
        f"  size {len(OP_YML)} -> {len(OP_YML) + 16} bytes",
        "  cannot be compared by its keys: op.yml:10: invalid YAML: the character 27 is not "
        "allowed",
        "  --- old",
        "  +++ new",
        "  @@ -7,3 +7,4 @@",
        "   params:",
        "     size: {type: VX_TYPE_INT32, default: 1}",
        "     scale: {type: VX_TYPE_FLOAT32}",
        r"  +framework: \x1b[2J",
    ]


def test_json(folder: Path) -> None:
    old = write(folder / "a.rknnop", PACKAGE)
    new = write(folder / "b.rknnop", dataclasses.replace(PACKAGE, program_binary=b"FULLPRGM"))
    result = rknn_op("diff", "--json", old, new)
    assert result.exit_code == 1
    changed = [{"section": "program binary", "change": "size 12 -> 8 bytes"}]
    assert json.loads(result.stdout) == {"old": old, "new": new, "changes": changed}
    assert json.loads(rknn_op("diff", "--json", old, old).stdout)["changes"] == []


def test_trouble(folder: Path) -> None:
    path = write(folder / "a.rknnop", PACKAGE)
    (folder / "empty").touch()
    assert_error(rknn_op("diff", path, "empty"), "empty: is an empty file, not a package", status=2)
    assert_error(rknn_op("diff", "none", path), "none: cannot be read", status=2)
    assert rknn_op("diff", path).exit_code == 2


def test_container_versions() -> None:
    assert [(change.section, change.text) for change in changes(VERSION_1, PACKAGE)] == [
        ("package", "version 1 -> 2"),
        ("armhf library", "added, 0 bytes"),
    ]
    assert changes(PACKAGE, VERSION_1)[1].text == "removed, 0 bytes"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("name: Op", "name: Other", ["name Op -> Other"]),
        ("kernel_index: 1\n", "", ["kernel_index removed: 1"]),
        ("name:", "framework: tensorflow\nname:", ["framework added: tensorflow"]),
        ("default: 1", "default: 2", ["param size: default 1 -> 2"]),
        (", default: 1", "", ["param size: default removed: 1"]),
        ("FLOAT32}", "FLOAT32, default: [1, 2]}", ["param scale: default added: [1, 2]"]),
        ("INT32", "UINT32", ["param size: type VX_TYPE_INT32 -> VX_TYPE_UINT32"]),
        (
            "  scale: {type: VX_TYPE_FLOAT32}\n",
            "",
            ["param scale removed: {type: VX_TYPE_FLOAT32}"],
        ),
        (
            "VX_TYPE_FLOAT32}\n",
            "VX_TYPE_FLOAT32}\n  axis: {type: VX_TYPE_INT32}\n",
            ["param axis added: {type: VX_TYPE_INT32}"],
        ),
        (
            "inputs:\n",
            "inputs:\n  z: {type: VX_TYPE_TENSOR}\n",
            [
                "input z added: {type: VX_TYPE_TENSOR}",
                "positions of inputs changed: [a, b] -> [z, a, b]",
            ],
        ),
        (
            "  a: {type: VX_TYPE_TENSOR}\n  b: {type: VX_TYPE_TENSOR}\n",
            "  b: {type: VX_TYPE_TENSOR}\n  a: {type: VX_TYPE_TENSOR}\n",
            ["order of inputs changed: [a, b] -> [b, a]"],
        ),
        ("{c: {type: VX_TYPE_TENSOR}}", "[c]", ["outputs {c: {type: VX_TYPE_TENSOR}} -> [c]"]),
        ("name: Op", "name: 'Op' # two", ["the same keys and values in a different notation"]),
    ],
)
def test_description(old: str, new: str, expected: list[str]) -> None:
    changed = OP_YML.replace(old, new)
    assert changed != OP_YML
    assert differences(description=changed) == expected


def test_python_file() -> None:
    (diff,) = differences(python="class Op:\n    x = 1\n")
    assert diff.splitlines() == [
        *("--- old", "+++ new", "@@ -1,2 +1,2 @@", " class Op:", "-    pass", "+    x = 1")
    ]
    same = "the same lines with different line ends"
    assert differences(python=PACKAGE.python.replace("\n", "\r\n")) == [same]
    long = differences(python="pass\n" * (MAX_LINES + 1))
    assert long == [f"2 -> {MAX_LINES + 1} lines; more than {MAX_LINES} are not compared"]


def test_libraries(tmp_path: Path) -> None:
    source = tmp_path / "op.c"

    def library(text: str, *options: str) -> bytes:
        source.write_text(text)
        built = build(
            tmp_path / "op.so",
            *("-shared", "-O2", "-fvisibility=hidden", "-s"),
            source,
            *options,
            abi=ABIS["x64"],
        )
        return built.read_bytes()

    def package(data: bytes) -> Package:
        return dataclasses.replace(PACKAGE, libraries={**PACKAGE.libraries, "x64": data})

    old = package(library(LIBRARY))
    changed = LIBRARY.replace("malloc", "helper").replace("Op", "Other")
    other = library(
        f"#include <math.h>\n#include <stddef.h>\nvoid *helper(size_t);\n{changed}"
        '__attribute__((visibility("default"))) double g(double x) { return pow(x, x); }\n',
        *("-lm", "-Wl,-rpath,/opt", "--target=x86_64-linux-gnu.2.36"),
    )
    (size, *rest) = changes(old, package(other))
    assert {size.section, *(change.section for change in rest)} == {"x64 library"}
    assert size.text.startswith("size ")
    assert [change.text for change in rest] == [
        "glibc 2.2.5 -> 2.29",
        "exported symbol vx_kernel_Op_list removed",
        "exported symbol g added",
        "exported symbol vx_kernel_Other_list added",
        "imported symbol malloc removed: GLIBC_2.2.5",
        "imported symbol helper added",
        "imported symbol pow added: GLIBC_2.29",
        "needed library libc.so.6 removed",
        "needed library libm.so.6 added",
        "run path /opt added",
    ]
    back = [change.text for change in changes(package(other), old)]
    assert "imported symbol pow removed: GLIBC_2.29" in back
    assert changes(old, PACKAGE)[1].text.startswith("cannot be compared: a damaged ELF file of 4")


@given(PACKAGES, PACKAGES)
def test_only_the_same_bytes_have_no_changes(old: Package, new: Package) -> None:
    assert changes(old, old) == []
    assert bool(changes(old, new)) == (pack(old) != pack(new))
