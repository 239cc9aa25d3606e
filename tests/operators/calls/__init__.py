"""The calls of the library's operators: a table for each group of operators."""

from __future__ import annotations

from tests.operators.calls import (
    attention,
    decoding,
    elementwise,
    indexing,
    integers,
    pooling,
    reductions,
    sampling,
    sequences,
    signals,
)

TABLES = (
    attention.TABLE,
    decoding.TABLE,
    elementwise.TABLE,
    indexing.TABLE,
    integers.TABLE,
    pooling.TABLE,
    reductions.TABLE,
    sampling.TABLE,
    sequences.TABLE,
    signals.TABLE,
)
RANDOM = {name: each for table in TABLES for name, each in table.random.items()}
MIN_NODE_TESTS = {name: each for table in TABLES for name, each in table.node_tests.items()}
NOT_APPLICABLE = {name: each for table in TABLES for name, each in table.not_applicable.items()}
NODE_ATOL = {name: each for table in TABLES for name, each in table.node_atol.items()}
INVALID = [each for table in TABLES for each in table.invalid]
