"""Create operator repositories from descriptions: all of a command, or none."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from opkit import manifest, repository, runtimes
from opkit.complaint import Complaint
from opkit.description import unknown_target
from opkit.description.file import read_description, read_stream
from opkit.description.spec import OpSpec
from opkit.errors import OpkitError
from opkit.files.generation import generated_files, needed
from opkit.files.skeletons import once_only_files
from opkit.manifest import LOCK, Manifest
from opkit.scratch import scratch_folder
from opkit.version import VERSION
from rknn_op import template
from rknn_op.all_or_nothing import restored_on_error
from rknn_op.creation import extras, joining
from rknn_op.creation.adaptation import adapted
from rknn_op.creation.completion import REQUIREMENTS
from rknn_op.creation.license import NONE, license_text
from rknn_op.creation.origin import Origin, documentation, origin
from rknn_op.creation.requirements import Extra, lock_text, requirements_text
from rknn_op.creation.rewriting import with_target
from rknn_op.creation.schema import with_schema
from rknn_op.creation.wheel import wheel


@dataclass(frozen=True)
class Choices:
    """The user's choices besides the description.

    Attributes:
        runtimes: the names of the runtimes; empty: the description's.
        target: the default target; empty: the description's.
        license: the SPDX name of the new repository's license, or `none`.
        author: the author in the license; empty: the authors of the new repository.
        extras: the files around the operator, one of rknn_op.creation.extras; a workspace has all.
        workspace: the workspace of the repositories, which is made first if it does not exist.
    """

    runtimes: Sequence[str] = ()
    target: str = ""
    license: str = NONE
    author: str = ""
    extras: str = extras.DEFAULT
    workspace: Path | None = None


CRUFT = ".cruft.json"
"""cruft's record of a repository: the template's origin and the answers."""
DEFAULTS = Choices()
STDIN = Path("-")
"""The description on standard input."""
_STAGING = ".rknn-op-new-"
"""The beginning of the name of a hidden folder with new repositories."""


@dataclass(frozen=True)
class Plan:
    """The plan of a new repository.

    Attributes:
        spec: the operator.
        text: the description, as it will be in op.yml, without the last newline.
        folder: the path of the repository; must not exist.
        files: path -> content of the user's existing files.
        choices: the user's choices.
        warnings: of parts of the description that the chosen runtimes do not support.
        extra: the package that the reference imports.
    """

    spec: OpSpec
    text: str
    folder: Path
    files: Mapping[str, bytes] = field(default_factory=dict)
    choices: Choices = DEFAULTS
    warnings: Sequence[Complaint] = ()
    extra: Extra = ""


@dataclass(frozen=True)
class Created:
    """A new repository, or in a dry run its plan.

    Attributes:
        plan: its plan.
        warnings: of its plan.
        staged: the folder with its files, which is to be renamed; None in a dry run.
    """

    plan: Plan
    warnings: Sequence[Complaint] = ()
    staged: Path | None = None


def plan(
    config: Path, folder: Path | None = None, parent: Path = Path(), choices: Choices = DEFAULTS
) -> Plan:
    """Check a description and the path of its repository; return the plan.

    Args:
        config: the file with the description; STDIN: standard input.
        folder: the repository to make; None: in `parent`, with the operator's name.
        parent: the folder of the repository if `folder` is None.
        choices: the user's other choices.

    Raises:
        OpkitError: the description or a choice is invalid, or the path exists.
    """
    if config == STDIN:
        text = read_stream(sys.stdin.buffer, "<stdin>")
        return plan_text(text, "<stdin>", folder, parent, choices)
    return plan_text(read_description(config), str(config), folder, parent, choices)


def plan_text(
    text: str,
    source: str,
    folder: Path | None = None,
    parent: Path = Path(),
    choices: Choices = DEFAULTS,
    files: Mapping[str, bytes] = {},
) -> Plan:
    """Return the plan for the text of a description; see plan.

    Args:
        text: the description.
        source: its origin, for messages.
        folder: as of plan.
        parent: as of plan.
        choices: as of plan.
        files: path -> content of the user's existing files.

    Raises:
        OpkitError: the description or a choice is invalid, or the path exists.
    """
    spec = runtimes.parse(text, source)
    warnings: Sequence[Complaint] = ()
    if choices.target:
        refuse_target(choices.target, choices.runtimes or spec.runtimes)
    if choices.runtimes:
        changed = f"{source}, changed by options"
        text, found = adapted(text, choices.runtimes, changed, choices.target)
        warnings = [replace(each, file=source) for each in found]
    elif choices.target:
        text = with_target(text, choices.target)
    if choices.runtimes or choices.target:
        spec = runtimes.parse(text, f"{source}, changed by options")
    folder = folder or parent / spec.name
    name = _absolute(folder).name
    repository.refuse_folder_name(name)
    refuse_existing(folder)
    license = license_text(template.LICENSES, choices.license, choices.author, name)
    extras.left_out(choices.extras)  # refuses an unknown one
    own = {"LICENSE": license.encode()} if license else {}
    return Plan(spec, with_schema(text), folder, {**own, **files}, choices, warnings)


def refuse_target(name: str, names: Sequence[str], remedy: str = "pass --runtime {}") -> None:
    """Refuse a target that the runtimes do not have.

    Args:
        name: the value of `--target`.
        names: the names of the runtimes.
        remedy: the way to choose a runtime, with `{}` for its name.

    Raises:
        OpkitError: it is not a target of theirs.
    """
    known = {name: runtime.describe for name, runtime in runtimes.available().items()}
    chosen = [known[each] for each in names if each in known]
    expected = [target for each in chosen for target in each.targets]
    if chosen and name.lower() not in expected:
        refusal = unknown_target.refusal(name, chosen, known.values(), expected, remedy)
        raise OpkitError(f"--target: {refusal}")


def refuse_existing(folder: Path) -> None:
    """Refuse an existing path.

    Raises:
        OpkitError: it exists.
    """
    if os.path.lexists(folder):
        raise OpkitError(f"{folder} already exists; pass another folder, or delete it")


def create(plan: Plan, more: Mapping[str, bytes] = {}) -> None:
    """Make a repository: whole, or not at all.

    Args:
        plan: the repository.
        more: path -> content of files that are not a part of it.

    Raises:
        OpkitError: it cannot be made, or its path exists now.
    """
    with created([plan], more):
        pass


def create_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Make a folder: whole, or not at all.

    Args:
        folder: the new folder.
        files: path -> content of its files.

    Raises:
        OpkitError: it cannot be made, or its path exists now.
    """
    with new_folder(folder, files):
        pass


