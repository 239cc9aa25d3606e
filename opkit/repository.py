"""The files of an operator repository on disk: written once, or at every build."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from opkit import atomic_file, manifest, runtimes
from opkit.complaint import Complaint
from opkit.description.file import read_description
from opkit.description.spec import OpSpec
from opkit.errors import OpkitError
from opkit.files.generated import generated_files
from opkit.files.skeletons import once_only_files
from opkit.files.unknown_names import unknown_names
from opkit.manifest import Manifest, Wheel
from opkit.runtimes.interface import Runtime
from opkit.version import BUILD, VERSION

_MAX_FOLDER_NAME = 127  # as an operator's name, which the folder is by default
_FOLDER_NAME = re.compile(rf"[A-Za-z0-9_][A-Za-z0-9_.-]{{0,{_MAX_FOLDER_NAME - 1}}}")
# Quotes and newlines end a path in `#line` and `#include`; surrogates are bytes that are no UTF-8.
_UNUSABLE = re.compile(r'["\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]')


def refuse_folder_name(name: str) -> None:
    """Refuse what cannot be the name of a repository's folder.

    Raises:
        OpkitError: it cannot; the message says which can.
    """
    if not _FOLDER_NAME.fullmatch(name):
        raise OpkitError(
            f"{name!r} cannot be the new folder's name; allowed are 1 to {_MAX_FOLDER_NAME} "
            "letters (a to z), digits, '_', '-' and '.', beginning with a letter, a digit or '_'"
        )


def refuse_path(root: Path) -> None:
    """Refuse a folder that compilers cannot name.

    Raises:
        OpkitError: its path holds such a character.
    """
    if found := _UNUSABLE.search(str(root.absolute())):
        what = "is no UTF-8" if found[0] >= "\ud800" else f"holds {found[0]!a}"
        raise OpkitError(
            f"{str(root.absolute())!a}: the folder's path {what}, which compilers cannot "
            "read; rename the folder"
        )


def load(root: Path) -> OpSpec:
    """Return the operator of this repository.

    Raises:
        DescriptionError: op.yml is missing or wrong.
    """
    return runtimes.parse(read_description(root / "op.yml"), "op.yml")


def refuse_other_opkit(root: Path) -> None:
    """Refuse to work in a repository whose wheel is not the one that this opkit is from.

    Raises:
        OpkitError: it is another one, or as own_wheel does.
    """
    wheel = own_wheel(root)
    if wheel.version != BUILD:
        raise OpkitError(
            f"this repository needs rknn-opkit {wheel.version}, and {BUILD} is installed; run: "
            "pip install -r requirements.txt"
        )


def own_wheel(root: Path) -> Wheel:
    """Return what the manifest says of the repository's wheel.

    Raises:
        OpkitError: it says nothing, or is not there; or a newer version has written it.
    """
    wheel = read_manifest(root).wheel
    if wheel is not None:
        return wheel
    if not (root / manifest.PATH).is_file():
        raise OpkitError(
            f"{manifest.PATH}: not found; restore it (`git checkout {manifest.PATH}`), or run "
            "`rknn-op update`"
        )
    raise OpkitError(
        "this repository is older than 0.2.0, and has its opkit in a folder; run "
        "`rknn-op update`, which brings it to today's form"
    )


def update(root: Path) -> OpSpec:
    """Bring the repository's files in line with op.yml and return the operator.

    Raises:
        OpkitError: op.yml cannot be used, or as `write` does.
    """
    spec = load(root)
    write(root, spec)
    return spec


def write(root: Path, spec: OpSpec, wheel: Wheel | None = None) -> None:
    """Bring the repository's files in line with the operator.

    A file that is the user's is written if no build has written it before and it does not exist:
    the first time all of them, later those that op.yml newly requires, for a runtime or a kernel
    that it did not have. Otherwise they are only read.

    Args:
        root: the repository.
        spec: what its op.yml says.
        wheel: what the manifest says of the repository's wheel from now on; None: as before.

    Raises:
        OpkitError: the reference is wrong, or a file of the user's is missing; or a newer version
            has written the repository.
    """
    refuse_path(root)
    before = read_manifest(root)
    is_new = not before.once
    required = _required_files(spec)
    if not is_new:
        if not all((root / path).is_file() for path in _math(spec)):  # it has another name
            _require_files(root, spec, required)
        _require_sources(root, spec)
    once = _write_once(root, spec, before.once, is_new)
    _require_files(root, spec, required)
    reference = (root / f"{spec.lower}_reference.py").read_text(encoding="utf-8")
    generated = generated_files(spec, reference, runtimes.of(spec))
    stale = {*before.generated} - {*generated}
    now = Manifest(VERSION, once, tuple(generated), wheel or before.wheel)
    texts = {**generated, manifest.PATH: manifest.to_text(now)}
    for path in (*stale, *texts):
        _refuse_links(root, path)
    for path in stale:
        (root / path).unlink(missing_ok=True)
    for path, text in texts.items():
        write_text(root / path, text)


def _write_once(root: Path, spec: OpSpec, before: Mapping[str, str], quiet: bool) -> dict[str, str]:
    """Write the user's files that were never written before and do not exist.

    Returns:
        path -> the version that wrote it, of all files that were ever written.
    """
    once = dict(before)
    for path, text in once_only_files(spec, runtimes.of(spec)).items():
        if path not in once and not os.path.lexists(root / path):
            _refuse_links(root, path)
            write_text(root / path, text)
            if not quiet:
                print(f"write {path}: op.yml requires it, and it did not exist")
        once.setdefault(path, VERSION)
    return once


def drift(root: Path, spec: OpSpec) -> list[Complaint]:
    """Return the mismatches of the user's files and op.yml; the hints have the right text."""
    rooms = [each for runtime in runtimes.of(spec) for each in runtime.drift(root, spec)]
    return [*unknown_names(root, spec), *rooms]


