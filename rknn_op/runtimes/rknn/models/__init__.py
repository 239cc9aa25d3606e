"""Models for RKNN-Toolkit 1.x: frozen graphs of TensorFlow."""

from __future__ import annotations

from pathlib import Path

import yaml

from rknn_op.runtimes.models import Models, OperatorList


def _operators(target: str, checkout: Path | None) -> OperatorList:
    """Return the list, which is the same for each chip."""
    data = yaml.safe_load(Path(__file__).with_name("operators.yml").read_text(encoding="utf-8"))
    return OperatorList(
        data["toolkit"],
        data["toolkit"],
        frozenset(name for names in data["operators"].values() for name in names),
        structure=frozenset(data["structure"]),
    )


MODELS = Models(
    framework="tensorflow",
    suffix=".pb",
    is_default=True,
    operators=_operators,
    graft_refusal="a frozen graph needs no graft: RKNN-Toolkit 1.x calls the class by the node's "
    "own name, so there is nothing to rename; load the class rknn_op_<operator>.py of the "
    "repository",
)
