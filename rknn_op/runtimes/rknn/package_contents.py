"""The contents of a package (.rknnop): a listing, values for JSON, extracted files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from textwrap import wrap
from typing import Any, TypeAlias

import yaml

from opkit.common.complaint import Complaint
from opkit.common.errors import OpkitError
from opkit.common.text import printable
from opkit.description.reader import DescriptionError, Reader
from opkit.runtimes.rknn.rknnop import (
    Package,
    library_section,
    pack,
    program_binary_kind,
    section_names,
    sections,
)
from opkit.toolchains import elf

# ---- op.yml, written by any toolkit, as plain values ---------------------------------------------

MAX_CHARACTERS = 20_000
"""Limit of an op.yml: at worst PyYAML takes a second for it, and 300 bytes per character."""

Value: TypeAlias = "str | list[Value] | dict[str, Value]"


def fields(text: str, file: str = "op.yml") -> dict[str, Value]:
    """Return the keys and values of an op.yml in its order, scalars as they are written.

    Keys are not checked, and values are not converted.

    Raises:
        DescriptionError: it is not a YAML mapping, or is longer than the limit.
    """
    if len(text) > MAX_CHARACTERS:
        problem = f"has {len(text):,} characters"
        raise DescriptionError(Complaint(file, problem, 1, expected=f"{MAX_CHARACTERS:,} at most"))
    value = _plain_value(Reader(file).root(text))
    if not isinstance(value, dict):
        raise DescriptionError(Complaint(file, "has no keys", 1))
    return value


def scalars(text: str) -> dict[str, str]:
    """Return the top-level scalars of an op.yml; empty if it cannot be read."""
    try:
        return {key: value for key, value in fields(text).items() if isinstance(value, str)}
    except DescriptionError:
        return {}


def _plain_value(node: yaml.Node) -> Value:
    if isinstance(node, yaml.MappingNode):
        pairs = ((_plain_value(key), _plain_value(value)) for key, value in node.value)
        return {key if isinstance(key, str) else repr(key): value for key, value in pairs}
    if isinstance(node, yaml.SequenceNode):
        return [_plain_value(item) for item in node.value]
    return str(node.value)


# ---- The listing for people, and JSON for programs -----------------------------------------------

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
    kinds = {"program binary": program_binary_kind(package.program_binary)}
    for abi, data in package.libraries.items():
        found = _library(data)
        if "error" not in found:
            glibc = f"glibc {found['glibc'] or 'not needed'}"
            exports = ", ".join(found["exports"]) or "nothing"
            found["error"] = f"{found['architecture']}\n{glibc}, exports {exports}"
        kinds[library_section(abi)] = found["error"]
    rows = []
    for name, content in sections(package).items():
        start = f"{name:16}{len(content):>10}  "
        for sentence in kinds.get(name, "text").split("\n"):
            width = 80 - len(start)
            for line in wrap(sentence, width, break_long_words=False, break_on_hyphens=False):
                rows.append(start + line)
                start = " " * len(start)  # a long kind continues on lines of its own
    lines = [
        f"operator        {given.get('name', _NOT_GIVEN)}",
        *(f"{field:15} {given.get(field, _NOT_GIVEN)}" for field in _FIELDS),
        f"package version {package.version}",
        "",
        f"{'section':16}{'bytes':>10}  kind",
        *rows,
        "",
        "op.yml:",
        package.description.rstrip("\n"),
        "",
    ]
    return printable("\n".join(lines))


# ---- Files: the sections, and a package of them --------------------------------------------------

FILES: Mapping[str, str] = {
    "program binary": "program_binary.bin",
    "x64 library": "x64.so",
    "aarch64 library": "aarch64.so",
    "armhf library": "armhf.so",
    "op.yml": "op.yml",
    "Python file": "op.py",
}
"""Section -> the name of its file, never a name from the package."""


def extract(package: Package, folder: Path) -> list[Path]:
    """Write each section into a file, except an empty program binary.

    Args:
        package: the package.
        folder: a new or empty folder; not a link.

    Returns:
        The files, in the order of the package.

    Raises:
        OpkitError: the folder has files or cannot be written; then no new file is left.
    """
    assert FILES.keys() >= {*section_names(package.version)}
    contents = {FILES[name]: data for name, data in sections(package).items()}
    if not package.program_binary:
        del contents[FILES["program binary"]]
    with _errors(folder):
        with suppress(FileExistsError):
            folder.mkdir(parents=True)
        # By a descriptor: all files get into this folder, even if its path changes meanwhile.
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        with os.scandir(descriptor) as entries:
            if any(entries):
                raise OpkitError(f"{folder}: is not empty; pass a new folder")
        _write(contents, folder, descriptor)
    finally:
        os.close(descriptor)
    return [folder / name for name in contents]


def repack(package: Package, file: Path) -> None:
    """Write a package to a new file.

    Raises:
        OpkitError: the file exists or cannot be written.
    """
    with _errors(file.parent):
        descriptor = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _write({file.name: pack(package)}, file.parent, descriptor)
    finally:
        os.close(descriptor)


def _write(contents: Mapping[str, bytes], folder: Path, descriptor: int) -> None:
    """Write new files into an open folder, all or none."""
    written: list[str] = []
    try:
        for name, data in contents.items():
            with _errors(folder / name):
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
                file = os.open(name, flags, 0o666, dir_fd=descriptor)
                written.append(name)
                with os.fdopen(file, "wb") as stream:
                    stream.write(data)
    except BaseException:
        for name in written:
            os.unlink(name, dir_fd=descriptor)
        raise


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    try:
        yield
    except FileExistsError:
        raise OpkitError(f"{path}: already exists; pass another, or delete it") from None
    except NotADirectoryError:
        raise OpkitError(f"{path}: is not a folder; links are not followed") from None
    except OSError as error:
        raise OpkitError(f"{path}: cannot be written: {error.strerror}") from None
