"""Debuggers: the source lines of addresses, and the command of gdb."""

from __future__ import annotations

import shlex
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from pathlib import Path


@cache
def _table(library: Path) -> tuple[list[int], list[str | None]]:
    """Return the start addresses of lines, sorted, and the lines."""
    from elftools.elf.elffile import ELFFile  # imported only for a report

    rows: list[tuple[int, str | None]] = []
    with library.open("rb") as file:
        elf = ELFFile(file)
        if not elf.has_dwarf_info():
            return [], []
        information = elf.get_dwarf_info()
        for unit in information.iter_CUs():
            program = information.line_program_for_CU(unit)
            if program is None:
                continue
            names = [entry.name.decode(errors="replace") for entry in program["file_entry"]]
            first = 0 if program["version"] >= 5 else 1
            line: str | None = None
            for entry in program.get_entries():
                state = entry.state
                if state is None:
                    continue
                if state.end_sequence:
                    line = None
                elif state.line:  # 0: several lines at once, as in an optimized loop
                    line = f"{names[state.file - first]}:{state.line}"
                rows.append((state.address, line))
    # Where a section begins at the end of another one, that one's end comes first.
    rows.sort(key=lambda row: (row[0], row[1] is not None))
    return [address for address, _ in rows], [line for _, line in rows]


def addr2line(library: Path, address: int) -> str | None:
    """Return file:line of the instruction before a return address, or None if unknown."""
    if address == 0:
        return None
    addresses, lines = _table(library)
    index = bisect_right(addresses, address - 1) - 1
    return lines[index] if index >= 0 else None


@cache
def thread_local(library: Path, offset: int) -> tuple[str, str] | None:
    """Return name and file:line of the _Thread_local variable at an offset; None: unknown."""
    from elftools.dwarf.dwarf_expr import DWARFExprParser
    from elftools.elf.elffile import ELFFile

    found: dict[int, tuple[str, str]] = {}
    with library.open("rb") as file:
        information = ELFFile(file).get_dwarf_info()
        for unit in information.iter_CUs():
            parser = DWARFExprParser(unit.structs)
            program = information.line_program_for_CU(unit)
            for variable in unit.iter_DIEs():
                values = {name: each.value for name, each in variable.attributes.items()}
                place, name = values.get("DW_AT_location"), values.get("DW_AT_name")
                if not isinstance(place, list) or name is None or program is None:
                    continue
                operations = parser.parse_expr(place)
                if len(operations) == 2 and operations[1].op_name in _TLS_OPERATIONS:
                    first = 0 if program["version"] >= 5 else 1
                    entry = program["file_entry"][values["DW_AT_decl_file"] - first]
                    line = f"{entry.name.decode(errors='replace')}:{values['DW_AT_decl_line']}"
                    found[operations[0].args[0]] = name.decode(errors="replace"), line
    return found[max(starts)] if (starts := [each for each in found if each <= offset]) else None


_TLS_OPERATIONS = ("DW_OP_GNU_push_tls_address", "DW_OP_form_tls_address")


def gdb_command(command: Sequence[str], request: bytes, location: str, folder: Path) -> list[str]:
    """Write the request and a script for gdb; return the gdb command.

    Args:
        command: the command line of the harness.
        request: the stdin of the harness.
        location: the breakpoint: a function, in gdb's syntax.
        folder: the folder for the request and the script.
    """
    folder.mkdir(parents=True, exist_ok=True)
    job, answer, script = folder / "job", folder / "answer", folder / "job.gdb"
    program, *arguments = command
    job.write_bytes(request)
    run = shlex.join(["run", *arguments])
    script.write_text(
        # "pending": the kernel's library is loaded later.
        "set breakpoint pending on\nset confirm off\nset follow-fork-mode child\n"
        f"break {location}\n{run} < {shlex.quote(str(job))} > {shlex.quote(str(answer))}\n",
        encoding="utf-8",
    )
    return ["gdb", "-q", "-x", str(script), program]