@contextmanager
def created(plans: Sequence[Plan], more: Mapping[str, bytes] = {}) -> Iterator[None]:
    """Make repositories in one folder: all of them, or none if the block raises an exception.

    Args:
        plans: the repositories.
        more: as of create, for each of them.

    Raises:
        OpkitError: one cannot be made, or its path exists now.
    """
    if not plans:
        yield
        return
    _refuse_equal([plan.folder for plan in plans])
    contents = [_contents(plan) for plan in plans]
    called = plans[0].folder if len(plans) == 1 else plans[0].folder.parent
    with staging(_absolute(plans[0].folder).parent, called) as scratch, ExitStack() as undo:
        places = {scratch / str(index): plan.folder for index, plan in enumerate(plans)}
        for (staged, folder), owned in zip(places.items(), contents, strict=True):
            _stage(staged, folder, *owned.values(), more)
        for plan in plans:
            root = joining.workspace_for(plan.folder)
            if root is not None and plan.extra:
                undo.enter_context(restored_on_error(root, [REQUIREMENTS, LOCK]))
                joining.require_package(root, plan.extra)
        undo.enter_context(moved(places))
        yield


@contextmanager
def new_folder(folder: Path, files: Mapping[str, bytes]) -> Iterator[None]:
    """Make a folder, as create_folder does; remove it if the block raises an exception.

    Raises:
        OpkitError: as create_folder does.
    """
    with staging(_absolute(folder).parent, folder) as scratch:
        _stage(scratch / folder.name, folder, files)
        with moved({scratch / folder.name: folder}):
            yield


