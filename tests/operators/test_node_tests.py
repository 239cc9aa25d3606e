"""Every one of onnx's own tests of the library's operators: reference and CPU kernels."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from typing import Any

import pytest
from onnx import defs
from onnx.backend.test.loader import load_model_tests

from tests.marks import sampled
from tests.operators.calls import MIN_NODE_TESTS, NODE_ATOL, NOT_APPLICABLE
from tests.operators.calls.common import Refused
from tests.operators.conftest import Library
from tests.operators.oracle import (
    NOT_COMPUTED,
    Built,
    arrays_of,
    assert_all_close,
    call_of,
    input_names,
)
from tests.repositories import LIBRARY

pytestmark = pytest.mark.slow

OPERATORS = {name: each for name, each in LIBRARY.items() if each.onnx}


@pytest.fixture(scope="module")
def node_tests() -> Mapping[str, list[Any]]:
    """Return operator -> onnx's tests of a model with that node alone."""
    found: dict[str, list[Any]] = {op_type: [] for op_type in OPERATORS}
    with warnings.catch_warnings():  # of overflows in tests of other operators
        warnings.simplefilter("ignore")
        tests: list[Any] = load_model_tests(kind="node")
    for test in tests:
        op_types = [node.op_type for node in test.model.graph.node]
        if len(op_types) == 1 and op_types[0] in found:
            found[op_types[0]].append(test)
    return found


def test_every_operator_has_a_minimum() -> None:
    assert {*MIN_NODE_TESTS} == {*OPERATORS}


@pytest.mark.parametrize("op_type", sampled(OPERATORS))
def test_node_tests(
    op_type: str,
    library_operator: Library,
    node_tests: Mapping[str, list[Any]],
) -> None:
    assert len(node_tests[op_type]) >= MIN_NODE_TESTS[op_type]
    for test in node_tests[op_type]:
        [node] = test.model.graph.node
        for inputs, outputs in (map(arrays_of, each) for each in test.data_sets):
            call = call_of(node, inputs)
            dtypes = call.dtypes(OPERATORS[op_type], outputs)
            operator = library_operator(op_type, len(node.input), dtypes)
            check(operator, test, call.case(test.name, operator.operator.spec), outputs)


def check(operator: Built, test: Any, case: Any, outputs: Any) -> None:
    """Compare the results of a test, or assert its error."""
    [node] = test.model.graph.node
    slots = [slot.name.lower() for slot in defs.get_schema(node.op_type).outputs]
    given = [name for name, own in zip(slots, node.output, strict=False) if own]
    errors = [each for name, each in NOT_APPLICABLE.items() if re.fullmatch(name, test.name)]
    if not errors:
        op_type = operator.operator.spec.name
        atol = NODE_ATOL.get(op_type, test.atol)
        computed = [
            array
            for name, array in zip(given, outputs, strict=True)
            if name not in NOT_COMPUTED.get(op_type, ())
        ]
        found = {
            program: {
                name: each for name, each in arrays.items() if name in given or name not in slots
            }
            for program, arrays in operator.results(case).items()
        }
        assert_all_close(op_type, found, computed, test.rtol, atol, test.name)
    elif isinstance(errors[0], Refused):
        names = (tensor.name for tensor in operator.operator.spec.outputs)
        shapes = {
            name: (array.shape, array.dtype) for name, array in zip(names, outputs, strict=True)
        }
        operator.assert_refused(case, shapes, errors[0].problem)
    else:
        operator.assert_invalid(case, errors[0].problem)


def test_table_has_no_other_tests(node_tests: Mapping[str, list[Any]]) -> None:
    names = [test.name for tests in node_tests.values() for test in tests]
    for pattern in NOT_APPLICABLE:
        assert any(re.fullmatch(pattern, name) for name in names), pattern


@pytest.mark.parametrize("op_type", OPERATORS)
def test_description_has_the_names_of_the_schema(op_type: str) -> None:
    """In every opset from the first one on: inputs, outputs and attributes."""
    operator = OPERATORS[op_type]
    versions = [
        each.since_version
        for each in defs.get_all_schemas_with_history()
        if (each.domain, each.name) == ("", op_type)
    ]
    assert operator.onnx in versions
    params = {param.name: param for param in operator.spec.params}
    newest = input_names(op_type, len(operator.spec.inputs), max(versions))
    assert {tensor.name for tensor in operator.spec.inputs} <= {name.lower() for name in newest}
    for version in versions:
        if version < operator.onnx:
            continue
        schema = defs.get_schema(op_type, version)
        count = len(operator.spec.inputs)
        slots = [name.lower() for name in input_names(op_type, count, version)]
        named = [tensor.name for tensor in operator.spec.inputs]
        assert [name for name in slots if name in named] == [
            name for name in named if name in slots
        ]
        assert {*slots} - {*named} <= {name for name, param in params.items() if param.source}
        outputs = [tensor.name for tensor in operator.spec.outputs]
        absent = NOT_COMPUTED.get(op_type, ())
        expected = [slot.name.lower() for slot in schema.outputs if slot.name not in absent]
        assert expected == outputs[: len(expected)]
        attributes = {name: each for name, each in schema.attributes.items() if name not in absent}
        assert {*attributes} <= {*params}
        for name, attribute in attributes.items():
            if attribute.default_value.type:
                assert params[name].default is not None, name
