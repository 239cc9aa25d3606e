"""Answer why an operator of ONNX is not in the library, and what to do instead.

The answers are not stored: they are made from the library, from unsuitable.yml and from the list of
the default target's operators.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from opkit.common.errors import OpkitError
from opkit.common.text import did_you_mean, printable, shortened
from rknn_op.creation.operator_library import in_library, is_name_of
from rknn_op.models import unsuitable
from rknn_op.models.model_files import required
from rknn_op.models.model_graph import STANDARD
from rknn_op.runtimes.models import OperatorList


def reasons(library: Path, word: str, operators: OperatorList) -> Iterator[tuple[str, str]]:
    """Yield an operator and the answer; without a word, all operators of ONNX that it lacks.

    Args:
        library: the folder of the library.
        word: the operator's name in any letter case; empty: all.
        operators: of the default target.

    Raises:
        OpkitError: neither the library nor ONNX has it.
    """
    if found := in_library(library, word):
        name = found.spec.name
        yield name, f"it is in the library; make it: rknn-op create --library {name} -p ./{name}"
        return
    for name in [_named(word)] if word else _names():
        if in_library(library, name) is None:
            yield name, reason(name, operators)


def reason(name: str, operators: OperatorList) -> str:
    """Return why an operator of ONNX is not in the library, which it is not.

    Args:
        name: the operator.
        operators: of the default target.
    """
    if name not in operators.refused and not operators.missing(name):
        place = "the runtime's CPU" if operators.is_on_cpu(name) else operators.place
        return f"it is on the list of {place} ({operators.source})"
    unstarted = "it is not yet in the library; rknn-op create --from MODEL starts one"
    return unsuitable.reason(name) or unstarted


def _names() -> list[str]:
    """Return the operators of ONNX's own domain and of training, sorted."""
    schemas: Iterable[Any] = required("onnx").defs.get_all_schemas()
    domains = {STANDARD, unsuitable.TRAINING}
    return sorted({each.name for each in schemas if each.domain in domains}, key=str.lower)


def _named(word: str) -> str:
    """Return the operator of a name in any letter case; those of unsuitable.yml without onnx."""
    for names in (unsuitable.remedies, _names):
        for name in names():
            if is_name_of(name.lower(), word):
                return name
    hint = did_you_mean(word, _names())
    raise OpkitError(
        f"ONNX has no operator '{printable(shortened(word))}'; "
        f"{hint or '`rknn-op library --why` lists those that the library lacks'}"
    )