@contextmanager
def staging(parent: Path, called: Path) -> Iterator[Path]:
    """Make a hidden folder for new folders, beside their paths; delete it at the end.

    Deletes those of killed runs, too. If the block raises an exception, the parent is deleted if
    it was made for it.

    Args:
        parent: the folder of the new folders.
        called: the path for messages.

    Raises:
        OpkitError: it cannot be made.
    """
    new = [path for path in (parent, *parent.parents) if not path.exists()]
    try:
        with ExitStack() as stack:
            try:
                scratch = stack.enter_context(scratch_folder(parent, _STAGING))
            except OSError as error:
                raise OpkitError(f"{called}: cannot be made: {error.strerror or error}") from None
            yield scratch
    except BaseException:  # Ctrl-C, too
        for path in new:
            with suppress(OSError):  # not empty, or never made
                path.rmdir()
        raise


def _stage(staged: Path, folder: Path, *contents: Mapping[str, bytes]) -> None:
    """Write the files of a new folder into a staged one.

    Args:
        staged: the folder to make.
        folder: its path in the end, for messages.
        contents: mappings of path -> content of its files.

    Raises:
        OpkitError: it cannot be made.
    """
    try:
        staged.mkdir()
        for files in contents:
            write_new_files(str(staged), files)
    except OSError as error:
        raise OpkitError(f"{folder}: cannot be made: {error.strerror or error}") from None


@contextmanager
def moved(places: Mapping[Path, Path]) -> Iterator[None]:
    """Rename staged folders to their paths; rename them back if the block raises an exception.

    Args:
        places: staged folder -> path.

    Raises:
        OpkitError: a path exists now.
    """
    try:
        for staged, folder in places.items():
            refuse_existing(folder)
            try:
                staged.rename(folder)
            except OSError as error:
                raise OpkitError(f"{folder}: cannot be made: {error.strerror}") from None
        yield
    except BaseException:  # Ctrl-C, too, even between a renaming and the next line
        for staged, folder in places.items():
            if not staged.exists():
                with suppress(OSError):
                    folder.rename(staged)
        raise


def _refuse_equal(folders: Sequence[Path]) -> None:
    """Refuse two repositories with one path.

    Raises:
        OpkitError: two have one.
    """
    seen = set[str]()
    for folder in folders:
        if str(folder).lower() in seen:
            raise OpkitError(f"{folder} would be made twice; name each operator once")
        seen.add(str(folder).lower())


def rehearse(plan: Plan) -> dict[str, list[str]]:
    """Return owner -> paths of a repository's files, without making it.

    Raises:
        OpkitError: it cannot be made.
    """
    return {owner: sorted(files) for owner, files in _contents(plan).items()}


def _contents(plan: Plan) -> dict[str, dict[str, bytes]]:
    """Return owner -> path -> content of every file of a new repository, or member of a workspace.

    Raises:
        OpkitError: it cannot be made.
    """
    root = joining.workspace_for(plan.folder, plan.choices.workspace)
    contents = contents_alone(plan)
    if root is None:
        return contents
    of_member = {
        owner: joining.member_files(files, root, plan.folder) for owner, files in contents.items()
    }
    return {owner: files for owner, files in of_member.items() if files}


def contents_alone(plan: Plan) -> dict[str, dict[str, bytes]]:
    """Return owner -> path -> content of every file of a repository that stands alone.

    Raises:
        OpkitError: it cannot be made.
    """
    repository.refuse_path(plan.folder)
    spec, chosen = plan.spec, runtimes.selected(plan.spec)
    own, data = wheel()
    skeletons = once_only_files(spec, chosen)
    of_operator = {
        **_encoded(skeletons),
        **_encoded(
            {"op.yml": f"{plan.text}\n", REQUIREMENTS: requirements_text(own, "", plan.extra)}
        ),
        **plan.files,
    }
    reference = of_operator[f"{spec.lower}_reference.py"].decode()
    math = of_operator[spec.math_file].decode()
    left_out = extras.left_out(plan.choices.extras)
    copied = {path: data for path, data in template.files().items() if path not in left_out}
    generated = needed(generated_files(spec, reference, chosen, math), copied | of_operator)
    lock = lock_text(own, plan.extra)
    written = Manifest(
        VERSION,
        dict.fromkeys(skeletons, VERSION),
        tuple(generated),
        own,
        manifest.digest(lock.encode()),
    )
    known = origin()
    of_operator["README.md"] += documentation(known).encode()
    cruft = {CRUFT: cruft_text(_cruft_state(plan, known, sorted(of_operator)))} if known else {}
    more = {manifest.PATH: manifest.to_text(written), LOCK: lock, **cruft}
    return {
        "yours": copied | of_operator,
        "generated": _encoded(generated | more),
        "opkit": {own.name: data},
    }


