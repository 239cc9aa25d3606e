"""The files of an operator repository on disk: written once, or at every build."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from opkit import manifest, runtimes, workspace_members
from opkit.common.complaint import Complaint, SourceError
from opkit.common.errors import OpkitError
from opkit.description.describe import SYSTEMS, Described, RuntimeDescription
from opkit.description.file import read_description
from opkit.description.parser import PC
from opkit.description.reader import position
from opkit.description.spec import OpSpec
from opkit.files import elementwise
from opkit.files.generation import ACTION, HEADERS, WORKFLOWS, generated_files, is_read, needed
from opkit.files.skeletons import once_only_files
from opkit.files.source_check import missing_half_function, unknown_names
from opkit.manifest import Manifest, Wheel
from opkit.repository_files import refuse_links, write_text
from opkit.version import BUILD, VERSION
from opkit.workspace_members import SKIPPED

_MAX_FOLDER_NAME = 127  # as an operator's name, which the folder is by default
_FOLDER_NAME = re.compile(rf"[A-Za-z0-9_][A-Za-z0-9_.-]{{0,{_MAX_FOLDER_NAME - 1}}}")


def refuse_folder_name(name: str) -> None:
    """Refuse an invalid name for a repository's folder.

    Raises:
        OpkitError: the name is invalid; the message has the rule.
    """
    if not _FOLDER_NAME.fullmatch(name):
        raise OpkitError(
            f"invalid folder name {name!r}; allowed are 1 to {_MAX_FOLDER_NAME} "
            "letters (a to z), digits, '_', '-' and '.', beginning with a letter, a digit or '_'"
        )


def refuse_path(root: Path) -> None:
    """Refuse a folder with a path that would break `#line` and `#include`.

    Raises:
        OpkitError: the path has an unusable character.
    """
    path = str(root.absolute())
    # Quotes and newlines end a path in `#line` and `#include`; surrogates are not UTF-8.
    unusable = [
        each
        for each in path
        if each in '"\x7f' or (each < " " and each != "\t") or "\ud800" <= each <= "\udfff"
    ]
    if unusable:
        defect = "is not UTF-8" if unusable[0] >= "\ud800" else f"holds {unusable[0]!a}"
        raise OpkitError(
            f"{path!a}: the folder's path {defect}, which compilers cannot read; rename the folder"
        )


def load(root: Path) -> OpSpec:
    """Return the operator of this repository.

    Raises:
        DescriptionError: op.yml is missing or wrong.
    """
    return runtimes.parse(read_description(root / "op.yml"), "op.yml")


def refuse_other_opkit(root: Path) -> None:
    """Refuse to work in a repository with the wheel of another opkit.

    Raises:
        OpkitError: the wheel has another version; or as own_wheel does.
    """
    wheel = own_wheel(root)
    if wheel.version != BUILD:
        raise OpkitError(
            f"this repository needs rknn-opkit {wheel.version}, and {BUILD} is installed; run: "
            f"pip install -r {requirements(root)}"
        )


def changed_lock(root: Path) -> list[Complaint]:
    """Return a complaint if requirements.lock is not the one that the manifest names by its digest.

    Args:
        root: a repository, or a workspace; a member has the lock of its workspace.

    Raises:
        OpkitError: the manifest is invalid, or of a newer version.
    """
    home = workspace_members.home(root)
    path = os.path.relpath(home / manifest.LOCK, root)
    restore = f"restore it (`git checkout {path}`)"
    try:
        data = (home / manifest.LOCK).read_bytes()
    except OSError as error:
        return [Complaint(path, f"cannot be read: {error.strerror}", hint=restore)]
    if manifest.digest(data) == read_manifest(home).lock:
        return []
    named = os.path.relpath(home / manifest.PATH, root)
    problem = f"is not the file that {named} names by its hash"
    hint = f"{restore}, or accept the change: python3 -m opkit.ci.lock"
    return [Complaint(path, problem, hint=hint)]


def refuse_changed_lock(root: Path) -> None:
    """Refuse another requirements.lock than that of the manifest.

    Raises:
        SourceError: the message names the command that accepts the change.
        OpkitError: as changed_lock does.
    """
    for complaint in changed_lock(root):
        raise SourceError(complaint)


def requirements(root: Path) -> str:
    """Return the path of requirements.txt, relative to the repository."""
    return os.path.relpath(workspace_members.home(root) / "requirements.txt", root)


def own_wheel(root: Path) -> Wheel:
    """Return the name and digest of the repository's wheel, from the manifest.

    Raises:
        OpkitError: the manifest is missing, or is of a newer version.
    """
    wheel = read_manifest(root).wheel
    if wheel is not None:
        return wheel
    raise OpkitError(
        f"{manifest.PATH}: not found; restore it (`git checkout {manifest.PATH}`), or run "
        "`rknn-op update`"
    )


def update(root: Path) -> OpSpec:
    """Bring the repository's files in line with op.yml and return the operator.

    Raises:
        OpkitError: op.yml cannot be used, or as `write` does.
    """
    spec = load(root)
    for path in write(root, spec):
        was_named = path == ACTION or path.startswith(HEADERS)
        reason = "no file names it" if was_named else "no longer generated from op.yml"
        print(f"delete {path}: {reason}")
    return spec


def write(root: Path, spec: OpSpec, wheel: Wheel | None = None, lock: str = "") -> list[str]:
    """Bring the repository's files in line with the operator.

    A user's file is written only if no build has written it before and it does not exist: all
    files the first time, later the files of a runtime or a kernel that is new in op.yml.

    Args:
        root: the repository.
        spec: the operator of its op.yml.
        wheel: the repository's new wheel, for the manifest; None: the wheel stays.
        lock: the digest of its new lock; empty: the lock stays.

    Returns:
        The paths of the deleted files, which op.yml no longer generates.

    Raises:
        OpkitError: the reference is invalid, or a user's file is missing; or a newer version has
            written the repository.
    """
    refuse_path(root)
    before = read_manifest(root)
    is_new = not before.once
    required = _required_files(spec)
    for complaint in _two_forms(root, spec):
        raise SourceError(complaint)
    own = _once_only_files(root, spec, before)
    if not is_new:
        handed_over = {path for path, file in own.items() if file.reason == _FORMERLY}
        kept = (path in handed_over or (root / path).is_file() for path in _math(spec))
        if not all(kept):  # a new name
            _require_files(root, spec, required)
        for complaint in _missing_sources(root, spec):
            raise OpkitError(str(complaint))
    once = {**before.once}
    for path, file in own.items():
        if path not in once and (file.replaces or not os.path.lexists(root / path)):
            write_text(root, path, file.text)
            if not is_new:
                print(f"write {path}: {file.reason}")
        once.setdefault(path, manifest.digest(file.text.encode()))
    _require_files(root, spec, required)
    generated = _generated_files(root, spec, before)
    if spec.elementwise:
        for path in sorted({*generated} & {*before.once} - {*before.generated}):
            if (root / path).is_file():
                problem = "this file is yours, but that of an elementwise operator is generated"
                hint = "delete it, or delete `elementwise: true` in op.yml"
                raise SourceError(Complaint(path, problem, hint=hint))
        replaced = {*generated, _compute_file(spec)}
        once = {path: digest for path, digest in once.items() if path not in replaced}
    stale = {*before.generated} - {*generated} - {*once}
    now = Manifest(VERSION, once, tuple(generated), wheel or before.wheel, lock or before.lock)
    texts = {**generated, manifest.PATH: manifest.to_text(now)}
    refuse_links(root, *stale, *texts)
    deleted = sorted(path for path in stale if (root / path).exists())
    for path in deleted:
        (root / path).unlink()
    for path, text in texts.items():
        write_text(root, path, text)
    return deleted


class _OwnFile(NamedTuple):
    """A file of the user's that may have to be written.

    Attributes:
        text: the text.
        reason: the reason for writing it, for a message.
        replaces: whether it takes the place of a generated file.
    """

    text: str
    reason: str = "op.yml requires it, and it did not exist"
    replaces: bool = False


_FORMERLY = "op.yml has no `elementwise: true` any more, so it is yours now"


def _once_only_files(root: Path, spec: OpSpec, before: Manifest) -> dict[str, _OwnFile]:
    """Return path -> file of all user's files.

    Of an operator that was elementwise in the last build, generated files become the user's.
    """
    own = {
        path: _OwnFile(text)
        for path, text in _without_shared(
            root, once_only_files(spec, runtimes.selected(spec))
        ).items()
    }
    compute = _compute_file(spec)
    if spec.elementwise or f"generated/{compute}" not in before.generated:
        return own
    scalar = root / f"{spec.lower}_scalar.h"
    math = scalar.read_text(encoding="utf-8", errors="replace") if scalar.is_file() else ""
    own[compute] = _OwnFile(elementwise.own_loop(spec, math), _FORMERLY)
    for path in {*own} & {*before.generated}:
        if (root / path).is_file():
            _, _, text = (root / path).read_text(encoding="utf-8").partition("\n")
            own[path] = _OwnFile(text, _FORMERLY, replaces=True)
    return own


def _compute_file(spec: OpSpec) -> str:
    """Return the path of the math of whole tensors, in an operator that is not elementwise."""
    return f"{spec.lower}_compute.h"


def _two_forms(root: Path, spec: OpSpec) -> list[Complaint]:
    """Return a complaint about an elementwise operator with math of whole tensors."""
    compute = _compute_file(spec)
    if not spec.elementwise or not (root / compute).is_file():
        return []
    hint = f"delete {compute}"
    if not (root / spec.math_file).is_file():
        hint = (
            f"delete it, and write the math of one element into {spec.math_file}, as "
            f"`{elementwise.declaration(spec)}`"
        )
    problem = (
        f"{compute} has the math of whole tensors, but that of an elementwise operator is generated"
    )
    hint = f"{hint}; or delete `elementwise: true`"
    line = column = None
    if (root / "op.yml").is_file():
        line, column = position(read_description(root / "op.yml"), "elementwise")
    return [Complaint("op.yml", problem, line, column, "elementwise", hint)]


def _generated_files(root: Path, spec: OpSpec, before: Manifest) -> dict[str, str]:
    """Return path -> text of the repository's generated files.

    Args:
        root: the repository.
        spec: its operator.
        before: its manifest.

    Raises:
        OpkitError: as generated_files does.
    """
    reference = (root / f"{spec.lower}_reference.py").read_text(encoding="utf-8")
    math = (root / spec.math_file).read_text(encoding="utf-8") if spec.elementwise else ""
    files = generated_files(spec, reference, runtimes.selected(spec), math)
    known = {*files, *before.generated}
    own = {path: (root / path).read_bytes() for path in _read_files(root) if path not in known}
    return _without_shared(root, needed(files, own))


def _read_files(root: Path) -> Iterator[str]:
    """Yield the paths of the repository's files that may name generated files."""
    for folder, folders, names in os.walk(root):
        place = "" if folder == str(root) else f"{os.path.relpath(folder, root)}/"
        folders[:] = [name for name in folders if _may_have_sources(folder, f"{place}{name}/")]
        for path in (f"{place}{name}" for name in names):
            if is_read(path) and (root / path).is_file():
                yield path


