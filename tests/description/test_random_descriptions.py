"""The schema and the parser agree on random descriptions."""

from __future__ import annotations

import copy
import random
import re
from typing import Any

import jsonschema
import pytest
import yaml

from opkit.runtimes import complaints
from rknn_op.creation.description_schema import description_schema
from tests.rknn_op.test_schema import GOOD_TEXTS

COUNT = 1000
VALUES: tuple[Any, ...] = (
    *("rknn", "rknn2", ["rknn"], ["rknn2", "pplnn"], "RK3588", "rk1808", "x64-pplnn", "onnx"),
    *("VX_TYPE_TENSOR", "vx_type_int32", "VX_TYPE_ARRAY", "float", "ints", "string", "int64"),
    *(0, 1, 2, -1, 300, 2**40, 1.5, 1e39, True, False, None, "", "auto", "a b", "const:x", [], {}),
    *([1, 2], ["a.c"], ["../a.c"], ["-O2"], ["-I."], ["cpu"], ["cpu", "vx"], "9x", "x-y", "text"),
)
KEYS = (
    *("name", "runtime", "dtype", "default", "length", "source", "same_as", "doc", "kernels"),
    *("min", "max", "choices"),
)
INEXPRESSIBLE = (
    *(r"same_as: unknown input", r"^name: '\w+' is ", r"^layout: any is for operators with"),
    *(r"is less than min", r"is outside of min and max", r"default: .* is not allowed"),
)
"""Patterns of problems that a schema cannot express: relations, and reserved words."""


def _places(value: Any) -> list[Any]:
    """Return all mappings in a description."""
    if not isinstance(value, dict):
        return []
    return [value, *(place for each in value.values() for place in _places(each))]


def _changed(good: Any, choose: random.Random) -> Any:
    changed = copy.deepcopy(good)
    for _ in range(choose.randint(0, 3)):
        place = choose.choice(_places(changed))
        key = choose.choice([*place, *KEYS])
        if choose.random() < 0.25:
            place.pop(key, None)
        else:
            place[key] = copy.deepcopy(choose.choice(VALUES))
    return changed


@pytest.fixture(scope="module")
def descriptions() -> list[Any]:
    choose = random.Random(27)
    good = [yaml.safe_load(text) for text in GOOD_TEXTS.values()]
    return [_changed(choose.choice(good), choose) for _ in range(COUNT)]


@pytest.mark.slow
def test_schema_and_parser_agree(descriptions: list[Any]) -> None:
    validator = jsonschema.Draft202012Validator(description_schema())
    accepted, disagreements = 0, []
    for description in descriptions:
        text = yaml.safe_dump(description, sort_keys=False)
        errors = [each for each in complaints(text)[1] if each.severity == "error"]
        found = [f"{each.field}: {each.problem}" for each in errors]
        is_valid = validator.is_valid(yaml.safe_load(text))
        accepted += not found
        if not found and not is_valid:
            disagreements.append((text, "the schema alone refuses it"))
        for problem in found if is_valid else ():
            if not any(re.search(pattern, problem) for pattern in INEXPRESSIBLE):
                disagreements.append((text, problem))
    assert not disagreements, "\n".join(f"{problem}\n{text}" for text, problem in disagreements[:9])
    assert 100 < accepted < COUNT - 100