def _encoded(texts: Mapping[str, str]) -> dict[str, bytes]:
    return {path: text.encode() for path, text in texts.items()}


def write_new_files(root: str, files: Mapping[str, bytes]) -> None:
    """Write new files.

    Args:
        root: the folder to write into.
        files: path -> content.

    Raises:
        OSError: a file cannot be written, or exists.
    """
    # For thousands of repositories: str paths take a third of the time of Path.
    folders = {os.path.dirname(path) for path in files}  # noqa: PTH120  str, as above
    for folder in sorted(folders - {""}):
        os.makedirs(f"{root}/{folder}", exist_ok=True)  # noqa: PTH103  str, as above
    for path, content in files.items():
        with open(f"{root}/{path}", "xb") as file:  # noqa: PTH123  str, as above
            file.write(content)


def stage_all(
    configs: Sequence[Path], parent: Path, choices: Choices, scratch: Path | None
) -> Iterator[Created | OpkitError]:
    """Stage a repository of each description, in parallel on all processors.

    Args:
        configs: the files with the descriptions.
        parent: the folder of the repositories, which have their operators' names.
        choices: the user's other choices, for all of them.
        scratch: the folder of `staging`; None: check all, make nothing.

    Yields:
        In the order of the descriptions: the repository, or the error.
    """
    from rknn_op.workers import parallel  # only here: it takes long to import

    items = [(each, scratch and scratch / str(index)) for index, each in enumerate(configs)]
    first = dict[str, Path]()
    stage = partial(_stage_one, parent=parent, choices=choices)
    for config, result in zip(configs, parallel(stage, items), strict=True):
        if isinstance(result, Created):
            folder = result.plan.folder
            other = first.setdefault(str(folder).lower(), config)
            if other is not config:
                problem = f"{config}: {folder} is the repository of {other}; change one name"
                yield OpkitError(problem)
                continue
        yield result


def _stage_one(
    item: tuple[Path, Path | None], parent: Path, choices: Choices
) -> Created | OpkitError:
    config, staged = item
    try:
        planned = plan(config, None, parent, choices)
        contents = _contents(planned)
        if staged is not None:
            _stage(staged, planned.folder, *contents.values())
    except OpkitError as error:
        return error
    return Created(planned, planned.warnings, staged)


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100  resolve() would follow links


def _cruft_state(plan: Plan, known: Origin, skipped: Sequence[str]) -> dict[str, Any]:
    """Return cruft's record: the origin of a repository, the answers and the user's files."""
    answers = {
        "config": plan.text,
        "op_name": _absolute(plan.folder).name,
        "runtimes": ", ".join(plan.spec.runtimes),
        "license": plan.choices.license,
        "author": plan.choices.author,
        "extras": plan.choices.extras,
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


def cruft_of(spec: OpSpec, text: str, folder: Path, skipped: Sequence[str]) -> str:
    """Return the text of `.cruft.json` of an existing repository; empty: no known origin.

    Args:
        spec: its operator.
        text: its description.
        folder: the repository.
        skipped: the paths of the user's files.
    """
    known = origin()
    plan = Plan(spec, text.rstrip("\n"), folder)
    return cruft_text(_cruft_state(plan, known, skipped)) if known else ""


def cruft_text(state: Mapping[str, Any]) -> str:
    """Return the text of `.cruft.json`."""
    return json.dumps(state, indent=2, ensure_ascii=False) + "\n"
