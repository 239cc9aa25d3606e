"""The source lines of addresses."""

from __future__ import annotations

import subprocess
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from opkit.check.debug_info import addr2line
from tests.check.target_repositories import need

# The linker places .text.unlikely before .text, without a gap; the compiler describes it later.
SOURCE = """\
int usual(int x) { return x + 3; }
__attribute__((section(".text.unlikely"))) int rare(int x) { return x + 5; }
"""


def test_begin_of_a_section_behind_another_has_a_line(tmp_path: Path) -> None:
    source, library = tmp_path / "a.c", tmp_path / "a.so"
    source.write_text(SOURCE)
    flags = ("-g", "-Os", "-falign-functions=1", "-shared", "-nostdlib", "-o")
    subprocess.run([need("gcc", "gcc libc6-dev"), *flags, library, source], check=True)
    with library.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        symbols = {symbol.name: symbol for symbol in table.iter_symbols()}
    usual, rare = symbols["usual"], symbols["rare"]
    assert rare["st_value"] + rare["st_size"] == usual["st_value"]
    assert addr2line(library, rare["st_value"] + 1) == "a.c:2"
    assert addr2line(library, usual["st_value"] + 1) == "a.c:1"
