"""The examples for operators of ONNX: onnx's own tests, and random calls against onnxruntime.

Reference and CPU kernels compute the same calls.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import example as with_example
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from onnx import helper
from onnx.backend.test.loader import load_model_tests
from onnx.reference import ReferenceEvaluator

from opkit.check.cases import Case
from opkit.check.operators import Operator
from opkit.models.extra import required
from opkit.runtimes.invocation import Array, Invocation, Kernel
from tests.models.models import model, value
from tests.repositories import ONNX_OPERATORS, generate_example

pytestmark = pytest.mark.slow

OPERATORS = {op_type: example for example, op_type in ONNX_OPERATORS.items()}
"""Operator -> the example."""

MIN_NODE_TESTS = {"GridSample": 18, "Selu": 3, "CumSum": 7}
"""Operator -> the minimum of its tests in onnx; later versions have more of CumSum."""


@dataclass(frozen=True)
class Built:
    """An example with its kernels.

    Attributes:
        operator: its repository, built.
        kernels: name -> CPU kernel of a runtime; each keeps a process.
    """

    operator: Operator
    kernels: Mapping[str, Kernel]

    def results(self, case: Case) -> dict[str, Array]:
        """Return the output of the reference and of the kernels, by name."""
        prepared = self.operator.prepare(case)
        found = {"reference": prepared.expected["y"]}
        for name, kernel in self.kernels.items():
            result = kernel.run(prepared.invocation)
            assert (result.status, result.fault, result.printed) == (0, "", ""), name
            found[name] = result.outputs["y"]
        return found


Examples = Callable[[str], Built]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Examples:
    """Return the example of an operator; its repository is made once."""
    made: dict[str, Built] = {}

    def get(op_type: str) -> Built:
        name = OPERATORS[op_type]
        if name not in made:
            repository = generate_example(tmp_path_factory.mktemp(name), name)
            repository.scons("-s", "target=x64")
            operator = Operator(repository.path)
            made[name] = Built(operator, operator.cpu_kernels())
        return made[name]

    return get


@pytest.fixture(scope="module")
def node_tests() -> dict[str, list[Any]]:
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


def assert_refused(example: Built, case: Case, shape: tuple[int, ...], problem: str) -> None:
    """Assert that reference and kernel refuse a call with a message."""
    operator = example.operator
    params = {param.name: param.default for param in operator.spec.params} | {**case.params}
    shapes = {name: array.shape for name, array in case.inputs.items()}
    with pytest.raises(ValueError, match=problem):
        operator.reference.module.output_shapes(shapes, params)
    call = Invocation(case.inputs, params, {"y": (shape, np.dtype(np.float32))})
    result = operator.cpu_kernel.run(call)
    assert (result.status != 0, result.fault) == (True, "")
    assert problem in result.printed


def node_model(
    op_type: str, inputs: Mapping[str, Array], opset: int, attributes: Mapping[str, Any]
) -> Any:
    """Return a model of one node for arrays; its output has the dtype of the first one."""
    types = [
        value(name, array.shape, helper.np_dtype_to_tensor_dtype(array.dtype))
        for name, array in inputs.items()
    ]
    node = helper.make_node(op_type, [*inputs], ["y"], **attributes)
    output = value("y", None, types[0].type.tensor_type.elem_type)
    return model([node], types, [output], opset=opset)


def run_by_onnxruntime(proto: Any, inputs: Mapping[str, Array]) -> Array:
    onnxruntime = required("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    found: Array = session.run(None, {**inputs})[0]
    return found


def run_by_onnx(proto: Any, inputs: Mapping[str, Array]) -> Array:
    evaluator: Any = ReferenceEvaluator(proto)
    found: Array = evaluator.run(None, {**inputs})[0]
    return found


def assert_all_close(
    found: Mapping[str, Array],
    expected: Array,
    rtol: float = 0.0,
    atol: float = 0.0,
    message: str = "",
) -> None:
    for name, array in found.items():
        np.testing.assert_allclose(array, expected, rtol, atol, err_msg=f"{name} {message}")


# ---- onnx's tests --------------------------------------------------------------------------------


def node_calls(operator: Operator, test: Any) -> list[tuple[Case, Array]]:
    """Return the calls of a test and their expected outputs."""
    [node] = test.model.graph.node
    attributes = {each.name: helper.get_attribute_value(each) for each in node.attribute}
    params = {
        key: each.decode() if isinstance(each, bytes) else each for key, each in attributes.items()
    }
    constants = [param.name for param in operator.spec.params if param.source]
    names = [*(input_.name for input_ in operator.spec.inputs), *constants]
    calls = []
    for inputs, outputs in test.data_sets:
        # Runtimes have no float64; the tests' numbers are exact in float32.
        arrays = [each.astype(np.float32) if each.dtype == np.float64 else each for each in inputs]
        tensors = dict(zip(names, arrays, strict=True))
        given = params | {name: int(tensors.pop(name)) for name in constants}
        calls.append((Case(test.name, tensors, given), outputs[0]))
    return calls


@pytest.mark.parametrize("op_type", OPERATORS)
def test_node_tests(op_type: str, built: Examples, node_tests: dict[str, list[Any]]) -> None:
    example = built(op_type)
    assert len(node_tests[op_type]) >= MIN_NODE_TESTS[op_type]
    for test in node_tests[op_type]:
        for case, expected in node_calls(example.operator, test):
            if "volumetric" in test.name:
                assert_refused(example, case, expected.shape, "3-D data is not supported")
            else:
                assert_all_close(example.results(case), expected, test.rtol, test.atol, test.name)


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"mode": "lanczos"}, "mode must be linear, cubic or nearest"),
        ({"padding_mode": "wrap"}, "padding_mode must be zeros, border or reflection"),
        ({"align_corners": 2}, "align_corners must be 0 or 1"),
    ],
)
def test_invalid_params_of_grid_sample(
    params: dict[str, Any], problem: str, built: Examples
) -> None:
    tensors = {
        "x": np.zeros((1, 2, 3, 4), np.float32),
        "grid": np.zeros((1, 5, 6, 2), np.float32),
    }
    case = Case("invalid", tensors, params)
    assert_refused(built("GridSample"), case, (1, 2, 5, 6), problem)


# ---- Random calls --------------------------------------------------------------------------------

CURRENT = {"linear": "linear", "cubic": "cubic", "nearest": "nearest"}
BEFORE_20 = {"linear": "bilinear", "cubic": "bicubic", "nearest": "nearest"}


def floats(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high, width=32, allow_subnormal=False)


@st.composite
def grid_sample_calls(draw: Any) -> tuple[dict[str, Array], dict[str, Any]]:
    """Return inputs and attributes: ties, edges, and locations far outside."""
    count, channels, height, width, rows, columns = (
        draw(st.integers(1, limit)) for limit in (2, 6, 6, 6, 4, 5)
    )
    align_corners = draw(st.integers(0, 1))
    padding = draw(st.sampled_from(["zeros", "border", "reflection"]))
    if align_corners and padding == "reflection":  # onnxruntime divides by 0 for a single pixel
        height, width = max(height, 2), max(width, 2)
    positions = st.one_of(
        st.integers(-24, 24).map(lambda eighths: eighths / 8),
        floats(-1.5, 1.5),
        floats(-100, 100),
    )
    x = draw(hnp.arrays(np.float32, (count, channels, height, width), elements=floats(-1, 1)))
    grid = draw(hnp.arrays(np.float32, (count, rows, columns, 2), elements=positions))
    mode = draw(st.sampled_from(sorted(CURRENT)))
    params = {"mode": mode, "padding_mode": padding, "align_corners": align_corners}
    return {"x": x, "grid": grid}, params


RAMP = np.arange(12, dtype=np.float32).reshape(1, 1, 3, 4) / 12
TIES = np.array([*itertools.product((-2.5, -1, -0.5, 0, 0.5, 1, 2.5), repeat=2)], np.float32)


@given(call=grid_sample_calls(), opset=st.sampled_from([16, 20]))
@with_example(
    ({"x": RAMP, "grid": TIES.reshape(1, 7, 7, 2)}, {"mode": "nearest", "align_corners": 0}), 20
)
@settings(max_examples=150, deadline=None)
def test_grid_sample_like_onnxruntime(
    built: Examples, call: tuple[dict[str, Array], dict[str, Any]], opset: int
) -> None:
    inputs, params = call
    names = BEFORE_20 if opset < 20 else CURRENT
    params = {**params, "mode": names[params["mode"]]}
    expected = run_by_onnxruntime(node_model("GridSample", inputs, opset, params), inputs)
    found = built("GridSample").results(Case("random", inputs, params))
    # Up to 16 products in float32; nearest copies the same pixel.
    assert_all_close(found, expected, atol=0 if params["mode"] == "nearest" else 3e-6)


@given(call=grid_sample_calls())
@settings(max_examples=40, deadline=None)
def test_grid_sample_like_onnx(
    built: Examples, call: tuple[dict[str, Array], dict[str, Any]]
) -> None:
    inputs, params = call
    if (params["mode"], params["padding_mode"]) == ("cubic", "border"):
        return  # onnx moves locations to the border, onnxruntime and PyTorch pixels
    expected = run_by_onnx(node_model("GridSample", inputs, 20, params), inputs)
    found = built("GridSample").results(Case("random", inputs, params))
    assert_all_close(found, expected, atol=0 if params["mode"] == "nearest" else 3e-6)


@given(
    x=hnp.arrays(np.float32, hnp.array_shapes(max_dims=4, max_side=9), elements=floats(-30, 30)),
    alpha=st.none() | st.integers(-32, 32).map(lambda eighths: eighths / 8),
    gamma=st.none() | st.integers(-32, 32).map(lambda eighths: eighths / 8),
)
@settings(max_examples=60, deadline=None)
def test_selu_like_onnxruntime(
    built: Examples, x: Array, alpha: float | None, gamma: float | None
) -> None:
    attributes = {"alpha": alpha, "gamma": gamma}
    params = {key: number for key, number in attributes.items() if number is not None}
    expected = run_by_onnxruntime(node_model("Selu", {"x": x}, 17, params), {"x": x})
    # onnxruntime subtracts alpha from alpha * e^x: near 0, it loses digits.
    assert_all_close(built("Selu").results(Case("random", {"x": x}, params)), expected, 1e-6, 3e-6)


def cum_sum_arrays(dtypes: Sequence[Any], limit: int) -> st.SearchStrategy[Array]:
    """Return arrays of whole numbers, also of floats: sums of floats are exact, too."""
    return st.sampled_from(dtypes).flatmap(
        lambda dtype: hnp.arrays(
            dtype,
            hnp.array_shapes(max_dims=4, max_side=9),
            elements=st.integers(-limit, limit - 1).map(dtype),
        )
    )


@given(
    x=cum_sum_arrays([np.float32, np.int32, np.int64], 1000),
    negative=st.booleans(),
    axis=st.integers(0, 3),
    exclusive=st.integers(0, 1),
    reverse=st.integers(0, 1),
)
@settings(max_examples=80, deadline=None)
def test_cum_sum_like_onnxruntime(
    built: Examples, x: Array, negative: bool, axis: int, exclusive: int, reverse: int
) -> None:
    axis = axis % x.ndim - (x.ndim if negative else 0)
    attributes = {"exclusive": exclusive, "reverse": reverse}
    inputs = {"x": x, "axis": np.array(axis)}
    expected = run_by_onnxruntime(node_model("CumSum", inputs, 14, attributes), inputs)
    case = Case("random", {"x": x}, {"axis": axis, **attributes})
    assert_all_close(built("CumSum").results(case), expected)


@given(x=cum_sum_arrays([np.int32], 2**31), exclusive=st.integers(0, 1))
@with_example(np.array([2**31 - 1, 1], np.int32), 0)
@settings(max_examples=20, deadline=None)
def test_cum_sum_overflows_like_onnxruntime(built: Examples, x: Array, exclusive: int) -> None:
    """Of PPLNN alone: librknnrt 1.6.0 has no integers."""
    inputs = {"x": x, "axis": np.array(0)}
    expected = run_by_onnxruntime(
        node_model("CumSum", inputs, 14, {"exclusive": exclusive}), inputs
    )
    example = built("CumSum")
    case = Case("random", {"x": x}, {"axis": 0, "exclusive": exclusive})
    prepared = example.operator.prepare(case)
    result = example.kernels["CPU kernel, pplnn"].run(prepared.invocation)
    found = {"pplnn": result.outputs["y"], "reference": prepared.expected["y"]}
    assert_all_close(found, expected)
