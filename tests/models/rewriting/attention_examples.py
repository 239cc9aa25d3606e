"""A node of a real model's size for attention."""

from __future__ import annotations

import numpy as np

from tests.models.rewriting.node_tests import Case, case

_RANDOM = np.random.default_rng(0)
_QUERIES, _KEYS, _VALUES = (
    _RANDOM.normal(size=(1, 12, 197, 64)).astype(np.float32) for _ in range(3)
)

EXAMPLES: dict[str, Case] = {"Attention": case("Attention", [_QUERIES, _KEYS, _VALUES], 23)}
"""Operator -> the node."""
