"""Libraries made by a real compiler, one for each defect that a board refuses."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from hypothesis import given
from hypothesis import strategies as st

from opkit.common.errors import OpkitError
from opkit.common.file_io import FileError
from opkit.runtimes.rknn.scons.package import requirements
from opkit.toolchains import elf
from opkit.toolchains.abi import ABIS, Abi
from opkit.toolchains.elf import ElfError, Requirements, SystemLibrary, check
from tests import compiling
from tests.marks import quick_first

LIST = "vx_kernel_Op_list"
REQUIRED = requirements("Op")
BOARD = frozenset({"vxCopyScalar"})

GOOD = """
#include <math.h>
#include <stdlib.h>
int vxCopyScalar(void *scalar, void *value, int usage, int memory);
__attribute__((weak)) void __gmon_start__(void);
static double call(double x)
{
    if (__gmon_start__)
        __gmon_start__();
    return (getenv("OP") != 0) + pow(x, 1.5) + powf((float)x, 2.5f) + vxCopyScalar(0, 0, 0, 0);
}
__attribute__((visibility("default"))) double (*vx_kernel_Op_list[])(double) = {call, 0};
"""
BARE = '__attribute__((visibility("default"))) int vx_kernel_Op_list[2];\n'

ARCHITECTURES = {
    "x64": "EM_X86_64 64-bit little-endian",
    "aarch64": "EM_AARCH64 64-bit little-endian",
    "armhf": "EM_ARM 32-bit little-endian EABI5 hard-float",
    "riscv64": "EM_RISCV 64-bit little-endian",
}

Build = Callable[..., Path]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Return a function that compiles a text and returns the path of the output."""

    def compile_(source: str, *options: str, abi: str = "x64", kind: str = "-shared") -> Path:
        folder = tmp_path_factory.mktemp("library")
        (folder / "source.c").write_text(source)
        flags = ("-O2", "-fvisibility=hidden", kind, "-g0", *(() if kind == "-c" else ("-s",)))
        return compiling.build(
            folder / "library.so", *flags, folder / "source.c", *options, abi=ABIS[abi]
        )

    return compile_


@pytest.fixture(scope="module")
def openvx(build: Build) -> dict[str, str]:
    """Return ABI -> path of a libOpenVX.so for linking."""
    source = '__attribute__((visibility("default"))) int vxCopyScalar(void) { return 0; }\n'
    paths = {}
    for abi in ABIS:
        made = build(source, "-Wl,-soname,libOpenVX.so", abi=abi)
        paths[abi] = str(made.rename(made.with_name("libOpenVX.so")))
    return paths


@pytest.fixture(scope="module")
def good(build: Build, openvx: dict[str, str]) -> dict[str, Path]:
    """Return ABI -> path of a valid library."""
    return {abi: build(GOOD, openvx[abi], "-lm", abi=abi) for abi in ABIS}


def problems(path: Path, abi: Abi, symbols: frozenset[str] | None = BOARD) -> list[str]:
    openvx, *others = REQUIRED.libraries
    libraries = (dataclasses.replace(openvx, exports=symbols), *others)
    try:
        check(path, abi, dataclasses.replace(REQUIRED, libraries=libraries))
    except ElfError as error:
        first, *rest = str(error).split("\n  - ")
        assert first == f"{path}: not a library that every {abi.name} system can use:"
        assert rest
        return rest
    return []


@pytest.mark.parametrize("abi", ABIS)
def test_valid_library_passes(abi: str, good: dict[str, Path]) -> None:
    assert problems(good[abi], ABIS[abi]) == []


@pytest.mark.parametrize("abi", ABIS)
def test_thread_local_variables_need_only_the_loader(abi: str, build: Build) -> None:
    """The loader of every glibc defines __tls_get_addr."""
    source = (
        "static _Thread_local int calls;\nint count(void);\nint count(void) { return ++calls; }\n"
    )
    made = build(BARE + source, "-Wl,-u,count", "-Wl,-z,defs", abi=abi)
    assert problems(made, ABIS[abi]) == []
    needed = elf.read(made.read_bytes()).needed
    assert needed == (() if abi == "aarch64" else (ABIS[abi].loader,))


@pytest.mark.parametrize("abi", ABIS)
def test_valid_library_fields(abi: str, good: dict[str, Path]) -> None:
    library = elf.read(good[abi].read_bytes())
    assert library.architecture == ARCHITECTURES[abi]
    assert library.shared
    assert library.exports == (LIST,)
    assert library.unversioned == ("vxCopyScalar",)
    assert set(library.needed) == {each.name for each in REQUIRED.libraries}
    oldest = {"x64": "2.2.5", "aarch64": "2.17", "armhf": "2.4", "riscv64": "2.27"}[abi]
    assert library.versions == {f"GLIBC_{oldest}": ("getenv", "pow", "powf")}
    assert elf.newest_glibc(library) == oldest
    assert library.run_paths == ()
    assert not library.executable_stack
    assert not library.text_relocations


