"""Models for the plain runtime."""

from __future__ import annotations

from pathlib import Path

from rknn_op.runtimes.models import Models, OperatorList


def _operators(target: str, checkout: Path | None) -> OperatorList:
    return OperatorList("plain C 1", "this PC", frozenset({"Exp", "Placeholder"}))


MODELS = Models(framework="tensorflow", suffix=".pb", operators=_operators)
