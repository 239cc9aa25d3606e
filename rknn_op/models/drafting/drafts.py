"""Nodes of a model -> the description and the user's files of their operator's repository."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path

import numpy as np

from opkit import runtimes
from opkit.common.code_layout import LINE_LENGTH, bracketed, literal
from opkit.common.text import render
from opkit.description.spec import OpSpec
from opkit.files.skeletons import once_only_files, unwritten_math
from opkit.runtimes.interface import Runtime
from opkit.runtimes.invocation import Array
from rknn_op.creation.description_texts import adapted, with_entry
from rknn_op.creation.operator_library import LibraryOperator
from rknn_op.models.drafting import library_match
from rknn_op.models.drafting.node_signatures import Input, Output, Signature, signature
from rknn_op.models.drafting.op_yml import (
    Question,
    comment,
    description,
    questions,
    refuse_dtypes,
)
from rknn_op.models.drafting.recorded_cases import RecordedCases, filled, recorded_cases
from rknn_op.models.drafting.reference_trials import tolerance_text, trial_operator
from rknn_op.models.drafting.small_cases import Group, SmallCases, small_cases
from rknn_op.models.model_files import CONTRIBUTED, WITHOUT_FUSION, required
from rknn_op.models.model_graph import CASTS, Model, Node, Tensor
from rknn_op.models.onnx_model import RANDOM
from rknn_op.models.running.recording import Recording


class Source(Enum):
    """The source of a reference."""

    LIBRARY = "of the operator library"
    ONNX = "by onnx's reference evaluator"
    ONNXRUNTIME = "by onnxruntime"
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
        notes: messages about the source of the reference, and nodes without a case.
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
    task, nodes, casts = _with_casts(task, nodes)
    has_texts = not any(runtime.describe.type_refusal("STRING") for runtime in chosen)
    found = signature(task.model, nodes, has_texts)
    refuse_dtypes(found, task.runtimes)
    match, reason = library_match.find(task.library, found, nodes)
    if match:
        drafted, reason = _from_library(task, nodes, found, match)
        if not reason:
            return replace(drafted, notes=[*casts, *drafted.notes])
    notes = [*casts]
    if reason:
        notes.append(f"the library's {found.op_type} does not fit: {reason}")
    if found.domain == CONTRIBUTED:
        notes.append(WITHOUT_FUSION)
    return _described(task, nodes, found, notes)


def _with_casts(task: Task, nodes: Sequence[Node]) -> tuple[Task, Sequence[Node], list[str]]:
    """Return the task and the nodes with the dtypes behind the Casts of `rknn-op graft`.

    Returns:
        The task with the recorded calls of these nodes, the nodes, and a note for each dtype.
    """
    supported = [{*runtime.describe.tensor_types} for runtime in _selected(task)]
    is_onnx = task.model.framework == "onnx"
    casts = {
        wide: narrow
        for wide, narrow in CASTS.items()
        if is_onnx and all(wide not in each and narrow in each for each in supported)
    }
    found = dict.fromkeys(
        tensor.dtype
        for node in nodes
        for tensor in (*node.inputs, *node.outputs)
        if tensor and not tensor.constant and tensor.dtype in casts
    )
    if not found:
        return task, nodes, []

    def tensors(old: Sequence[Tensor | None]) -> tuple[Tensor | None, ...]:
        return tuple(
            each and replace(each, dtype=casts.get(each.dtype, each.dtype)) for each in old
        )

    def arrays(old: Mapping[int, Array]) -> dict[int, Array]:
        with np.errstate(over="ignore"):
            return {
                position: each.astype(casts.get(each.dtype.name, each.dtype), copy=False)
                for position, each in old.items()
            }

    by_id = {
        id(node): replace(node, inputs=tensors(node.inputs), outputs=tensors(node.outputs))
        for node in nodes
    }
    calls = tuple(
        replace(
            call,
            node=by_id[id(call.node)],
            inputs=arrays(call.inputs),
            outputs=arrays(call.outputs),
        )
        for call in task.recording.calls
        if id(call.node) in by_id
    )
    task = replace(task, recording=replace(task.recording, calls=calls))
    notes = [
        f"{dtype} tensors of the model are {casts[dtype]} here: `rknn-op graft` writes a Cast "
        "before and behind the node"
        for dtype in found
    ]
    return task, [*by_id.values()], notes


def _from_library(
    task: Task, nodes: Sequence[Node], found: Signature, match: LibraryOperator
) -> tuple[Draft, str]:
    """Return the draft with the files of the library, and why it is unusable, or an empty text."""
    # The library's tensors stay tensors, though they may be constant.
    names = {each.name for each in match.spec.inputs}
    inputs = (replace(each, kind="") if each.name in names else each for each in found.inputs)
    # Attributes that it lacks have their default in all nodes.
    params = {each.name for each in match.spec.params}
    attributes = (each for each in found.attributes if each.name in params)
    found = replace(found, inputs=tuple(inputs), attributes=tuple(attributes))
    found = library_match.completed(found, match.spec)
    defined = replace(found, is_standard=True)  # the library defines it
    remarks = [each for each in questions(defined, nodes) if not each.field]
    text, _ = adapted(match.text, task.runtimes, str(match.folder), task.target.upper())
    text = with_entry(text, "framework", task.model.framework)
    text = "".join(f"{line}\n" for each in remarks for line in comment(each.text)) + text
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


def _described(task: Task, nodes: Sequence[Node], found: Signature, notes: Sequence[str]) -> Draft:
    remarks = questions(found, nodes)
    text = description(found, task.model, nodes, remarks, task.runtimes, task.target)
    spec = runtimes.parse(text, f"the description of {found.op_type}")
    if source := evaluator(found):
        reference = evaluated_reference(spec.name, found, source).encode()
        small, recorded = _cases(task, nodes, found, spec, text, reference)
        if small.groups or recorded.files:
            files = {
                f"{spec.lower}_reference.py": reference,
                f"{spec.lower}_compute.h": unwritten_math(spec).encode(),
                **_tests(f"tests/test_{spec.lower}.py", spec, small, recorded),
            }
            notes = [*notes, *small.left_out, *recorded.left_out, *recorded.differences]
            return Draft(nodes, text, spec, files, source, remarks, recorded, notes)
        rejected = f"{source.value.removeprefix('by ')} rejects all cases of these nodes"
        notes = [*notes, rejected, *recorded.left_out]
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
    """Return the small and the recorded cases that the reference accepts.

    Nodes of TensorFlow have none: neither their shapes nor their outputs are known.
    """
    if task.model.framework != "onnx":
        return SmallCases(), RecordedCases()
    calls = [call for node in nodes for call in task.recording.calls if call.node is node]
    with trial_operator(spec, text, reference) as operator:
        complete = [filled(found, node) for node in nodes]
        small = small_cases(found, complete, operator) if is_written else SmallCases()
        return small, recorded_cases(found, calls, operator, is_written)


def _tests(path: str, spec: OpSpec, small: SmallCases, recorded: RecordedCases) -> dict[str, bytes]:
    """Return path -> content of a file of tests with its recorded cases; nothing without cases."""
    if not (small.groups or recorded.files):
        return {}
    text = test_file(spec, small, recorded)
    files = {f"tests/{_DATA}/{name}": content for name, content in recorded.files.items()}
    return {path: text.encode(), **files}


# ---- The reference of an operator with a schema: the evaluator of onnx, or onnxruntime -----------

_EVALUATORS = {Source.ONNX: "onnx", Source.ONNXRUNTIME: "onnxruntime"}
"""The package of an evaluator."""
_WORDS = {
    "bool": "a bool",
    "int": "an int",
    "float": "a float",
    "ints": "a list of int",
    "floats": "a list of float",
    "string": "a str",
}


def evaluator(found: Signature) -> Source | None:
    """Return the source of a reference that computes an operator always alike; None: none."""
    if not found.is_standard or found.op_type in RANDOM:
        return None
    if found.domain == CONTRIBUTED:
        return Source.ONNXRUNTIME
    schema = required("onnx").defs.get_schema(found.op_type, found.opset, found.domain)
    if schema.has_function or schema.has_context_dependent_function:
        return Source.ONNX
    try:
        required("onnx.reference.ops").load_op(found.domain, found.op_type, found.opset)
    except Exception:  # onnx raises several types for operators that it does not compute
        return None
    return Source.ONNX


def evaluated_reference(name: str, found: Signature, source: Source) -> str:
    """Return the text of `<op>_reference.py` that calls an evaluator.

    Args:
        name: the operator's name in op.yml.
        found: an operator with a schema.
        source: the evaluator.
    """
    tensors = {
        each.name: (each.dtypes[0] if len(each.dtypes) == 1 else None) for each in found.tensors
    }
    constants = {each.name: [each.dtypes[0], [-1] if each.rank else []] for each in found.constants}
    kinds = {each.name: each.kind for each in found.attributes}
    kinds |= {each.name: each.kind for each in found.constants}
    params = [f"        {param}: {_WORDS[kind]}" for param, kind in kinds.items()]
    return render(
        Path(__file__).parent / f"templates/{_EVALUATORS[source]}_reference.py",
        name=name,
        op_type=literal(found.op_type, ""),
        domain=literal(found.domain, ""),
        opset=str(found.opset),
        inputs=literal(_in_order(found.inputs), "INPUTS = ", 0),
        outputs=literal(_in_order(found.outputs), "OUTPUTS = ", 0),
        tensors=literal(tensors, "TENSORS = ", 0),
        constants=literal(constants, "CONSTANTS = ", 0),
        attributes=literal([each.name for each in found.attributes], "ATTRIBUTES = ", 0),
        param_values="\n".join(params or ["        (this operator has none)"]),
    )


def _in_order(slots: Sequence[Input] | Sequence[Output]) -> list[str]:
    """Return the names by position; an empty one where nothing is described."""
    names = {each.position: each.name for each in slots}
    return [names.get(position, "") for position in range(max(names) + 1)]


# ---- The text of the tests -----------------------------------------------------------------------

_DATA = "data"
"""The folder of recorded cases, in tests/."""


def test_file(spec: OpSpec, small: SmallCases, recorded: RecordedCases) -> str:
    """Return the text of a file of tests."""
    groups = small.groups
    contents = ["tensors of the model's nodes"] * bool(recorded.files)
    contents += ["small cases of their shapes"] * bool(groups)
    names = {"check_cpu_kernel"}
    parts = []
    if recorded.files:
        names.add("recorded")
        parts.append(
            "# The reference is compared with the outputs of the model's own framework.\n"
            f'RECORDED = recorded("{_DATA}", {tolerance_text(recorded.error)})\n'
        )
    if groups:
        used = [each for group in groups for ranges in group.ranges for each in ranges.values()]
        names |= {"cases", *(each.maker for each in used)}
        names |= {"vary_params"} if any(group.others for group in groups) else set()
        calls = "".join(map(_group_call, groups))
        parts.append(f"SMALL = [\n{calls}]\n")
    lists = ["RECORDED"] * bool(recorded.files) + ["SMALL"] * bool(groups)
    parts.append(f"CASES = {' + '.join(lists)}")
    imports = ", ".join(sorted(names))
    if len(f"from opkit.testing import {imports}") > LINE_LENGTH:
        imports = bracketed(sorted(names), "from opkit.testing import ", 0, "()")
    return render(
        Path(__file__).parent / "templates/test.py",
        name=spec.name,
        lower=spec.lower,
        contents=" and ".join(contents),
        kernels="the CPU kernel" if len(spec.runtimes) == 1 else "all kernels",
        imports=imports,
        cases="\n".join(parts),
        tolerance=tolerance_text(max(small.error, recorded.error)),
    )


def _group_call(group: Group) -> str:
    """Return the call of cases() for a group, as items of a list."""
    indent = 8
    shapes = [f'"{name}": {tuple(shape)}' for name, shape in group.shapes.items()]
    values = []
    for ranges in group.ranges:
        items = [f'"{name}": {each}' for name, each in ranges.items()]
        same = len({*ranges.values()}) == 1
        one = str(next(iter(ranges.values())))
        values.append(one if same else bracketed(items, "", indent + 4, "{}"))
    base = dict(group.params)
    params = f"[{literal(base, 'params=[', indent)}]"
    if group.others:
        items = [literal(base, "", indent + 4)] if base else []
        items += [
            f"{name}={literal([*others], f'{name}=', indent + 4)}"
            for name, others in group.others.items()
        ]
        params = f"vary_params{bracketed(items, 'params=vary_params', indent, '()')}"
    arguments = [
        f"shapes=[{bracketed(shapes, 'shapes=[', indent, '{}')}]",
        f"values={bracketed(values, 'values=', indent)}",
        f"params={params}",
        f"dtype={literal(dict(group.dtypes), 'dtype=', indent)}",
    ]
    lines = "".join(f"{' ' * indent}{argument},\n" for argument in arguments)
    return f"    *cases(\n{lines}    ),\n"
