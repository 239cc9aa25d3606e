"""The package: its layout, and invalid bytes."""

from __future__ import annotations

import dataclasses
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opkit.runtimes.rknn import rknnop
from opkit.runtimes.rknn.rknnop import Package, PackageError, pack, unpack
from tests.rknn_op.packages import PACKAGES

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
    for size in range(1, len(SMALL_BYTES)):
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
    # Each of the 16 header bytes matters: no other value is a version 2 package of 6 sections.
    assert refused >= 16 * 255


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"<html>", "at offset 0: found b'<htm', expected b'RKNN', a package's start"),
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
    ("file", "data", "kind"),
    [
        ("a.rknnop", b"", "an empty file"),
        ("a.rknnop", b"\x7fELF\2\1\1", "an ELF file"),
        ("a.rknnop", b"PK\3\4....", "a ZIP archive"),
        ("a.rknnop", b"\x1f\x8b\x08\0", "a gzip archive"),
        ("a.bin", b"SHDR....", "a program binary"),
        ("op.yml", b"name: Op\n", "a YAML file"),
        ("op.YAML", b"name: Op\n", "a YAML file"),
        ("model.rknn", SMALL_BYTES[:16] + struct.pack("<Q", 4) + b"....{}", "an RKNN model"),
        ("model.rknn", SMALL_BYTES[:8] + struct.pack("<Q", 6), "an RKNN model"),
    ],
)
def test_other_files_are_named(file: str, data: bytes, kind: str) -> None:
    with pytest.raises(PackageError) as caught:
        unpack(data, file)
    assert str(caught.value) == f"{file}: is {kind}, not a package (.rknnop)"


def test_package_of_another_name_is_read() -> None:
    assert unpack(SMALL_BYTES, "op.rknn") == SMALL


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
