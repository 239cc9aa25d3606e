"""Nodes of a model -> the description and the user's files of their operator's repository."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path

from opkit import runtimes
from opkit.description.spec import OpSpec
from opkit.files.skeletons import once_only_files, unwritten_math
from opkit.runtimes.interface import Runtime
from rknn_op.creation.description_texts import adapted, with_framework
from rknn_op.creation.operator_library import LibraryOperator
from rknn_op.models.drafting import library, onnx_references
from rknn_op.models.drafting.case_texts import FOLDER, test_file
from rknn_op.models.drafting.filling import filled
from rknn_op.models.drafting.op_yml import comments_of, description, refuse_dtypes
from rknn_op.models.drafting.questions import Question, questions
from rknn_op.models.drafting.recorded_cases import RecordedCases, recorded_cases
from rknn_op.models.drafting.signatures import Signature, signature
from rknn_op.models.drafting.small_cases import SmallCases, small_cases
from rknn_op.models.drafting.trial import trial_operator
from rknn_op.models.model import Model, Node
from rknn_op.models.running.recording import Recording


class Source(Enum):
    """The source of a reference."""

    LIBRARY = "of the operator library"
    ONNX = "by onnx's reference evaluator"
    SKELETON = "left to write"


@dataclass(frozen=True)
class Task:
    """The common arguments of the drafts of a model.

    Attributes:
        model: the model.
        runtimes: the names of the runtimes.
        target: the default target.
        library: the folder of the operator library.
        recording: the recorded calls of the nodes.
    """

    model: Model
    runtimes: Sequence[str]
    target: str
    library: Path
    recording: Recording


@dataclass(frozen=True)
class Draft:
    """An operator of a model.

    Attributes:
        nodes: its nodes.
        text: the description.
        spec: the same, parsed.
        files: path -> content of the user's files.
        source: the source of the reference.
        questions: the assumptions, and the facts that the model does not have.
        recorded: the recorded cases.
        notes: sentences about the source of the reference, and about nodes without a case.
    """

    nodes: Sequence[Node]
    text: str
    spec: OpSpec
    files: Mapping[str, bytes]
    source: Source
    questions: Sequence[Question]
    recorded: RecordedCases
    notes: Sequence[str] = field(default=())


def draft(task: Task, nodes: Sequence[Node]) -> Draft:
    """Return the description, the reference and the cases of nodes of one operator.

    Raises:
        OpkitError: the operator cannot be described for the runtimes.
    """
    chosen = _selected(task)
    has_texts = not any(runtime.describe.type_refusal("STRING") for runtime in chosen)
    found = signature(task.model, nodes, has_texts)
    refuse_dtypes(found, task.runtimes)
    match, reason = library.find(task.library, found, nodes)
    if match:
        drafted, reason = _from_library(task, nodes, found, match)
        if not reason:
            return drafted
    notes = [f"the library's {found.op_type} does not fit: {reason}"] if reason else []
    return _described(task, nodes, found, notes)


def _from_library(
    task: Task, nodes: Sequence[Node], found: Signature, match: LibraryOperator
) -> tuple[Draft, str]:
    """Return the draft with the files of the library, and the reason against it, if any."""
    found = library.completed(_with_tensors(found, match.spec), match.spec)
    defined = replace(found, is_standard=True)  # the library defines it
    remarks = [each for each in questions(defined, nodes) if not each.field]
    text, _ = adapted(match.text, task.runtimes, str(match.folder), task.target.upper())
    text = with_framework(text, task.model.framework)
    text = "".join(f"{line}\n" for line in comments_of(remarks)) + text
    spec = runtimes.parse(text, str(match.folder))
    files = match.files(spec)
    reference = files[f"{spec.lower}_reference.py"]
    small, recorded = _cases(task, nodes, found, spec, text, reference)
    own = f"tests/test_{spec.lower}.py"
    path = f"tests/test_{spec.lower}_model.py" if own in files else own
    files |= _tests(path, spec, small, recorded)
    notes = [*small.left_out, *recorded.left_out, *recorded.differences]
    is_refused = recorded.left_out and not (recorded.files or small.groups)
    reason = recorded.left_out[0] if is_refused else ""
    return Draft(nodes, text, spec, files, Source.LIBRARY, remarks, recorded, notes), reason


def _with_tensors(found: Signature, spec: OpSpec) -> Signature:
    """Return the union of nodes with the tensors of an operator, though they may be constant."""
    names = {each.name for each in spec.inputs}
    inputs = (replace(each, kind="") if each.name in names else each for each in found.inputs)
    return replace(found, inputs=tuple(inputs))


def _described(task: Task, nodes: Sequence[Node], found: Signature, notes: Sequence[str]) -> Draft:
    remarks = questions(found, nodes)
    text = description(found, task.model, nodes, remarks, task.runtimes, task.target)
    spec = runtimes.parse(text, f"the description of {found.op_type}")
    if onnx_references.has_evaluator(found):
        reference = onnx_references.reference(spec.name, found, nodes).encode()
        small, recorded = _cases(task, nodes, found, spec, text, reference)
        if small.groups or recorded.files:
            files = {
                f"{spec.lower}_reference.py": reference,
                f"{spec.lower}_compute.h": unwritten_math(spec).encode(),
                **_tests(f"tests/test_{spec.lower}.py", spec, small, recorded),
            }
            notes = [*notes, *small.left_out, *recorded.left_out, *recorded.differences]
            return Draft(nodes, text, spec, files, Source.ONNX, remarks, recorded, notes)
        notes = [*notes, "onnx's evaluator takes no case of these nodes", *recorded.left_out]
    skeleton = once_only_files(spec, _selected(task))[f"{spec.lower}_reference.py"]
    _, recorded = _cases(task, nodes, found, spec, text, skeleton.encode(), is_written=False)
    files = _tests(f"tests/test_{spec.lower}_model.py", spec, SmallCases(), recorded)
    return Draft(
        nodes, text, spec, files, Source.SKELETON, remarks, recorded, [*notes, *recorded.left_out]
    )


def _selected(task: Task) -> list[Runtime]:
    return [runtimes.available()[name] for name in task.runtimes]


def _cases(
    task: Task,
    nodes: Sequence[Node],
    found: Signature,
    spec: OpSpec,
    text: str,
    reference: bytes,
    is_written: bool = True,
) -> tuple[SmallCases, RecordedCases]:
    """Return the small and the recorded cases that the reference takes.

    Nodes of TensorFlow have none: neither their shapes nor their outputs are known.
    """
    if task.model.framework != "onnx":
        return SmallCases(), RecordedCases()
    calls = [call for node in nodes for call in task.recording.calls_of(node)]
    with trial_operator(spec, text, reference) as operator:
        complete = [filled(found, node) for node in nodes]
        small = small_cases(found, complete, operator) if is_written else SmallCases()
        return small, recorded_cases(found, calls, operator, is_written)


def _tests(path: str, spec: OpSpec, small: SmallCases, recorded: RecordedCases) -> dict[str, bytes]:
    """Return path -> content of a file of tests with its recorded cases; nothing without cases."""
    if not (small.groups or recorded.files):
        return {}
    text = test_file(spec, small, recorded)
    files = {f"tests/{FOLDER}/{name}": content for name, content in recorded.files.items()}
    return {path: text.encode(), **files}
