"""Create operator repositories from descriptions: all of a command, or none."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from opkit import manifest, repository, runtimes
from opkit.common.complaint import Complaint
from opkit.common.errors import OpkitError
from opkit.description.file import read_description, read_stream
from opkit.description.spec import OpSpec
from opkit.files.generation import generated_files, needed
from opkit.files.skeletons import once_only_files
from opkit.manifest import LOCK, Manifest
from opkit.version import VERSION
from rknn_op import template
from rknn_op.all_or_nothing import (
    absolute,
    moved,
    refuse_existing,
    restored_on_error,
    stage,
    staging,
)
from rknn_op.creation import workspaces
from rknn_op.creation.choices import DEFAULTS, Choices, left_out, license_text, refuse_target
from rknn_op.creation.description_schema import with_schema
from rknn_op.creation.description_texts import adapted, with_entry, with_kernels
from rknn_op.creation.wheel import REQUIREMENTS, Extra, lock_text, requirements_text, wheel
from rknn_op.template import Origin, documentation, origin

CRUFT = ".cruft.json"
"""cruft's record of a repository: the template's origin and the answers."""
STDIN = Path("-")
"""The description on standard input."""


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
        staged: the folder with its files, which is to be renamed; None in a dry run.
    """

    plan: Plan
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
        warnings = [each._replace(file=source) for each in found]
    elif choices.target:
        text = with_entry(text, "target_platform", choices.target)
    if choices.kernels:
        text = with_kernels(text, choices.kernels)
    if choices.runtimes or choices.target or choices.kernels:
        spec = runtimes.parse(text, f"{source}, changed by options")
    folder = folder or parent / spec.name
    name = absolute(folder).name
    repository.refuse_folder_name(name)
    refuse_existing(folder)
    license = license_text(template.LICENSES, choices.license, choices.author, name)
    left_out(choices.extras)  # refuses an unknown one
    own = {"LICENSE": license.encode()} if license else {}
    return Plan(spec, with_schema(text), folder, {**own, **files}, choices, warnings)


def create(plan: Plan, more: Mapping[str, bytes] = {}) -> None:
    """Make a repository atomically.

    Args:
        plan: the repository.
        more: path -> content of files that are not a part of it.

    Raises:
        OpkitError: it cannot be made, or its path exists now.
    """
    with created([plan], more):
        pass


@contextmanager
def created(plans: Sequence[Plan], more: Mapping[str, bytes] = {}) -> Iterator[None]:
    """Make repositories in one folder: all of them, or none if the block raises an exception.

    Args:
        plans: the repositories.
        more: as of create, for each of them.

    Raises:
        OpkitError: one cannot be made, its path exists now, or two have one path.
    """
    if not plans:
        yield
        return
    seen = set[str]()
    for plan in plans:
        if str(plan.folder).lower() in seen:
            raise OpkitError(f"{plan.folder} would be made twice; name each operator once")
        seen.add(str(plan.folder).lower())
    contents = [_contents(plan) for plan in plans]
    called = plans[0].folder if len(plans) == 1 else plans[0].folder.parent
    with staging(absolute(plans[0].folder).parent, called) as scratch, ExitStack() as undo:
        places = {scratch / str(index): plan.folder for index, plan in enumerate(plans)}
        for (staged, folder), owned in zip(places.items(), contents, strict=True):
            stage(staged, folder, *owned.values(), more)
        for plan in plans:
            root = workspaces.workspace_for(plan.folder)
            if root is not None and plan.extra:
                undo.enter_context(restored_on_error(root, [REQUIREMENTS, LOCK]))
                workspaces.require_package(root, plan.extra)
        undo.enter_context(moved(places))
        yield


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
    root = workspaces.workspace_for(plan.folder, plan.choices.workspace)
    repository.refuse_path(plan.folder)
    spec, chosen = plan.spec, runtimes.selected(plan.spec)
    own, data = wheel()
    skeletons = once_only_files(spec, chosen)
    of_operator = {
        **_encoded(skeletons),
        "op.yml": f"{plan.text}\n".encode(),
        REQUIREMENTS: requirements_text(own, "", plan.extra).encode(),
        **plan.files,
    }
    reference = of_operator[f"{spec.lower}_reference.py"].decode()
    math = of_operator[spec.math_file].decode()
    absent = left_out(plan.choices.extras)
    copied = {path: data for path, data in template.files().items() if path not in absent}
    generated = needed(generated_files(spec, reference, chosen, math), copied | of_operator)
    lock = lock_text(own, plan.extra)
    written = Manifest(
        VERSION,
        {path: manifest.digest(text.encode()) for path, text in skeletons.items()},
        tuple(generated),
        own,
        manifest.digest(lock.encode()),
    )
    known = origin()
    of_operator["README.md"] += documentation(known).encode()
    cruft = {CRUFT: cruft_text(_cruft_state(plan, known, sorted(of_operator)))} if known else {}
    more = {manifest.PATH: manifest.to_text(written), LOCK: lock, **cruft}
    contents = {
        "yours": copied | of_operator,
        "generated": _encoded(generated | more),
        "opkit": {own.name: data},
    }
    if root is None:
        return contents
    of_member = {
        owner: workspaces.member_files(files, root, plan.folder)
        for owner, files in contents.items()
    }
    return {owner: files for owner, files in of_member.items() if files}


def _encoded(texts: Mapping[str, str]) -> dict[str, bytes]:
    return {path: text.encode() for path, text in texts.items()}


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
    from rknn_op.process_pool import parallel  # only here: it takes long to import

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
            stage(staged, planned.folder, *contents.values())
    except OpkitError as error:
        return error
    return Created(planned, staged)


def _cruft_state(plan: Plan, known: Origin, skipped: Sequence[str]) -> dict[str, Any]:
    """Return cruft's record: the origin of a repository, the answers and the user's files."""
    answers = {
        "config": plan.text,
        "op_name": absolute(plan.folder).name,
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
