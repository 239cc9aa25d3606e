"""The forms of each node that a chip can run."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opkit.common.errors import OpkitError
from opkit.common.text import printable
from opkit.workspace_members import above
from rknn_op.models.model_graph import STANDARD, Model, Node, domain_of
from rknn_op.models.onnx_file import (
    constant_tensor,
    graphs,
    is_external,
    nodes_of,
)
from rknn_op.models.rewriting.body import Body, body_of, schema_form
from rknn_op.models.rewriting.form import ConditionError, Form, forms_in, own_forms
from rknn_op.models.versions import lowered
from rknn_op.runtimes.models import OperatorList

FOLDER = "rewrites"
"""The folder of a workspace, or the current one, with the user's forms: NAME.py."""

MAX_CONSTANT = 2**20
"""Maximum bytes of a constant whose value a form sees, such as the indices of a large head."""

Forms = Mapping[tuple[str, str], Sequence[Form]]
"""Domain and operator -> its forms, in the order to try."""


@dataclass(frozen=True)
class Candidates:
    """The forms of a node.

    Attributes:
        node: the node.
        message: its message in the model.
        bodies: the forms that the chip can run, in the order to try.
        reasons: why others do not hold, as `form: reason`.
    """

    node: Node
    message: Any
    bodies: tuple[Body, ...]
    reasons: tuple[str, ...]

    @property
    def reason(self) -> str:
        """Why there is none, as a message."""
        return "; ".join(self.reasons) or "no form is known"


def known_forms(folder: Path) -> Forms:
    """Return all forms: those of the user first.

    Args:
        folder: the current folder, or one in a workspace.

    Raises:
        OpkitError: a file of the user fails.
    """
    found: dict[tuple[str, str], list[Form]] = {}
    for module in _of_user(folder):
        for each in forms_in(module):
            found.setdefault((each.domain, each.op_type), []).append(each)
    for key, forms in own_forms().items():
        found.setdefault(key, []).extend(forms)
    return found


def _of_user(folder: Path) -> Iterator[Any]:
    """Yield the modules of the user's forms."""
    root = above(folder.resolve()) or folder
    for file in sorted((root / FOLDER).glob("*.py")):
        name = f"{FOLDER}.{file.stem}"
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec
        assert spec.loader
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except Exception as error:  # the user's code may raise any
            raise OpkitError(f"{_line(file, error)}: {_text(error)}") from None
        yield module


def _line(file: Path, error: BaseException) -> str:
    """Return file and line of an error in a user's file."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename).resolve() == file.resolve()]
    if isinstance(error, SyntaxError) and error.filename == str(file.resolve()):
        lines.append(error.lineno)
    here = Path.cwd()
    shown = file.resolve().relative_to(here) if file.resolve().is_relative_to(here) else file
    return f"{printable(str(shown))}:{lines[-1]}" if lines else printable(str(shown))


def _text(error: BaseException) -> str:
    return printable(f"{type(error).__name__}: {error}".partition("\n")[0])


def candidates(
    proto: Any, model: Model, nodes: Iterable[Node], operators: OperatorList, forms: Forms
) -> list[Candidates]:
    """Return the forms of nodes.

    Args:
        proto: the model.
        model: the same as values.
        nodes: those of its nodes to look at.
        operators: the operators of the chip.
        forms: the forms to try; see known_forms.

    Raises:
        OpkitError: a form of the user fails.
    """
    wanted = {id(node) for node in nodes}
    constants = dict(_constants(proto.graph))
    opset = model.opsets.get(STANDARD, 1)
    found = []
    for node, message in zip(model.nodes, nodes_of(proto.graph.node), strict=True):
        if id(node) in wanted:
            found.append(_candidates(node, message, constants, opset, operators, forms))
    return found


def forms_of(domain: str, op_type: str, opset: int, forms: Forms) -> list[Form]:
    """Return the forms of an operator in the order to try, with that of its schema.

    Args:
        domain: its domain.
        op_type: the operator.
        opset: the version of ONNX's own domain.
        forms: all other forms; see known_forms.
    """
    own = forms.get((domain, op_type), ())
    schema = schema_form(op_type, opset) if domain == STANDARD else None
    first, others = ([each for each in own if each.first is when] for when in (True, False))
    return [*first, *([schema] if schema else []), *others]


def _candidates(
    node: Node,
    message: Any,
    constants: Mapping[str, Any],
    opset: int,
    operators: OperatorList,
    forms: Forms,
) -> Candidates:
    bodies, reasons = [], []
    for form in forms_of(node.domain, node.op_type, opset, forms):
        try:
            body = body_of(form, node, message, constants, opset)
        except ConditionError as error:
            reasons.append(f"{form.name}: {printable(str(error))}")
            continue
        except Exception as error:  # of any type: a mistake in a form
            if not form.function or not _is_of_user(form):
                raise
            file = Path(form.function.__code__.co_filename)
            raise OpkitError(f"{_line(file, error)}: {_text(error)}") from None
        lacking = sorted(each for each in body.op_types if operators.missing(each))
        on_cpu = sorted(each for each in body.op_types if operators.is_on_cpu(each))
        if lacking:
            reasons.append(f"{form.name}: the chip lacks {', '.join(lacking)}")
        elif too_new := lowered(body.model, operators):
            reasons.append(f"{form.name}: {too_new[0]}")
        elif on_cpu and operators.is_on_cpu(operators.entry(node)) and not _is_of_user(form):
            reasons.append(f"{form.name}: {', '.join(on_cpu)} on the CPU, as the node is")
        else:
            bodies.append(body)
    return Candidates(node, message, tuple(bodies), tuple(reasons))


def _is_of_user(form: Form) -> bool:
    return form.function is not None and form.function.__module__.startswith(f"{FOLDER}.")


def _constants(graph: Any) -> Iterator[tuple[str, Any]]:
    """Yield name and message of the constants with a known value that are not weights."""
    for each in graphs(graph):
        tensors = [*each.initializer]
        for node in each.node:
            if node.op_type == "Constant" and domain_of(node.domain) == STANDARD:
                tensors.append(constant_tensor(node))
        for tensor in filter(None, tensors):
            if not is_external(tensor) and tensor.ByteSize() <= MAX_CONSTANT:
                yield tensor.name, tensor
