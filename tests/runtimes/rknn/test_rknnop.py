"""The package: its layout, and invalid bytes."""

from __future__ import annotations

import dataclasses
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opkit.runtimes.rknn import rknnop
from opkit.runtimes.rknn.rknnop import Package, PackageError, describe, pack, unpack
from opkit.toolchains.abi import ABIS
from tests.compiling import build

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
PACKAGES = st.sampled_from(sorted(rknnop.LIBRARIES)).flatmap(
    lambda version: st.builds(
        Package,
        version=st.just(version),
        program_binary=st.binary(),
        libraries=st.fixed_dictionaries({abi: st.binary() for abi in rknnop.LIBRARIES[version]}),
        description=TEXT,
        python=TEXT,
    )
)

SMALL = Package(
    version=2,
    program_binary=b"SHDR",
    libraries={"x64": b"XX", "aarch64": b"", "armhf": b"A"},
    description="name: Op\n",
    python="é",
)
SMALL_BYTES = (
    b"RKNN\0\0\0\0"
    b"\2\0\0\0\0\0\0\0"
    b"\4\0\0\0\0\0\0\0SHDR"
    b"\2\0\0\0\0\0\0\0XX"
    b"\0\0\0\0\0\0\0\0"
    b"\1\0\0\0\0\0\0\0A"
    b"\x09\0\0\0\0\0\0\0name: Op\n"
    b"\2\0\0\0\0\0\0\0\xc3\xa9"
)


def test_version_2_layout() -> None:
    assert pack(SMALL) == SMALL_BYTES
    assert unpack(SMALL_BYTES, "op.rknnop") == SMALL


def test_version_1_layout() -> None:
    package = Package(1, b"", {"x64": b"X", "aarch64": b"AA"}, "d", "")
    data = (
        b"RKNN\0\0\0\0"
        b"\1\0\0\0\0\0\0\0"
        b"\0\0\0\0\0\0\0\0"
        b"\1\0\0\0\0\0\0\0X"
        b"\2\0\0\0\0\0\0\0AA"
        b"\1\0\0\0\0\0\0\0d"
        b"\0\0\0\0\0\0\0\0"
    )
    assert pack(package) == data
    assert unpack(data, "op.rknnop") == package


def test_library_order_is_fixed() -> None:
    shuffled = {abi: SMALL.libraries[abi] for abi in ("armhf", "x64", "aarch64")}
    assert pack(dataclasses.replace(SMALL, libraries=shuffled)) == SMALL_BYTES


@pytest.mark.parametrize(
    ("version", "sizes", "total"),
    [
        (1, (3609, 13768, 13216, 320, 2139), 33108),
        (2, (3615, 13984, 13224, 10560, 358, 2139), 43944),
    ],
)
def test_package_size_matches_vendor(version: int, sizes: tuple[int, ...], total: int) -> None:
    vx, *libraries, description, python = sizes
    package = Package(
        version=version,
        program_binary=bytes(vx),
        libraries={
            abi: bytes(size) for abi, size in zip(rknnop.LIBRARIES[version], libraries, strict=True)
        },
        description="d" * description,
        python="p" * python,
    )
    assert len(pack(package)) == total


@given(PACKAGES)
def test_pack_unpack_round_trip(package: Package) -> None:
    data = pack(package)
    assert unpack(data, "op.rknnop") == package
    assert pack(unpack(data, "op.rknnop")) == data


@given(st.binary(max_size=64), st.sampled_from([b"", SMALL_BYTES[:8], SMALL_BYTES[:16]]))
def test_random_bytes_raise_package_error_only(data: bytes, start: bytes) -> None:
    try:
        package = unpack(start + data, "op.rknnop")
    except PackageError:
        return
    assert pack(package) == start + data


def test_truncated_package_is_refused() -> None:
    for size in range(len(SMALL_BYTES)):
        with pytest.raises(PackageError, match=r"^op\.rknnop: at offset \d+: found "):
            unpack(SMALL_BYTES[:size], "op.rknnop")


