"""Format a package as a listing for people, and as JSON for programs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from textwrap import wrap
from typing import Any

from opkit.runtimes.rknn.rknnop import (
    Package,
    library_section,
    program_binary_kind,
    sections,
)
from opkit.text import printable
from opkit.toolchains import elf
from rknn_op.runtimes.rknn.packages.description import scalars

_FIELDS = ("target_platform", "kernel_index")
_NOT_GIVEN = "not given"


def as_json(package: Package, file: str) -> dict[str, Any]:
    """Return a package as values for JSON.

    file, version; operator, target_platform, kernel_index: of op.yml, as text, or null; sections:
    in the order of the file, each with name, bytes and sha256, the program binary with kind, a
    library with its contents, or with error; description, python: the texts.
    """
    given = scalars(package.description)
    details: dict[str, dict[str, Any]] = {
        "program binary": {"kind": program_binary_kind(package.program_binary)},
        **{library_section(abi): _library(data) for abi, data in package.libraries.items()},
    }
    return {
        "file": file,
        "version": package.version,
        "operator": given.get("name"),
        **{field: given.get(field) for field in _FIELDS},
        "sections": [
            {
                "name": name,
                "bytes": len(content),
                "sha256": hashlib.sha256(content).hexdigest(),
                **details.get(name, {}),
            }
            for name, content in sections(package).items()
        ],
        "description": package.description,
        "python": package.python,
    }


def _library(data: bytes) -> dict[str, Any]:
    try:
        found = elf.read(data)
    except elf.ElfError as error:
        return {"error": str(error)}
    return {
        "architecture": found.architecture,
        "glibc": elf.newest_glibc(found),
        "exports": found.exports,
        "needed": found.needed,
        "symbol_versions": found.versions,
    }


def as_text(package: Package) -> str:
    """Return a package as a listing: operator, sections, op.yml."""
    given = scalars(package.description)
    kinds = {
        "program binary": program_binary_kind(package.program_binary),
        **{library_section(abi): _library_kind(data) for abi, data in package.libraries.items()},
    }
    lines = [
        f"operator        {given.get('name', _NOT_GIVEN)}",
        *(f"{field:15} {given.get(field, _NOT_GIVEN)}" for field in _FIELDS),
        f"package version {package.version}",
        "",
        f"{'section':16}{'bytes':>10}  kind",
        *(
            line
            for name, content in sections(package).items()
            for line in _rows(name, len(content), kinds.get(name, "text"))
        ),
        "",
        "op.yml:",
        package.description.rstrip("\n"),
        "",
    ]
    return printable("\n".join(lines))


def _rows(name: str, size: int, kind: str) -> Iterator[str]:
    """Yield the lines of a section; a long kind continues on lines of its own."""
    start = f"{name:16}{size:>10}  "
    for sentence in kind.split("\n"):
        for line in wrap(sentence, 80 - len(start), break_long_words=False, break_on_hyphens=False):
            yield start + line
            start = " " * len(start)


def _library_kind(data: bytes) -> str:
    try:
        found = elf.read(data)
    except elf.ElfError as error:
        return str(error)
    glibc = elf.newest_glibc(found) or "not needed"
    exports = ", ".join(found.exports) or "nothing"
    return f"{found.architecture}\nglibc {glibc}, exports {exports}"