def _may_have_sources(parent: str, path: str) -> bool:
    """Return whether a folder may have the user's files: is not hidden, built or an environment."""
    name = path.split("/")[-2]
    if name[0] == "." or name in SKIPPED:
        return WORKFLOWS.startswith(path)
    return not os.path.isfile(f"{parent}/{name}/pyvenv.cfg")  # noqa: PTH113  str is faster


def _without_shared(root: Path, files: dict[str, str]) -> dict[str, str]:
    """Return path -> text of the files in the repository's own folder, not its workspace's."""
    return workspace_members.own_files(files) if workspace_members.of_member(root) else files


def drift(root: Path, spec: OpSpec, cache: Path) -> list[Complaint]:
    """Return the mismatches of the user's files and op.yml; the hints have the right text.

    Args:
        root: the repository.
        spec: its operator.
        cache: a folder for the files of compilers; made if absent.
    """
    parts = [runtime.files for runtime in runtimes.selected(spec)]
    return [
        *unknown_names(root, spec),
        *missing_half_function(root, spec),
        *(each for part in parts for each in part.drift(root, spec, cache)),
    ]


def warnings(root: Path) -> list[Complaint]:
    """Return the warnings about an op.yml that can be used."""
    _, found = runtimes.complaints(read_description(root / "op.yml"), "op.yml")
    return found


