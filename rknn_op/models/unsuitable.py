"""Operators that a custom operator cannot replace, and what to do instead.

Source: rknn_op/models/unsuitable.yml.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml

from rknn_op.models.model_graph import STANDARD


def remedy(domain: str, op_type: str) -> str:
    """Return what to do instead of a custom operator; empty if one can replace the operator."""
    return remedies().get(op_type, "") if domain == STANDARD else ""


@cache
def remedies() -> dict[str, str]:
    """Return operator of ONNX -> what to do instead."""
    groups = yaml.safe_load(Path(__file__).with_suffix(".yml").read_text(encoding="utf-8"))
    return {name: each["remedy"] for each in groups for name in each["operators"]}
