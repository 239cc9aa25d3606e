"""New operator repositories from descriptions: the whole of each, or nothing of it."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

from opkit import locks, manifest, repository, runtimes
from opkit.complaint import Complaint
from opkit.creation.adaptation import adapted
from opkit.creation.completion import LOCK, REQUIREMENTS, complete
from opkit.creation.license import NONE, license_text
from opkit.creation.rewriting import with_schema, with_target
from opkit.description.file import read_description
from opkit.description.spec import OpSpec
from opkit.errors import OpkitError
from rknn_op import template
from rknn_op.origin import Origin, origin


@dataclass(frozen=True)
class Choices:
    """What a user may choose besides the description.

    Attributes:
        runtimes: that execute the operator; empty: those of the description.
        target: what to build for by default; empty: that of the description.
        license: of the new repository, by the name that SPDX gives it, or `none`.
        author: whom the license names; empty: the authors of the new repository.
    """

    runtimes: Sequence[str] = ()
    target: str = ""
    license: str = NONE
    author: str = ""


CRUFT = ".cruft.json"
"""The file by which cruft knows what a repository was made from."""
DEFAULTS = Choices()


@dataclass(frozen=True)
class Plan:
    """A repository to make.

    Attributes:
        spec: the operator.
        text: the description, as it will be in op.yml, without the last newline.
        folder: the repository; nothing is there.
        files: path -> what is in those files of the user's that exist already.
        choices: what the user has chosen.
        warnings: what of the description the chosen runtimes do not have.
    """

    spec: OpSpec
    text: str
    folder: Path
    files: Mapping[str, bytes] = field(default_factory=dict)
    choices: Choices = DEFAULTS
    warnings: Sequence[Complaint] = ()


@dataclass(frozen=True)
class Created:
    """A repository that was made, or would be.

    Attributes:
        folder: where it is.
        warnings: those of its plan.
    """

    folder: Path
    warnings: Sequence[Complaint] = ()


def plan(
    config: Path, folder: Path | None = None, parent: Path = Path(), choices: Choices = DEFAULTS
) -> Plan:
    """Check a description and the place of its repository.

    Args:
        config: the file with the description.
        folder: the repository to make; None: in `parent`, with the operator's name.
        parent: where that is.
        choices: what else is chosen.

    Raises:
        OpkitError: the description or a choice cannot be used, or something is in the place.
    """
    text = read_description(config)
    spec = runtimes.parse(text, str(config))
    warnings: Sequence[Complaint] = ()
    if choices.runtimes:
        changed = f"{config}, changed by options"
        text, found = adapted(text, choices.runtimes, changed, choices.target)
        warnings = [replace(each, file=str(config)) for each in found]
    elif choices.target:
        text = with_target(text, choices.target)
    if choices.runtimes or choices.target:
        spec = runtimes.parse(text, f"{config}, changed by options")
    folder = folder or parent / spec.name
    name = _absolute(folder).name
    repository.refuse_folder_name(name)
    refuse_existing(folder)
    license = license_text(template.LICENSES, choices.license, choices.author, name)
    files = {"LICENSE": license.encode()} if license else {}
    return Plan(spec, with_schema(text), folder, files, choices, warnings)


def refuse_existing(folder: Path) -> None:
    """Refuse a place in which something is.

    Raises:
        OpkitError: there is.
    """
    if os.path.lexists(folder):
        raise OpkitError(f"{folder} already exists; pass another folder, or delete it")


def create(plan: Plan) -> None:
    """Make a repository beside its place, in a folder that begins with a dot, and rename it.

    What an interrupted run has left there goes with the next.

    Raises:
        OpkitError: it cannot be made, or something is in its place now.
    """
    path = _absolute(plan.folder)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _exclusive(path.with_name(f".{path.name}.new")) as made:
            _fill(plan, made)
            refuse_existing(plan.folder)
            made.rename(path)
    except OSError as error:
        problem = error.strerror or error
        raise OpkitError(f"{plan.folder}: cannot be made: {problem}") from None


def _fill(plan: Plan, folder: Path) -> None:
    """Make a repository in a folder beside its place; messages name the place."""
    try:
        _make(plan, folder)
    except OpkitError as error:
        raise OpkitError(str(error).replace(str(folder), str(plan.folder))) from None


def rehearse(plan: Plan) -> dict[str, list[str]]:
    """Make a repository elsewhere, and return owner -> its files without leaving any.

    Raises:
        OpkitError: it cannot be made.
    """
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder)
        _make(plan, made)
        written = repository.read_manifest(made)
    assert written.wheel is not None
    cruft = [CRUFT] if origin() else []
    own = {REQUIREMENTS, "op.yml", *plan.files, *template.files()}
    return {
        "yours": sorted({*written.once, *own}),
        "generated": sorted({*written.generated, manifest.PATH, LOCK, *cruft}),
        "opkit": [written.wheel.name],
    }


def _make(plan: Plan, folder: Path) -> None:
    """Fill an empty folder with a repository."""
    files = template.files()
    # Of thousands: as text, paths cost a third of what they cost as Path.
    root = str(folder)
    for name in sorted({os.path.dirname(name) for name in files} - {""}):  # noqa: PTH120
        os.makedirs(f"{root}/{name}", exist_ok=True)  # noqa: PTH103
    for name, content in files.items():
        with open(f"{root}/{name}", "xb") as file:  # noqa: PTH123  text, as above
            file.write(content)
    (folder / "op.yml").write_text(f"{plan.text}\n", encoding="utf-8")
    for name, content in plan.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    complete(folder, plan.spec)
    if known := origin():
        owned = {"op.yml", REQUIREMENTS, *plan.files, *repository.read_manifest(folder).once}
        state = _cruft_state(plan, known, sorted(owned))
        (folder / CRUFT).write_text(cruft_text(state), encoding="utf-8")


def create_all(
    configs: Sequence[Path], parent: Path, choices: Choices = DEFAULTS, dry_run: bool = False
) -> Iterator[Created | OpkitError]:
    """Make a repository of each description, side by side on all processors.

    Args:
        configs: the files with the descriptions.
        parent: the folder of the repositories, which have their operators' names.
        choices: for all of them.
        dry_run: check all, and make nothing.

    Yields:
        In the order of the descriptions: the repository, or why there is none.
    """
    # Forked, workers need no time to import what is here already.
    workers = ProcessPoolExecutor(
        min(os.cpu_count() or 1, len(configs)),
        multiprocessing.get_context("fork"),
        initializer=_begin_worker,
    )
    try:
        yield from workers.map(
            partial(_create_one, parent=parent, choices=choices, dry_run=dry_run), configs
        )
    finally:
        workers.shutdown(cancel_futures=True)


def _begin_worker() -> None:
    """Leave Ctrl-C to the parent, and end with it: it may be killed, and then tells nobody."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _create_one(
    config: Path, parent: Path, choices: Choices, dry_run: bool
) -> Created | OpkitError:
    try:
        planned = plan(config, None, parent, choices)
        (rehearse if dry_run else create)(planned)
    except OpkitError as error:
        return error
    return Created(planned.folder, planned.warnings)


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100  resolve() would follow links


