"""`rknn-op create --from`: repositories for the operators of a model that a target lacks."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from opkit.common.errors import OpkitError
from opkit.common.text import printable
from opkit.runtimes import available
from rknn_op import all_or_nothing, template
from rknn_op.creation import new_repository
from rknn_op.creation.choices import Choices
from rknn_op.creation.new_repository import Plan
from rknn_op.creation.wheel import Extra
from rknn_op.messages import step, track
from rknn_op.models import scanning
from rknn_op.models.drafting.drafts import Draft, Source, Task, draft
from rknn_op.models.drafting.int8_calls import with_int8
from rknn_op.models.drafting.node_signatures import called
from rknn_op.models.drafting.selection import Selection, selected_nodes, type_name
from rknn_op.models.model_graph import Model, Node, plain
from rknn_op.models.running.recording import Recording, record
from rknn_op.models.scanning import Unsuitable


@dataclass(frozen=True)
class Planned:
    """A planned repository.

    Attributes:
        plan: its plan.
        draft: its contents from the model.
    """

    plan: Plan
    draft: Draft


@dataclass(frozen=True)
class Plans:
    """The plans for a model.

    Attributes:
        model: the model.
        target: the target.
        planned: the repositories; empty if the target has all operators.
        notes: messages about the run of the model.
        problems: the operators that cannot be made, an error for each.
        unsuitable: the missing operators that have no repository, because a custom operator cannot
            replace them.
    """

    model: Model
    target: str
    planned: Sequence[Planned]
    notes: Sequence[str] = ()
    problems: Sequence[OpkitError] = ()
    unsuitable: Sequence[Unsuitable] = ()

    @property
    def total(self) -> int:
        """The count of all operators."""
        return len(self.planned) + len(self.problems)


def plans(
    file: Path,
    selection: Selection,
    folder: Path,
    choices: Choices,
    inputs: Path | None = None,
    toolkit: Path | None = None,
    as_is: bool = False,
    is_quantized: bool = False,
) -> Plans:
    """Return the plans for operators of a model.

    Args:
        file: the model.
        selection: its nodes.
        folder: the repository; for all types, the folder of the repositories.
        choices: the user's other choices.
        inputs: an .npz file with the model's inputs; None: random ones.
        toolkit: a Python with the target's toolkit, which decides what is missing; None: the lists.
        as_is: do not clean the model.
        is_quantized: whether there are also cases with the numbers of int8.

    Raises:
        OpkitError: the model, a choice or the inputs are invalid, or the only operator cannot be
            made.
    """
    if not selection.is_all:
        all_or_nothing.refuse_existing(folder)
    for name in choices.runtimes:
        if name not in available():
            expected = ", ".join(available())
            raise OpkitError(f"--runtime: unknown '{plain(name)}' (expected {expected})")
    names = [*choices.runtimes] or [scanning.runtime_of(file, choices.target)]
    target = choices.target or available()[names[0]].describe.default_target
    groups: Sequence[Sequence[Node]]
    unsuitable: Sequence[Unsuitable] = ()
    if selection.is_all:
        scan = scanning.scan_file(file, target, toolkit, as_is)
        model, groups = scan.model, [each.nodes for each in scan.missing]
        unsuitable = scan.unsuitable
    else:
        model = scanning.read_model(file, as_is)
        groups = [selected_nodes(model, selection, names)]
    for name in names:
        describe = available()[name].describe
        if model.framework not in describe.frameworks:
            raise OpkitError(
                f"{printable(str(model.file))}: a model of {model.framework}; operators of "
                f"{describe.title} are for models of {' and '.join(describe.frameworks)}"
            )
    if not groups:
        return Plans(model, target, (), unsuitable=unsuitable)
    nodes = [node for group in groups for node in group]
    with step("running the model, to record cases"):
        if model.framework == "onnx":
            recording = record(model, nodes, inputs)
            if is_quantized:
                recording = replace(recording, calls=(*with_int8(recording.calls),))
        else:
            note = "no library here runs a frozen graph"
            if inputs:
                raise OpkitError(f"--inputs: {note}; cases are not recorded")
            recording = Recording((), (f"no recorded cases: {note}",))
    task = Task(model, names, target, template.EXAMPLES, recording)
    planned: dict[str, Planned] = {}
    problems: list[OpkitError] = []
    for group in track(groups, len(groups), "describing"):
        try:
            new = _plan(draft(task, group), file, folder, selection.is_all, choices)
            if other := planned.get(str(new.plan.folder).lower()):
                first, second = (
                    plain(type_name(each.domain, each.op_type))
                    for each in (other.draft.nodes[0], group[0])
                )
                raise OpkitError(
                    f"{second} would be in {other.plan.folder}, as {first}; make it with --op and "
                    "a folder of its own"
                )
            planned[str(new.plan.folder).lower()] = new
        except OpkitError as error:
            if not selection.is_all:
                raise
            more = f" and {len(group) - 1} more" if len(group) > 1 else ""
            where = f"node{'s' * (len(group) > 1)} '{plain(group[0].name)}'{more}"
            problems.append(OpkitError(f"{where}: {error}"))
    return Plans(model, target, [*planned.values()], recording.notes, problems, unsuitable)


_EXTRAS: dict[Source, Extra] = {Source.ONNX: "onnx", Source.ONNXRUNTIME: "onnxruntime"}


def _plan(found: Draft, file: Path, folder: Path, is_all: bool, choices: Choices) -> Planned:
    source = f"{printable(str(file))}, {called(found.nodes)}"
    rest = replace(choices, runtimes=(), target="")
    place = folder / found.spec.name if is_all else folder
    text = found.text.rstrip("\n")
    plan = new_repository.plan_text(text, source, place, Path(), rest, found.files)
    return Planned(replace(plan, extra=_EXTRAS.get(found.source, "")), found)


# ---- The report ----------------------------------------------------------------------------------

_WIDTH = 80
_MATH = {
    Source.LIBRARY: "The math is there, in C and in numpy.",
    **dict.fromkeys(
        (Source.ONNX, Source.ONNXRUNTIME),
        "The math in C is left to write: {lower}_compute.h. Until then, the check fails.",
    ),
    Source.SKELETON: "The math is left to write, in C and in numpy: {lower}_compute.h, "
    "{lower}_reference.py. So far, it copies its first input.",
}


def report(found: Plans, is_made: bool) -> str:
    """Return the text about repositories, at most 80 columns wide but for paths.

    Args:
        found: the plans.
        is_made: whether the repositories exist; else it was a dry run.
    """
    if not found.total and not found.unsuitable:
        return f"{printable(str(found.model.file))}: {found.target} has all of its operators.\n"
    parts = []
    for each in found.planned:
        made, spec = each.draft, each.draft.spec
        nodes = f"{len(made.nodes)} node{'s' * (len(made.nodes) != 1)}"
        verb = "" if is_made else "would be made: "
        count = len(made.recorded.files)
        recorded = f"{count}, {made.recorded.size / 1000:,.1f} KB" if count else "none"
        lines = [
            f"{verb}{each.plan.folder}: {spec.name} ({nodes}), for {', '.join(spec.runtimes)}",
            *_wrapped(f"Reference: {made.source.value}."),
            *_wrapped(_MATH[made.source].format(lower=spec.lower)),
            *_wrapped(f"Recorded cases: {recorded}."),
            *(line for note in made.notes for line in _wrapped(note, "- ")),
        ]
        if made.questions:
            lines += ["  Questions, also in op.yml:"]
            lines += [line for each in made.questions for line in _wrapped(each.text, "- ")]
        parts.append("\n".join(lines))
    for unsuitable in found.unsuitable:
        names = ", ".join(plain(node.name) for node in unsuitable.nodes[:3])
        more = len(unsuitable.nodes) - 3
        names += f" and {more} more" if more > 0 else ""
        parts.append(
            f"not made: {plain(unsuitable.op_type)} ({names}); a custom operator cannot replace "
            "it:\n" + "\n".join(_wrapped(unsuitable.remedy))
        )
    if found.notes and found.planned:
        parts.append("\n".join(line for note in found.notes for line in _wrapped(printable(note))))
    if is_made and found.planned:
        folders = " ".join(shlex.quote(str(each.plan.folder)) for each in found.planned)
        lines = ["Next:", f"    rknn-op check -p {folders}"]
        if found.model.framework == "onnx":
            model = shlex.quote(str(found.model.file))
            output = shlex.quote(str(found.model.file.with_suffix("")) + "_grafted.onnx")
            as_is = " --as-is" * (found.model.cleaned is None)
            lines.append(f"    rknn-op graft {model} -p {folders} -o {output}{as_is}")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n" if parts else ""


def _wrapped(text: str, mark: str = "") -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=f"  {mark}",
        subsequent_indent=" " * (2 + len(mark)),
        break_long_words=False,
        break_on_hyphens=False,
    )
