"""Lays an operator over a source checkout of ppl.nn, and takes it out again.

    python3 pplnn/apply.py PPLNN_CHECKOUT             lay it over, or bring it up to date
    python3 pplnn/apply.py PPLNN_CHECKOUT --check     print the changes without making them
    python3 pplnn/apply.py PPLNN_CHECKOUT --revert    restore the checkout
    python3 pplnn/apply.py --upstream --author NAME PPLNN_CHECKOUT [PPL_KERNEL_CPU_CHECKOUT]
                                                      write patches in ppl.nn's own form (x86)

The operator is in overlay.json beside this file. Its sources go to the same paths in the checkout;
the headers of the repository that they include go below the operator's own folder there. Lines are
inserted into ppl.nn's registration files; each ends with a comment that names the operator, so that
a later run finds it. A record in the checkout, written first, lists the operator's files with the
digests of their possible contents: the next run repairs an interrupted one.

With --upstream, the checkouts do not change. The patches in build/upstream/ add the operator as
ppl.nn's own operators are written: names, guards, format and registration in ppl.nn, for the x86
engine, the math in ppl.kernel.cpu, the Apache license with the author's name.

Requires Python 3.8; --upstream requires the Python of `scons`. The exit status is 0; 1 if --check
finds a change; 2 after an error.
"""

from __future__ import annotations

import hashlib
import json
import os
import posixpath
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).resolve().parent.parent
DATA = "pplnn/overlay.json"
SOURCES = "pplnn/src/"
HEADERS = "include/"
RECORDS = "src/ppl/nn/oputils/*.overlay.json"
PARTIAL = ".opkit-partial"

_INCLUDE = re.compile(rb'^([ \t]*#[ \t]*include[ \t]*")([^"\n]+)(?=")', re.MULTILINE)
_MARKED = re.compile(rb"// opkit: ([\w.-]+)\s*$")


class RefusalError(Exception):
    """The command refuses to run; nothing was changed. The message is complete."""


class Insertion(NamedTuple):
    """Lines for a file of ppl.nn's.

    Attributes:
        file: its path in the checkout.
        before: the start of a line; the lines go before the first such line.
        inside: if not empty: the start of a function's first line; the lines go to its end.
        lines: the lines, without the marking comment.
    """

    file: str
    lines: Sequence[str]
    before: str = ""
    inside: str = ""


class Overlay(NamedTuple):
    """The content of overlay.json: files and lines for a checkout.

    Attributes:
        operator: domain and type, the mark of its lines.
        folder: the operator's own folder in the checkout.
        record: the path of the record in the checkout.
        files: the paths of its files, both in the checkout and in the repository's pplnn/.
        sources: the paths of other C++ sources in the repository.
        insertions: the lines for ppl.nn's files.
        registered: a regular expression of other code that registers the same operator.
        refusal: the reason why the operator cannot be laid over a checkout; empty: it can.
    """

    operator: str
    folder: str
    record: str
    files: Sequence[str]
    sources: Sequence[str]
    insertions: Sequence[Insertion]
    registered: str
    refusal: str

    @property
    def hosts(self) -> list[str]:
        """The paths of the files of ppl.nn's that get lines."""
        return list(dict.fromkeys(insertion.file for insertion in self.insertions))


class Record(NamedTuple):
    """The files and folders of an operator in a checkout.

    Attributes:
        operator: domain and type.
        files: path -> SHA-256 of each possible content; the file may also be missing.
        folders: the folders that did not exist before.
    """

    operator: str
    files: Mapping[str, Sequence[str]] = {}
    folders: Sequence[str] = ()

    def text(self) -> bytes:
        """Return the record as the content of its file."""
        return (json.dumps(self._asdict(), indent=2, sort_keys=True) + "\n").encode()