def test_one_byte_change_is_detected() -> None:
    refused = 0
    for index in range(len(SMALL_BYTES)):
        for change in range(1, 256):
            data = bytearray(SMALL_BYTES)
            data[index] ^= change
            try:
                assert unpack(bytes(data), "op.rknnop") != SMALL
            except PackageError:
                refused += 1
    # Each of the 16 header bytes decides: any other value is no version 2 package of 6 sections.
    assert refused >= 16 * 255


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "at offset 0: found an empty file, expected b'RKNN', a package's start"),
        (b"\x7fELF\2", r"at offset 0: found b'\x7fELF', expected b'RKNN', a package's start"),
        (b"RKN", "at offset 0: found b'RKN', expected b'RKNN', a package's start"),
        (b"RKNN\0\0\0", "at offset 7: found the end of the file, expected a header of 16 bytes"),
        (b"RKNN\1\0\0\0" + bytes(8), "at offset 4: found 0x00000001, expected zero"),
        (
            b"RKNN\0\0\0\0" + struct.pack("<Q", 3),
            "at offset 8: found container version 3, expected one of: 1, 2",
        ),
        (
            SMALL_BYTES[:20],
            "at offset 16: found 4 bytes up to the end, expected the 8-byte length of section "
            "'program binary'",
        ),
        (
            SMALL_BYTES[:37],
            "at offset 28: found a length of 2 bytes for section 'x64 library', expected at most "
            "the 1 bytes that are left in the file",
        ),
        (
            SMALL_BYTES[:28] + b"\xff" * 8 + b"XX",
            "at offset 28: found a length of 18446744073709551615 bytes for section 'x64 library', "
            "expected at most the 2 bytes that are left in the file",
        ),
        (SMALL_BYTES + b"++", "at offset 82: found 2 more bytes, expected the end of the file"),
        (
            SMALL_BYTES[:-1] + b"a",
            "at offset 80: found byte 0xc3, expected UTF-8 text in section 'Python file'",
        ),
    ],
    ids=[
        "empty",
        "not a package",
        "cut magic",
        "cut header",
        "not zero",
        "unknown version",
        "cut length",
        "cut section",
        "huge length",
        "trailing bytes",
        "not UTF-8",
    ],
)
def test_unpack_error_messages(data: bytes, message: str) -> None:
    with pytest.raises(PackageError) as caught:
        unpack(data, "op.rknnop")
    assert str(caught.value) == f"op.rknnop: {message}"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 3}, "package version 3 is unknown (expected 1, 2)"),
        (
            {"version": 1},
            "a version 1 package carries the libraries x64, aarch64; given: x64, aarch64, armhf",
        ),
        (
            {"libraries": {}},
            "a version 2 package carries the libraries x64, aarch64, armhf; given: none",
        ),
    ],
)
def test_pack_invalid_values(change: dict[str, object], message: str) -> None:
    with pytest.raises(PackageError) as caught:
        pack(dataclasses.replace(SMALL, **change))  # type: ignore[arg-type]
    assert str(caught.value) == message


def test_describe_lists_everything(tmp_path: Path) -> None:
    source = tmp_path / "op.c"
    source.write_text(
        '#include <stdlib.h>\n__attribute__((visibility("default")))\n'
        "void *(*vx_kernel_Op_list[])(size_t) = {malloc, 0};\n"
    )
    library = build(
        tmp_path / "op.so", "-shared", "-O2", "-s", source, abi=ABIS["x64"]
    ).read_bytes()
    package = Package(
        version=2,
        program_binary=b"FULLPRGM....",
        libraries={"x64": library, "aarch64": b"<html>", "armhf": b""},
        description="name: Op\nkernel_index: 1\ninputs: {a: {type: VX_TYPE_TENSOR}}\n",
        python="class Op: pass\n",
    )
    assert describe(package).splitlines() == [
        "operator        Op",
        "target_platform not given",
        "kernel_index    1",
        "package version 2",
        "",
        "section              bytes  kind",
        "program binary          12  FULLPRGM",
        f"x64 library     {len(library):>10}  EM_X86_64 64-bit little-endian, glibc 2.2.5, "
        "exports vx_kernel_Op_list",
        "aarch64 library          6  not an ELF file: it begins with b'<htm'",
        "armhf library            0  not an ELF file: it begins with b''",
        "op.yml                  61  text",
        "Python file             15  text",
        "",
        "op.yml:",
        "name: Op",
        "kernel_index: 1",
        "inputs: {a: {type: VX_TYPE_TENSOR}}",
    ]


@pytest.mark.parametrize(
    ("program_binary", "kind"),
    [
        (b"", "empty"),
        (b"SHDR\1", "SHDR"),
        (b"FULLPRGM", "FULLPRGM"),
        (b"FULLPRG", "unknown"),
        (b" SHDR", "unknown"),
    ],
)
def test_program_binary_kind(program_binary: bytes, kind: str) -> None:
    assert rknnop.program_binary_kind(program_binary) == kind


@given(PACKAGES)
def test_describe_escapes_control_characters(package: Package) -> None:
    assert all(character.isprintable() or character in "\n\t" for character in describe(package))


@pytest.mark.parametrize("escape", ["2FFFFFFF", "FFFFFFFF", "00110000"])
def test_describe_escapes_that_are_no_characters(escape: str) -> None:
    package = dataclasses.replace(SMALL, description=f'name: "\\U{escape}"\n')
    assert "operator        not given" in describe(package)


def test_describe_invalid_yaml() -> None:
    listing = describe(dataclasses.replace(SMALL, description="{: \x1b[2J"))
    assert "operator        not given" in listing
    assert r"{: \x1b[2J" in listing