def missing(root: Path, spec: OpSpec) -> list[Complaint]:
    """Return a complaint about each missing file of the user's, sources in op.yml included."""
    return [
        *(
            Complaint(path, "not found", hint=_HOW_TO_RESTORE)
            for path in _required_files(spec)
            if not (root / path).is_file()
        ),
        *_two_forms(root, spec),
        *_missing_sources(root, spec),
    ]


def stale(root: Path, spec: OpSpec) -> list[Complaint]:
    """Return a complaint about each generated file that is missing or out of date.

    Raises:
        OpkitError: the reference or the math cannot be used.
    """
    found = []
    for path, text in _generated_files(root, spec, read_manifest(root)).items():
        try:
            # str paths are faster, which counts for the files of hundreds of repositories.
            with open(f"{root}/{path}", "rb") as file:  # noqa: PTH123  str, as above
                is_same = file.read() == text.encode()
        except IsADirectoryError:
            found.append(Complaint(path, "is a folder", hint="delete it; `scons` writes a file"))
        except (FileNotFoundError, NotADirectoryError):
            found.append(Complaint(path, "not found", hint="run `scons`, which writes it"))
        else:
            if not is_same:
                problem = "is not what op.yml and the reference make it"
                found.append(Complaint(path, problem, hint="run `scons`, which writes it"))
    return found