@pytest.mark.parametrize("made_for", quick_first(2, ABIS))
@pytest.mark.parametrize("wanted", ABIS)
def test_wrong_machine(made_for: str, wanted: str, good: dict[str, Path]) -> None:
    expected = []
    if made_for != wanted:
        expected = [f"it is {ARCHITECTURES[made_for]}; {wanted} is {ARCHITECTURES[wanted]}"]
    first = problems(good[made_for], ABIS[wanted])[:1]  # the next one may be its newer glibc
    assert first == expected


@pytest.mark.parametrize("abi", [abi for abi in ABIS if ABIS[abi].glibc_ceiling == "2.17"])
def test_newer_glibc(abi: str, build: Build, openvx: dict[str, str]) -> None:
    target = f"{ABIS[abi].triple}.2.36"
    library = build(GOOD, openvx[abi], "-lm", f"--target={target}", abi=abi)
    assert problems(library, ABIS[abi]) == [
        f"it needs {need}, but an {abi} system may have glibc 2.17: build with toolchain=zig, or "
        "with a compiler whose glibc is no newer"
        for need in ("GLIBC_2.27 (powf)", "GLIBC_2.29 (pow)")
    ]
    assert elf.newest_glibc(elf.read(library.read_bytes())) == "2.29"
    assert problems(library, dataclasses.replace(ABIS[abi], glibc_ceiling="2.29")) == []
    # 2.9 is older than 2.29, though it sorts after it as text. aarch64 begins with 2.17.
    too_new = 3 if abi == "aarch64" else 2
    assert len(problems(library, dataclasses.replace(ABIS[abi], glibc_ceiling="2.9"))) == too_new
    assert len(problems(library, dataclasses.replace(ABIS[abi], glibc_ceiling="2.27"))) == 1


