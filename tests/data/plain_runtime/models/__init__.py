"""Models for the plain runtime."""

from __future__ import annotations

from opkit.runtimes.models import Models, OperatorList

MODELS = Models(
    framework="tensorflow",
    suffix=".pb",
    operators=lambda target, checkout: OperatorList(
        "plain C 1", target, frozenset({"Placeholder"})
    ),
)