def warnings(root: Path) -> list[Complaint]:
    """Return the warnings about an op.yml that can be used."""
    _, found = runtimes.complaints(read_description(root / "op.yml"), "op.yml")
    return found


def missing(root: Path, spec: OpSpec) -> list[Complaint]:
    """Return the user's files that are not there, those that op.yml lists included."""
    return [
        *(
            Complaint(path, "not found", hint=_HOW_TO_RESTORE)
            for path in _required_files(spec)
            if not (root / path).is_file()
        ),
        *_missing_sources(root, spec),
    ]


def stale(root: Path, spec: OpSpec) -> list[Complaint]:
    """Return the generated files that are not as op.yml and the reference make them.

    Raises:
        OpkitError: the reference cannot be used.
    """
    reference = (root / f"{spec.lower}_reference.py").read_text(encoding="utf-8")
    found = []
    for path, text in generated_files(spec, reference, runtimes.of(spec)).items():
        file = root / path
        if not file.is_file():
            found.append(Complaint(path, "not found", hint="run `scons`, which writes it"))
        elif file.read_bytes() != text.encode():
            problem = "is not what op.yml and the reference make it"
            found.append(Complaint(path, problem, hint="run `scons`, which writes it"))
    return found


def products(
    root: Path, rooms: Iterable[Runtime], targets: Collection[str] | None = None
) -> list[Path]:
    """Return what runtimes have built.

    Args:
        root: the repository.
        rooms: the runtimes.
        targets: for what, as patterns of folders' names; None: for all targets of each runtime.
    """
    found = {
        path
        for room in rooms
        if room.product_pattern
        for target in (room.targets if targets is None else targets)
        for path in root.glob(f"build/{target}/{room.product_pattern}")
    }
    return sorted(found)


def read_manifest(root: Path) -> Manifest:
    """Return the manifest of the repository; an empty one if there is none.

    Raises:
        OpkitError: the manifest is invalid, or a newer version has written it.
    """
    path = root / manifest.PATH
    return manifest.from_text(path.read_text(encoding="utf-8")) if path.is_file() else Manifest()


def _refuse_links(root: Path, path: str) -> None:
    """Refuse a path on which a link leads out of the repository.

    Raises:
        OpkitError: a folder of it is such a link, or the file itself is a link.
    """
    folder = (root / path).parent
    if not folder.resolve().is_relative_to(root.resolve()) or (root / path).is_symlink():
        raise OpkitError(
            f"{path}: is a link, or in a folder that leads out of the repository by one; opkit "
            "writes no files through links: replace it by what it leads to"
        )


def write_text(path: Path, text: str) -> None:
    """Write a text; see write_bytes."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write the content unless the file has it already, so that time stamps stay.

    The file is complete at every moment: an interruption leaves the one before.

    Raises:
        OpkitError: it cannot be written.
    """
    try:
        if path.is_file() and path.read_bytes() == data:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_file.write(path, data)
    except OSError as error:
        raise OpkitError(f"{path}: cannot be written: {error.strerror}") from None


def _math(spec: OpSpec) -> tuple[str, str]:
    return f"{spec.lower}_compute.h", f"{spec.lower}_reference.py"


def _required_files(spec: OpSpec) -> list[str]:
    """Return the user's files without which nothing can be built."""
    rooms = (path for runtime in runtimes.of(spec) for path in runtime.required_files(spec))
    return [*_math(spec), *rooms]


_HOW_TO_RESTORE = (
    "Restore the file (`git checkout`), or rename yours if the operator has a new name "
    "(`git mv`), or delete the folder generated/ to have missing files written afresh"
)


def _require_files(root: Path, spec: OpSpec, paths: Sequence[str]) -> None:
    missing = [path for path in paths if not (root / path).is_file()]
    if missing:
        raise OpkitError(
            f"op.yml names the operator {spec.name}, but {', '.join(missing)} is missing. "
            f"{_HOW_TO_RESTORE}."
        )


def _require_sources(root: Path, spec: OpSpec) -> None:
    for complaint in _missing_sources(root, spec):
        raise OpkitError(str(complaint))


def _missing_sources(root: Path, spec: OpSpec) -> list[Complaint]:
    absent = [
        *(("file", file) for file in spec.sources if not (root / file.path).is_file()),
        *(("folder", folder) for folder in spec.include if not (root / folder.path).is_dir()),
    ]
    return [
        Complaint(
            each.file, f"{kind} {each.path} not found in the repository", each.line, field=each.key
        )
        for kind, each in absent
    ]