def has_target(spec: OpSpec, name: str) -> bool:
    """Return whether an operator can be built for a target, `all` and this PC included."""
    if name.lower() in ("all", PC):
        return True
    return any(name.lower() in runtime.describe.targets for runtime in runtimes.selected(spec))


def products(
    root: Path, selected: Iterable[Described], folders: Collection[str] | None = None
) -> list[Path]:
    """Return the paths of runtimes' built products.

    Args:
        root: the repository.
        selected: the runtimes.
        folders: patterns of the targets' folders in `build/`; None: those of all targets of each
            runtime, for all ABIs.
    """
    found = {
        path
        for runtime in (each.describe for each in selected)
        if runtime.product_pattern
        for folder in (_folders(runtime) if folders is None else folders)
        for path in root.glob(f"build/{folder}/{runtime.product_pattern}")
    }
    return sorted(found)


def _folders(runtime: RuntimeDescription) -> list[str]:
    return [
        target.folder(abi)
        for target in runtime.targets.values()
        for system in SYSTEMS
        for abi in target.abis_of(system)
    ]


def read_manifest(root: Path) -> Manifest:
    """Return the manifest of the repository, empty if the file does not exist.

    Raises:
        OpkitError: the manifest is invalid, or a newer version has written it.
    """
    path = root / manifest.PATH
    return manifest.from_text(path.read_text(encoding="utf-8")) if path.is_file() else Manifest()


def _math(spec: OpSpec) -> tuple[str, str]:
    return spec.math_file, f"{spec.lower}_reference.py"


def _required_files(spec: OpSpec) -> list[str]:
    """Return the paths of the user's files that every build requires."""
    required = [runtime.files.required(spec) for runtime in runtimes.selected(spec)]
    return [*_math(spec), *chain.from_iterable(required)]


_HOW_TO_RESTORE = (
    "Restore the file (`git checkout`), or rename yours if the operator has a new name "
    "(`git mv`), or delete the folder generated/ to have missing files written again"
)


def _require_files(root: Path, spec: OpSpec, paths: Sequence[str]) -> None:
    missing = [path for path in paths if not (root / path).is_file()]
    if missing:
        raise OpkitError(
            f"op.yml names the operator {spec.name}, but {', '.join(missing)} is missing. "
            f"{_HOW_TO_RESTORE}."
        )


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
