"""Operators that a custom operator cannot replace, and what to do instead.

Source: rknn_op/models/unsuitable.yml.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from rknn_op.creation.operator_library import in_library
from rknn_op.models.model_graph import STANDARD
from rknn_op.template import EXAMPLES

TRAINING = "ai.onnx.preview.training"
"""The domain of ONNX's operators for training."""


def remedy(domain: str, op_type: str, runtimes: Collection[str] = ()) -> str:
    """Return what to do instead of a custom operator; empty if one can replace the operator.

    Args:
        domain: the operator's domain.
        op_type: its name.
        runtimes: the runtimes of the custom operator: if the library has it for them, it can.
    """
    found = remedies().get(op_type, "") if domain in (STANDARD, TRAINING) else ""
    operator = in_library(EXAMPLES, op_type) if found and runtimes else None
    return "" if operator and {*runtimes} <= {*operator.spec.runtimes} else found


def remedies() -> dict[str, str]:
    """Return operator of ONNX -> what to do instead."""
    return {name: each["remedy"] for each in _groups() for name in each["operators"]}


def reason(op_type: str) -> str:
    """Return why a custom operator cannot replace one of ONNX, and the remedy; empty if it can."""
    group = next((each for each in _groups() if op_type in each["operators"]), {})
    return ": ".join(group[key] for key in ("reason", "remedy") if key in group)


@cache
def _groups() -> list[dict[str, Any]]:
    text = Path(__file__).with_suffix(".yml").read_text(encoding="utf-8")
    groups: list[dict[str, Any]] = yaml.safe_load(text)
    return groups