def _cruft_state(plan: Plan, known: Origin, skipped: Sequence[str]) -> dict[str, Any]:
    """Return what cruft is to know: what a repository was made from, and the user's files."""
    answers = {
        "config": plan.text,
        "op_name": _absolute(plan.folder).name,
        "runtimes": ", ".join(plan.spec.runtimes),
        "license": plan.choices.license,
        "author": plan.choices.author,
        "_template": known.url,
    }
    return {
        "template": known.url,
        "commit": known.commit,
        "checkout": None,
        "context": {"cookiecutter": answers},
        "directory": None,
        "skip": skipped,
    }


def cruft_text(state: Mapping[str, Any]) -> str:
    """Return the text of `.cruft.json`."""
    return json.dumps(state, indent=2, ensure_ascii=False) + "\n"


@contextmanager
def _exclusive(folder: Path) -> Iterator[Path]:
    """Make an empty folder that no other process has; at the end, remove it if it is still there.

    The kernel frees it when the process dies: what is left belongs to whoever comes next.

    Raises:
        OpkitError: another process has it.
    """
    folder.mkdir(exist_ok=True)
    if folder.is_symlink():
        raise OpkitError(f"{folder} is a link; delete it")
    with locks.opened(folder) as descriptor:
        if not (locks.try_lock(descriptor) and locks.is_at(descriptor, folder)):
            raise OpkitError(
                f"{folder} is in use: another process, or another description of the same "
                "operator, is making the repository; wait for it, or pass another folder"
            )
        try:
            _empty(folder)
            yield folder
        finally:
            if locks.is_at(descriptor, folder):
                shutil.rmtree(folder, ignore_errors=True)


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