NOT_SHARED = "it is not a shared library; link with -shared"
NO_LIST = f"it does not export {LIST}, which the runtime looks up"
NO_OPENVX = "it calls vxCopyScalar without needing libOpenVX.so; link with -lOpenVX"
STACK = "it asks for an executable stack; link with -z noexecstack"
RUN_PATH = "it has the run path /opt/lib; link without -rpath"
FAULTS: dict[str, tuple[str, tuple[str, ...], str, list[str]]] = {
    "object file": (BARE, (), "-c", [NOT_SHARED, NO_LIST, STACK]),
    "no list": ("int vx_kernel_Op_list[2];\n", (), "-shared", [NO_LIST]),
    "list only declared": (
        f"extern int {LIST}[];\n"
        '__attribute__((visibility("default"))) int *other = vx_kernel_Op_list;\n',
        (),
        "-shared",
        [
            NO_LIST,
            f"it exports other besides {LIST}; two operators in one process would clash: make "
            "them static",
            f"it uses {LIST}, which no library that it needs defines",
        ],
    ),
    "more exports": (
        f"{BARE}int helper = 1;\n__attribute__((weak)) int another(void) {{ return 2; }}\n",
        ("-fvisibility=default",),
        "-shared",
        [
            f"it exports another, helper besides {LIST}; two operators in one process would "
            "clash: make them static"
        ],
    ),
    "RUNPATH": (BARE, ("-Wl,-rpath,/opt/lib",), "-shared", [RUN_PATH]),
    "RPATH": (
        BARE,
        ("-Wl,-rpath,/opt/lib", "-Wl,--disable-new-dtags"),
        "-shared",
        [RUN_PATH],
    ),
    "text relocation": (
        f'{BARE}__asm__(".text\\n.quad vx_kernel_Op_list\\n");\n',
        ("-Wl,-z,notext",),
        "-shared",
        ["it has text relocations; compile with -fPIC"],
    ),
    "undefined helper": (
        "int helper(void);\n"
        '__attribute__((visibility("default"))) int (*vx_kernel_Op_list[])(void) = {helper};\n',
        (),
        "-shared",
        ["it uses helper, which no library that it needs defines"],
    ),
    "no libOpenVX.so": (GOOD, ("-lm",), "-shared", [NO_OPENVX]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_defect_is_named(fault: str, build: Build) -> None:
    source, options, kind, expected = FAULTS[fault]
    found = problems(build(source, *options, kind=kind), ABIS["x64"])
    assert found == expected


@pytest.mark.parametrize("kind", ["-no-pie", "-pie"])
def test_executable_is_refused(kind: str, build: Build) -> None:
    program = build(f"{BARE}int main(void) {{ return 0; }}\n", kind=kind)
    assert problems(program, ABIS["x64"]) == [NOT_SHARED, NO_LIST]


@pytest.mark.parametrize(("alignment", "is_refused"), [(4096, True), (16384, False)])
def test_alignment_for_large_pages(alignment: int, is_refused: bool, build: Build) -> None:
    abi = dataclasses.replace(ABIS["aarch64"], page_size=16384)
    library = build(BARE, f"-Wl,-z,max-page-size={alignment}", abi="aarch64")
    assert problems(library, ABIS["aarch64"]) == []
    expected = (
        f"its segments are aligned to {alignment} bytes, but an aarch64 system may have pages of "
        "16384; link with -Wl,-z,max-page-size=16384"
    )
    assert problems(library, abi) == ([expected] if is_refused else [])


def test_unavailable_dependency(build: Build) -> None:
    export = '__attribute__((visibility("default"))) '
    other = build(f"{export}int helper(void) {{ return 0; }}\n", "-Wl,-soname,libhelper.so.2")
    library = build(
        f"int helper(void);\n{export}int (*vx_kernel_Op_list[])(void) = {{helper, 0}};\n",
        str(other),
    )
    assert problems(library, ABIS["x64"])[0] == (
        "it needs libhelper.so.2; the board has libOpenVX.so, libc.so.6, libm.so.6"
    )


def test_board_openvx_functions(good: dict[str, Path]) -> None:
    abi = ABIS["x64"]
    assert problems(good["x64"], abi, None) == []
    assert problems(good["x64"], abi, frozenset({"vxQueryTensor"})) == [
        "it calls vxCopyScalar, which the board's libOpenVX.so does not export"
    ]


def test_requirements_of_another_runtime(good: dict[str, Path]) -> None:
    system = (SystemLibrary("libother.so.2", "vxCopy"), SystemLibrary("libc.so.6"))
    with pytest.raises(ElfError) as caught:
        check(good["x64"], ABIS["x64"], Requirements(("open", "close"), system))
    assert str(caught.value).split("\n  - ")[1:] == [
        "it does not export open, close, which the runtime looks up",
        f"it exports {LIST} besides open, close; two operators in one process would clash: make "
        "them static",
        "it needs libOpenVX.so; the board has libother.so.2, libc.so.6",
        "it needs libm.so.6; the board has libother.so.2, libc.so.6",
        "it calls vxCopyScalar without needing libother.so.2; link with -lother",
    ]


def test_all_defects_are_listed(build: Build) -> None:
    source = f"{GOOD}\nint vxGetLogEntry(void);\nint helper(void) {{ return vxGetLogEntry(); }}\n"
    library = build(
        source,
        "-lm",
        "-fvisibility=default",
        "-Wl,-rpath,/opt/lib",
        "--target=x86_64-linux-gnu.2.36",
    )
    found = problems(library, ABIS["aarch64"])
    assert [problem.split(" (")[0].split(";")[0] for problem in found] == [
        f"it is {ARCHITECTURES['x64']}",
        f"it exports helper besides {LIST}",
        "it needs GLIBC_2.27",
        "it needs GLIBC_2.29",
        "it calls vxCopyScalar, vxGetLogEntry without needing libOpenVX.so",
        "it calls vxGetLogEntry, which the board's libOpenVX.so does not export",
        "it has the run path /opt/lib",
    ]


def patched(library: Path, offset: int, value: bytes, folder: Path) -> Path:
    data = bytearray(library.read_bytes())
    assert data[offset : offset + len(value)] != value
    data[offset : offset + len(value)] = value
    path = folder / "patched.so"
    path.write_bytes(data)
    return path


def section(library: Path, name: str) -> int:
    """Return the offset of a section."""
    with library.open("rb") as file:
        found = ELFFile(file).get_section_by_name(name)
        assert found is not None
        return int(found["sh_offset"])


@pytest.mark.parametrize(
    ("visibility", "exported"),
    [(1, False), (2, False), (3, True)],
    ids=["internal", "hidden", "protected"],
)
def test_visibility_of_exports(
    visibility: int, exported: bool, build: Build, tmp_path: Path
) -> None:
    library, symbol_size, other = build(BARE), 24, 5
    assert elf.read(library.read_bytes()).exports == (LIST,)
    # The list is the only symbol after the null symbol.
    at = section(library, ".dynsym") + symbol_size + other
    changed = patched(library, at, bytes([visibility]), tmp_path)
    assert problems(changed, ABIS["x64"]) == ([] if exported else [NO_LIST])


@pytest.mark.parametrize(
    ("bind", "exported"), [(0, False), (2, True), (10, True)], ids=["local", "weak", "unique"]
)
def test_binding_of_exports(bind: int, exported: bool, build: Build, tmp_path: Path) -> None:
    library, symbol_size, info = build(BARE), 24, 4
    at = section(library, ".dynsym") + symbol_size + info
    changed = patched(library, at, bytes([bind << 4 | 1]), tmp_path)
    assert problems(changed, ABIS["x64"]) == ([] if exported else [NO_LIST])


def test_text_relocation_flags(build: Build, tmp_path: Path) -> None:
    source, options, kind, expected = FAULTS["text relocation"]
    library = build(source, *options, kind=kind)
    table = library.read_bytes()[section(library, ".dynamic") :]
    tags = [tag for tag, _ in struct.iter_unpack("<QQ", table[: len(table) // 16 * 16])]
    flags = section(library, ".dynamic") + 16 * tags.index(30)
    textrel = section(library, ".dynamic") + 16 * tags.index(22)
    other_tag, only_bind_now = struct.pack("<Q", 21), struct.pack("<Q", 8)

    only_flag = patched(library, textrel, other_tag, tmp_path)
    assert problems(only_flag, ABIS["x64"]) == expected
    neither = patched(only_flag, flags + 8, only_bind_now, tmp_path)
    assert problems(neither, ABIS["x64"]) == []
    only_tag = patched(library, flags + 8, only_bind_now, tmp_path)
    assert problems(only_tag, ABIS["x64"]) == expected


def stack_header(library: Path) -> int:
    """Return the offset of PT_GNU_STACK in a 64-bit file, from the layout of the ELF standard."""
    data = library.read_bytes()
    (table,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    found: int
    (found,) = (
        table + index * size
        for index in range(count)
        if data[table + index * size :][:4] == struct.pack("<I", 0x6474E551)
    )
    return found


def test_executable_stack(good: dict[str, Path], tmp_path: Path) -> None:
    library, read_write_execute = good["x64"], struct.pack("<I", 7)
    path = patched(library, stack_header(library) + 4, read_write_execute, tmp_path)
    assert problems(path, ABIS["x64"]) == [STACK]


def test_missing_gnu_stack(good: dict[str, Path], tmp_path: Path) -> None:
    library, unused_header = good["aarch64"], struct.pack("<I", 0)
    path = patched(library, stack_header(library), unused_header, tmp_path)
    assert problems(path, ABIS["aarch64"]) == [STACK]


@pytest.mark.parametrize(
    ("flags", "found"),
    [
        (0x05000200, "EABI5 soft-float"),
        (0x05000000, "EABI5 soft-float"),
        (0x04000400, "EABI4 hard-float"),
    ],
)
def test_wrong_arm_float_abi(flags: int, found: str, good: dict[str, Path], tmp_path: Path) -> None:
    path = patched(good["armhf"], 36, struct.pack("<I", flags), tmp_path)
    assert problems(path, ABIS["armhf"]) == [
        f"it is EM_ARM 32-bit little-endian {found}; armhf is {ARCHITECTURES['armhf']}"
    ]


def test_invalid_elf(good: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "library.so"

    def message() -> str:
        with pytest.raises(OpkitError) as caught:
            check(path, ABIS["x64"], REQUIRED)
        return str(caught.value)

    assert message() == f"{path}: cannot be read: No such file or directory"
    path.write_bytes(b"")
    assert message() == f"{path}: not an ELF file: it begins with b''"
    path.write_bytes(b"!<arch>\n")
    assert message() == f"{path}: not an ELF file: it begins with b'!<ar'"
    with pytest.raises(FileError, match="/dev/zero: is a device or a pipe, not a file"):
        check(Path("/dev/zero"), ABIS["x64"], REQUIRED)
    path.write_bytes(good["x64"].read_bytes()[:-1])
    assert message().startswith(f"{path}: a damaged ELF file of ")


def test_largest_file() -> None:
    data = b"\x7fELF".ljust(64 << 20, b"\0")
    with pytest.raises(ElfError, match="a damaged ELF file of 67108864 bytes: "):
        elf.read(data)
    message = "an ELF file of 67108865 bytes \\(expected 67108864 at most\\)"
    with pytest.raises(ElfError, match=message):
        elf.read(data + b"\0")


@given(st.lists(st.tuples(st.floats(0, 1), st.sampled_from([0, 1, 0x7F, 0x80, 0xFF])), max_size=9))
def test_damage_is_an_elf_error_or_harmless(
    good: dict[str, Path], damage: list[tuple[float, int]]
) -> None:
    data = bytearray(good["armhf"].read_bytes())
    for place, byte in damage:
        data[4 + int(place * (len(data) - 5))] = byte
    with suppress(ElfError):
        elf.read(bytes(data))


@given(cut=st.floats(0, 1, exclude_max=True))
def test_truncated_file_is_refused(good: dict[str, Path], cut: float) -> None:
    data = good["armhf"].read_bytes()
    with pytest.raises(ElfError):
        elf.read(data[: int(cut * len(data))])
