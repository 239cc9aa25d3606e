"""The library of ready operators: find the one that computes a model's nodes.

A folder of the library has the description and the user's files of an operator. `name:` is the
operator's name in models of its framework; for ONNX that is an operator of ONNX's own domain, and
its inputs, outputs and params have the names of ONNX's schema, inputs and outputs in lower case.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from opkit import runtimes
from opkit.description.file import read_description
from opkit.description.spec import OpSpec, Param, Tensor
from opkit.files.skeletons import once_only_files
from opkit.models.drafting.signatures import Input, Output, Signature
from opkit.models.model import STANDARD, Node
from opkit.models.text import plain


@dataclass(frozen=True)
class LibraryOperator:
    """An operator of the library.

    Attributes:
        folder: its folder.
        text: its description.
        spec: the same, parsed.
    """

    folder: Path
    text: str
    spec: OpSpec

    def files(self, spec: OpSpec) -> dict[str, bytes]:
        """Return path -> content of its files for an operator with other runtimes.

        Args:
            spec: the operator, adapted to the runtimes.
        """
        own = {*once_only_files(self.spec, runtimes.selected(self.spec))}
        chosen = runtimes.selected(spec)
        foreign = own - {*once_only_files(spec, chosen)}
        folders = {*runtimes.available()} - {*spec.runtimes}
        found = {}
        for path in sorted(self.folder.rglob("*")):
            name = path.relative_to(self.folder).as_posix()
            is_foreign = name in foreign or name.partition("/")[0] in folders
            if path.is_file() and path.suffix not in (".yml", ".pyc") and not is_foreign:
                found[name] = path.read_bytes()
        test = f"tests/test_{spec.lower}.py"
        if test in found and _uses_others(found[test].decode(), spec):
            del found[test]
        return found


def _uses_others(test: str, spec: OpSpec) -> bool:
    """Whether a file of tests calls the functions of a runtime that an operator lacks."""
    names = {
        name
        for runtime in runtimes.available().values()
        if runtime.name not in spec.runtimes
        for name in runtime.check.test_functions
    }
    return any(name in test for name in names)


def find(
    library: Path, found: Signature, nodes: Sequence[Node]
) -> tuple[LibraryOperator | None, str]:
    """Return the operator of a library for nodes; or None and the reason.

    Args:
        library: the folder of the library.
        found: the union of the nodes.
        nodes: the nodes.
    """
    if found.domain != STANDARD:
        return None, ""
    for file in sorted(library.glob("*/*.yml")):
        text = read_description(file)
        spec = runtimes.parse(text, str(file))
        if spec.name == found.op_type:
            problem = next(_problems(spec, found, nodes), "")
            return (None, problem) if problem else (LibraryOperator(file.parent, text, spec), "")
    return None, ""


def _problems(spec: OpSpec, found: Signature, nodes: Sequence[Node]) -> Iterator[str]:
    """Yield the reasons why an operator does not compute nodes."""
    yield from _named(spec, found) if found.is_standard else _ordered(spec, found)
    params = {param.name: param for param in spec.params}
    for attribute in found.attributes:
        values = {node.attributes.get(attribute.name, attribute.default) for node in nodes}
        if attribute.name not in params and values != {attribute.default}:
            yield f"it has no param '{plain(attribute.name)}'"
        elif None in values and params[attribute.name].default is None:
            yield f"some nodes lack its param '{plain(attribute.name)}'"
    known = {each.name for each in found.attributes} | {each.name for each in found.constants}
    for param in spec.params:
        if param.default is None and param.name not in known and not param.source:
            yield f"its param '{param.name}' is not in the model"


def _named(spec: OpSpec, found: Signature) -> Iterator[str]:
    """Yield the differences of inputs and outputs, which have the schema's names."""
    tensors = {each.name: each for each in spec.inputs}
    constants = {each.name for each in spec.params if each.source}
    slots = {each.name: each for each in found.inputs}
    for each in found.inputs:
        if each.name in tensors:
            yield from _dtype_problem(tensors[each.name], each)
        elif not each.kind or each.name not in constants:
            yield f"it has no {'param' if each.kind else 'input'} '{each.name}'"
    for name in tensors.keys() - slots.keys():
        yield f"its input '{name}' is left out in the model"
    for param in spec.params:
        if param.source and param.default is None and param.name not in slots:
            yield f"its param '{param.name}' is left out in the model"
    outputs = {each.name: each for each in spec.outputs}
    yield from _output_problems(outputs, found.outputs)


def _output_problems(outputs: Mapping[str, Tensor], found: Iterable[Output]) -> Iterator[str]:
    for each in found:
        if each.name not in outputs:
            yield f"it has no output '{each.name}'"
        else:
            yield from _dtype_problem(outputs[each.name], each)


def _ordered(spec: OpSpec, found: Signature) -> Iterator[str]:
    """Yield the differences of inputs and outputs, which correspond by their order."""
    slots: list[Tensor | Param] = [*spec.inputs, *(each for each in spec.params if each.source)]
    if len(slots) != len(found.inputs) or len(spec.outputs) != len(found.outputs):
        yield "it has another count of inputs or outputs"
        return
    for slot, each in zip(slots, found.inputs, strict=True):
        if isinstance(slot, Tensor):
            yield from _dtype_problem(slot, each)
        elif not each.kind:
            yield f"its param '{slot.name}' is not constant in the model"
    for slot, output in zip(spec.outputs, found.outputs, strict=True):
        yield from _dtype_problem(slot, output)


def _dtype_problem(tensor: Tensor, each: Input | Output) -> Iterator[str]:
    """Yield a difference of dtypes; floats may differ in size."""
    for dtype in each.dtypes if tensor.dtype else ():
        kinds = np.dtype(tensor.dtype).kind, np.dtype(dtype).kind
        if dtype != tensor.dtype and kinds != ("f", "f"):
            yield f"its tensor '{tensor.name}' is {tensor.dtype}, in the model {dtype}"