def main(arguments: Sequence[str] | None = None, repository: Path = REPOSITORY) -> int:
    """Run the command; return its status.

    Args:
        arguments: the command-line arguments; None: the arguments of this process.
        repository: the operator's repository.
    """
    import argparse  # only here: opkit imports this module for its data

    about, usage, *_ = str(__doc__).split("\n\n")
    parser = argparse.ArgumentParser(
        description=f"{about}\n\n{usage}", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("root", type=Path, metavar="PPLNN_CHECKOUT")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--check", action="store_true", help="print the changes without making them")
    mode.add_argument("--revert", action="store_true", help="take the operator out again")
    mode.add_argument(
        "--upstream", action="store_true", help="write patches in ppl.nn's own form to build/"
    )
    parser.add_argument(
        "kernel_root",
        type=Path,
        nargs="?",
        metavar="PPL_KERNEL_CPU_CHECKOUT",
        help="with --upstream: check that the files there are new",
    )
    parser.add_argument("--author", metavar="NAME", help="with --upstream: for the license header")
    options = parser.parse_args(arguments)
    if options.upstream != bool(options.author) or (options.kernel_root and not options.upstream):
        parser.error("--upstream requires --author NAME; without it, pass one checkout only")
    try:
        overlay = read_overlay(repository)
        if options.revert:
            return revert(options.root, overlay)
        if options.upstream:
            roots = (options.root, options.kernel_root)
            return write_patches(repository, roots, overlay, options.author)
        return apply(repository, options.root, overlay, dry_run=options.check)
    except RefusalError as refusal:
        print(f"error: {refusal}", file=sys.stderr)
    except OSError as error:
        print(
            f"error: {error}. Nothing is lost: correct that, and run the command again, or with "
            "--revert",
            file=sys.stderr,
        )
    return 2


def read_overlay(repository: Path) -> Overlay:
    """Read overlay.json of a repository.

    Raises:
        RefusalError: overlay.json is missing or invalid.
    """
    try:
        content = json.loads((repository / DATA).read_bytes())
        insertions = [Insertion(**insertion) for insertion in content.pop("insertions")]
        return Overlay(insertions=insertions, **content)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise RefusalError(f"{DATA}: {error}; run `scons`, which writes it again") from None


# ---- The two commands ----------------------------------------------------------------------------


def apply(repository: Path, root: Path, overlay: Overlay, dry_run: bool) -> int:
    """Lay the operator over a checkout; return the status.

    Raises:
        RefusalError: the operator cannot be laid over it; nothing is changed.
        OSError: a file cannot be written; the next run repairs it.
    """
    print(f"{root}: ppl.nn {seen_version(root)}")
    if overlay.refusal:
        raise RefusalError(overlay.refusal)
    wanted = overlay_files(repository, overlay)
    record = read_record(root, overlay)
    hosts = {path: with_lines(root, path, overlay) for path in overlay.hosts}
    left = [path for path in record.files if path not in wanted]
    partial = _partial(overlay, {**wanted, **record.files})
    stale = [path for path in (*left, *partial) if (root / path).exists()]
    _refuse(
        *_dirty_hosts(root, hosts),
        *_other_registrations(root, overlay),
        *_foreign_files(root, record, {*wanted, *record.files}, overlay),
        *_obstacles(root, [*wanted, *hosts, *stale, overlay.record]),
    )
    after = Record(
        overlay.operator,
        {path: [_digest(data)] for path, data in wanted.items()},
        _new_folders(root, wanted, record),
    )
    changes = {p: data for p, data in {**wanted, **hosts}.items() if _read(root / p) != data}
    if not changes and not stale and record == after:
        print(f"{overlay.operator} is up to date in the checkout; nothing to do")
        return 0
    for path in [*changes, *stale]:
        print("edit " if path in hosts else "write" if path in changes else "remove", path)
    if dry_run:
        print(f"{overlay.operator} is not up to date in the checkout; nothing was changed")
        return 1
    _write(root / overlay.record, _transition(record, after).text())
    for path, data in changes.items():
        _write(root / path, data)
    _remove(root, stale, record.folders)
    _write(root / overlay.record, after.text())
    print(f"{overlay.operator} is in the checkout; run cmake again, which finds new files")
    return 0


def revert(root: Path, overlay: Overlay) -> int:
    """Take the operator out of a checkout; return the status.

    Raises:
        RefusalError: a file of the operator was changed there; nothing is changed.
        OSError: a file cannot be written; the next run repairs it.
    """
    record = read_record(root, overlay)
    hosts = {}
    for path in overlay.hosts:
        before = _read(root / path) or b""
        if without_lines(before, overlay.operator) != before:
            hosts[path] = without_lines(before, overlay.operator)
    existing = [path for path in record.files if (root / path).exists()]
    _refuse(
        *_foreign_files(root, record, record.files, overlay),
        *_obstacles(root, [*hosts, *existing]),
    )
    for path, data in hosts.items():
        _write(root / path, data)
    _remove(root, [*existing, *_partial(overlay, record.files)], record.folders)
    is_there = (root / overlay.record).exists()
    _remove(root, [overlay.record])
    print(f"{overlay.operator} {'was taken out of' if is_there or hosts else 'is not in'} {root}")
    return 0


# ---- Patches -------------------------------------------------------------------------------------

PATCHES = "build/upstream"
_CLASSES = "src/ppl/nn/engines/x86"


def write_patches(
    repository: Path, roots: tuple[Path, Path | None], overlay: Overlay, author: str
) -> int:
    """Write patches with the operator in ppl.nn's own form; return the status.

    Args:
        repository: the operator's repository.
        roots: the checkouts of ppl.nn and, to check it, of ppl.kernel.cpu.
        overlay: the operator.
        author: the name in the license header.

    Raises:
        RefusalError: the operator does not fit into the form or the checkouts.
        OSError: a patch cannot be written.
    """
    if not author.isprintable() or not author.strip() or "\\" in author:
        raise RefusalError(f"--author {author!a}: invalid (expected a name in one line)")
    root, kernel_root = roots
    print(f"{root}: ppl.nn {seen_version(root)}")
    try:
        from opkit.common.errors import OpkitError
        from opkit.runtimes.pplnn.upstream import contribution
    except ImportError as error:
        raise RefusalError(
            f"--upstream requires opkit ({error}); run it with the Python of `scons`, or first: "
            "pip install -r requirements.txt"
        ) from None
    try:
        operator = contribution(repository, author)
    except OpkitError as error:
        raise RefusalError(str(error)) from None
    engine = next(path for path in overlay.hosts if path.startswith(_CLASSES))
    parsers = next(path for path in overlay.hosts if "/engines/" not in path)
    lines = {parsers: operator.parser_lines, engine: operator.engine_lines}
    _refuse(
        *_overlaid(root, lines),
        *_other_registrations(root, overlay),
        *_existing(root, operator.nn),
        *_existing_classes(root, operator.classes),
        *(_existing(kernel_root, operator.kernel_cpu) if kernel_root else ()),
    )
    edits = "".join(_edit(root, path, each, overlay) for path, each in lines.items())
    patches = {"ppl.nn": edits + _new_files(operator.nn)}
    patches["ppl.kernel.cpu"] = _new_files(operator.kernel_cpu)
    for name, patch in patches.items():
        _write(repository / PATCHES / f"{name}.patch", patch.encode(errors="surrogateescape"))
        print(f"write {PATCHES}/{name}.patch; git apply it in a checkout of {name}")
    for path in operator.nn:
        if path.endswith("_shapes.h"):
            print(f"your C keeps its format; after git apply, run: clang-format -i {path}")
    return 0


def _overlaid(root: Path, hosts: Iterable[str]) -> Iterator[str]:
    """Yield the problems of files with lines of an overlay."""
    for path in hosts:
        for index, line in enumerate((_read(root / path) or b"").splitlines(), 1):
            if _owner(line):
                yield (
                    f"{path}:{index}: is a line of {_owner(line).decode()}, laid over the "
                    "checkout; take it out with --revert, or pass another checkout"
                )


def _existing(root: Path, paths: Iterable[str]) -> Iterator[str]:
    if not root.is_dir():
        yield f"{root}: is not a folder"
    for path in paths:
        if (root / path).exists():
            yield f"{root / path}: exists; rename the operator, or delete the file"


def _existing_classes(root: Path, classes: Sequence[str]) -> Iterator[str]:
    """Yield the problems of classes that the x86 engine has already."""
    pattern = re.compile(rf"^class ({'|'.join(classes)})\b".encode(), re.MULTILINE)
    for header in sorted((root / _CLASSES).rglob("*.h")):
        found = pattern.search(header.read_bytes())
        if found:
            path = header.relative_to(root).as_posix()
            yield f"{path}: has a class {found[1].decode()} already; rename the operator"


def _edit(
    root: Path, path: str, added: tuple[Sequence[str], Sequence[str]], overlay: Overlay
) -> str:
    """Return the patch that adds lines to a file: includes, and the end of a function."""
    before = (root / path).read_bytes().splitlines(keepends=True)
    after = list(before)
    ending = "\r\n" if before and before[0].endswith(b"\r\n") else "\n"
    for insertion in overlay.insertions:
        lines = added[1] if insertion.inside else added[0]
        if insertion.file == path:
            index = _index(after, insertion)
            if insertion.before:
                includes = [i for i in range(index) if after[i].startswith(b"#include")]
                index = includes[-1] + 1 if includes else index
            after[index:index] = [f"{line}{ending}".encode() for line in lines]
    import difflib  # only here: as argparse

    diff = difflib.unified_diff(
        [line.decode(errors="surrogateescape") for line in before],
        [line.decode(errors="surrogateescape") for line in after],
        f"a/{path}",
        f"b/{path}",
    )
    end = "\n\\ No newline at end of file\n"
    text = "".join(line if line.endswith("\n") else line + end for line in diff)
    return f"diff --git a/{path} b/{path}\n{text}"


def _new_files(texts: Mapping[str, str]) -> str:
    """Return the patch that adds files."""
    parts = []
    for path, text in sorted(texts.items()):
        lines = text.splitlines()
        head = f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"
        body = "".join(f"+{line}\n" for line in lines)
        parts.append(f"{head}@@ -0,0 +1,{len(lines)} @@\n{body}")
    return "".join(parts)


# ---- Files and lines of the operator -------------------------------------------------------------


def overlay_files(repository: Path, overlay: Overlay) -> dict[str, bytes]:
    """Return path in the checkout -> content, for all files of the operator.

    These are the operator's sources, and all headers of the repository that they include by a path
    relative to themselves or to include/.

    Raises:
        RefusalError: a file is missing, or a header is outside of the repository.
    """
    contents: dict[str, bytes] = {}
    pending = [*(f"pplnn/{path}" for path in overlay.files), *overlay.sources]
    while pending:
        path = pending.pop()
        place = _place(path, overlay)
        if place in contents:
            continue
        data = _read(repository / path)
        if data is None:
            raise RefusalError(f"{path}: file not found in the repository; run `scons`")
        for include in dict.fromkeys(match[2] for match in _INCLUDE.finditer(data)):
            header = _header(repository, path, include.decode())
            if header:
                pending.append(header)
                data = _with_include(data, include, path, header, overlay)
        contents[place] = data
    return dict(sorted(contents.items()))


def _place(path: str, overlay: Overlay) -> str:
    """Return the path in the checkout of a file of the repository."""
    if path.startswith(SOURCES):
        return path[len("pplnn/") :]
    return f"{overlay.folder}/{path}"


def _header(repository: Path, path: str, include: str) -> str:
    """Return the path in the repository of an included header; empty: it is not there."""
    candidates = (_beside(path, include), posixpath.normpath(HEADERS + include))
    header = next((each for each in candidates if (repository / each).is_file()), "")
    if header.startswith(("../", "/")):
        raise RefusalError(
            f"{path}: includes {include}, which is outside of the repository and cannot be copied;"
            " put the header into the repository"
        )
    return header


def _beside(path: str, include: str) -> str:
    """Return the path of a header included by a path relative to the file."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), include))


def _with_include(data: bytes, include: bytes, path: str, header: str, overlay: Overlay) -> bytes:
    """Return a file with the path of an included header changed to its place in the checkout."""
    is_beside = _beside(path, include.decode()) == header
    if is_beside and path.startswith(SOURCES) == header.startswith(SOURCES):
        return data  # the relative path stays the same
    place = _place(header, overlay)[len("src/") :].encode()
    return _INCLUDE.sub(lambda m: m[1] + (place if m[2] == include else m[2]), data)


def with_lines(root: Path, path: str, overlay: Overlay) -> bytes:
    """Return a file of ppl.nn's with the operator's lines, each exactly once.

    The lines of several operators are in the order of the operators' names.

    Raises:
        RefusalError: there is no place for a line.
    """
    operator = overlay.operator.encode()
    lines = without_lines(_read(root / path) or b"", overlay.operator).splitlines(keepends=True)
    for insertion in overlay.insertions:
        if insertion.file == path:
            index = _index(lines, insertion)
            ending = b"\r\n" if lines[index].endswith(b"\r\n") else b"\n"
            while index and _owner(lines[index - 1]) > operator:
                index -= 1
            lines[index:index] = [
                f"{line} // opkit: {overlay.operator}".encode() + ending for line in insertion.lines
            ]
    return b"".join(lines)


def without_lines(data: bytes, operator: str = "") -> bytes:
    """Return a file without the lines of an operator, or of all operators if none is named."""
    owners = {operator.encode()}
    lines = data.splitlines(keepends=True)
    if not operator:
        owners = {*map(_owner, lines)} - {b""}
    return b"".join(line for line in lines if _owner(line) not in owners)


def _owner(line: bytes) -> bytes:
    """Return the operator of an inserted line; empty: the line is not an inserted one."""
    found = _MARKED.search(line)
    return found[1] if found else b""


def _index(lines: Sequence[bytes], insertion: Insertion) -> int:
    """Return the index at which lines are inserted."""
    start = (insertion.inside or insertion.before).encode()
    found = (
        index
        for index, line in enumerate(lines)
        if line.startswith(start) and (insertion.before or not line.rstrip().endswith(b";"))
    )
    first = next(found, None)
    if first is not None and insertion.inside:
        first = next((i for i in range(first, len(lines)) if lines[i].rstrip() == b"}"), None)
    if first is None:
        end = " with a line } after it" if insertion.inside else ""
        raise RefusalError(
            f"{insertion.file}: no line that begins with '{start.decode()}'{end}; this is not a "
            "supported ppl.nn (v0.9.2 to v0.10.0 and later). The CMake injection does not need "
            "such lines: see docs/pplnn.md of rknn-op-template"
        )
    return first


# ---- The state of the checkout -------------------------------------------------------------------

_PARSERS = "src/ppl/nn/models/onnx/param_parser_manager"
_SIGNS = (
    (f"{_PARSERS}.cc", "ParamParserManager", ""),
    ("src/ppl/nn/engines/riscv/optimizer/riscv_ops.cc", "RegisterOptKernelCreator", "v0.6.2"),
    (f"{_PARSERS}.h", "ParamParserExtraArgs", "v0.6.3"),
    (f"{_PARSERS}.h", "PackParamFunc", "v0.7.1"),
)
"""(file, word in it, the last release without that word; empty: all releases have it)."""
_OLD_KERNELS = "src/ppl/nn/engines/riscv/impls"
_NEW_SOURCE = "src/ppl/nn/models/onnx/register_resources.cc"


def seen_version(root: Path) -> str:
    """Return the release of a checkout, by its files, and its name by git.

    Raises:
        RefusalError: the checkout is older than v0.9.2, or not of ppl.nn.
    """
    for path, word, last in _SIGNS:
        if word.encode() not in (_read(root / path) or b""):
            if not last:
                raise RefusalError(f"{root} is not a checkout of ppl.nn: no {word} in {path}")
            raise RefusalError(_too_old(root, last, f"there is no {word} in {path}"))
    if any(path.is_file() for path in (root / _OLD_KERNELS).rglob("*.[ch]*")):
        raise RefusalError(_too_old(root, "v0.9.0", f"riscv's kernels are still in {_OLD_KERNELS}"))
    name = (_git(root, "describe", "--tags", "--always") or b"").decode().strip()
    release = "v0.10.0 or later" if (root / _NEW_SOURCE).exists() else "v0.9.2 or later"
    return f"{release}, by its files" + (f" ({name}, by git)" if name else "")


def _too_old(root: Path, last: str, sign: str) -> str:
    return (
        f"{root} is ppl.nn {last} or older, by its files: {sign}. The operator supports v0.9.2 "
        "to v0.10.0 and later; check one of these out"
    )


def read_record(root: Path, overlay: Overlay) -> Record:
    """Read the record of an operator in a checkout; empty if the file does not exist.

    Raises:
        RefusalError: the record is invalid, or of another operator.
    """
    data = _read(root / overlay.record)
    if data is None:
        return Record(overlay.operator)
    try:
        record = Record(**json.loads(data))
    except (TypeError, ValueError):
        raise RefusalError(
            f"{overlay.record}: invalid; restore it (`git checkout`), or delete it and the files "
            f"of {overlay.operator}"
        ) from None
    if record.operator != overlay.operator:
        raise RefusalError(
            f"{overlay.record}: belongs to {record.operator}, which has the same names of files as "
            f"{overlay.operator}; one checkout cannot hold both"
        )
    return record


def _dirty_hosts(root: Path, hosts: Iterable[str]) -> Iterator[str]:
    """Yield the problems of files with uncommitted changes besides operators' lines."""
    for path in hosts:
        committed = _git(root, "cat-file", "blob", f"HEAD:./{path}")
        if committed is None:
            continue  # not in git, or not a repository
        current = without_lines(_read(root / path) or b"")
        there = _git(root, "hash-object", "--stdin", stdin=without_lines(committed))
        if _git(root, "hash-object", "--stdin", f"--path={path}", stdin=current) != there:
            yield f"{path}: has changes that are not committed; commit or stash them (`git stash`)"


def _other_registrations(root: Path, overlay: Overlay) -> Iterator[str]:
    for path in overlay.hosts:
        for index, line in enumerate((_read(root / path) or b"").splitlines(), 1):
            if re.search(overlay.registered.encode(), line) and not _owner(line):
                yield f"{path}:{index}: registers {overlay.operator} already; delete the line"


def _foreign_files(
    root: Path, record: Record, paths: Iterable[str], overlay: Overlay
) -> Iterator[str]:
    """Yield the problems of files with content that the operator did not write."""
    for path in sorted(paths):
        data = _read(root / path)
        if data is None or _digest(data) in record.files.get(path, ()):
            continue
        if path in record.files:
            yield (
                f"{path}: was changed since {overlay.operator} was laid there; move the change "
                "into the operator's repository, and delete the file"
            )
        else:
            yield f"{path}: is in the way, and not of {overlay.operator}; delete or move it"


def _obstacles(root: Path, paths: Iterable[str]) -> Iterator[str]:
    """Yield the problems of paths that cannot be written or removed."""
    for path in paths:
        place = root / path
        if place.resolve() != root.resolve() / path:
            yield f"{path}: is behind a symbolic link"
        elif place.exists() and not place.is_file():
            yield f"{path}: is in the way, and not a file"
        elif place.exists() and not os.access(place, os.W_OK):
            yield f"{path}: is read-only"
        else:
            folder = next(parent for parent in place.parents if parent.exists())
            if not folder.is_dir():
                yield f"{path}: {folder} is not a folder"
            elif not os.access(folder, os.W_OK | os.X_OK):
                yield f"{path}: the folder {folder} is read-only"


def _refuse(*problems: str) -> None:
    if problems:
        raise RefusalError("nothing was changed:\n" + "\n".join(f"  {each}" for each in problems))


def _new_folders(root: Path, paths: Iterable[str], record: Record) -> list[str]:
    """Return the folders of these files that are not ppl.nn's own, the deepest last."""
    made = {*record.folders}
    for other in root.glob(RECORDS):
        try:
            made |= {*json.loads(other.read_bytes())["folders"]}
        except (TypeError, ValueError, KeyError):
            continue
    folders = {parent for path in paths for parent in Path(path).parents}
    return sorted(
        folder.as_posix()
        for folder in folders
        if folder.as_posix() in made or not (root / folder).exists()
    )


def _transition(before: Record, after: Record) -> Record:
    """Return the record during a change: all files, contents and folders of two records."""
    files = {
        path: sorted({*before.files.get(path, ()), *after.files.get(path, ())})
        for path in {*before.files, *after.files}
    }
    return Record(after.operator, files, sorted({*before.folders, *after.folders}))


# ---- Files ---------------------------------------------------------------------------------------


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _read(path: Path) -> bytes | None:
    """Return the file's bytes, or None if it is not a regular file."""
    return path.read_bytes() if path.is_file() else None


def _write(path: Path, data: bytes) -> None:
    """Replace a file atomically, unless it has this content already."""
    if _read(path) == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + PARTIAL)
    partial.write_bytes(data)
    if path.exists():
        partial.chmod(path.stat().st_mode)
    partial.replace(path)


def _partial(overlay: Overlay, files: Iterable[str]) -> list[str]:
    """Return the paths of the partial files that a killed run may have left."""
    return [path + PARTIAL for path in (*overlay.hosts, *files, overlay.record)]


def _remove(root: Path, paths: Iterable[str], folders: Iterable[str] = ()) -> None:
    """Remove files, and then the empty ones of the folders."""
    for path in paths:
        if (root / path).exists():
            (root / path).unlink()
    for folder in sorted(folders, reverse=True):
        if (root / folder).is_dir() and not any((root / folder).iterdir()):
            (root / folder).rmdir()


def _git(root: Path, *arguments: str, stdin: bytes = b"") -> bytes | None:
    """Return git's output, or None if git fails or is not installed."""
    import subprocess  # only here: as argparse

    environment = {key: text for key, text in os.environ.items() if not key.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments],
            input=stdin,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=False,
        )
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


if __name__ == "__main__":
    sys.exit(main())
