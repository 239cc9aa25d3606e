"""GPU kernels of the library: the tests of their own repositories, onnx's tests, random calls.

They run in the emulator of OpenCL; in their own tests also in PoCL, if that is there.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opkit.check.operators import Operator
from opkit.opencl.opencl_c import check_opencl_c
from opkit.runtimes.invocation import (
    AT_FULL_SPEED,
    CallingConvention,
    Invocation,
    Kernel,
    LeftOutError,
    RunOptions,
    RunResult,
)
from opkit.runtimes.rknn2.gpu_files import GPU_KERNEL, kernel_file
from opkit.runtimes.rknn2.gpu_kernel import EmulatedGpuKernel
from rknn_op.creation.choices import Choices
from tests.marks import sampled, slow_first
from tests.operators.calls import RANDOM
from tests.operators.oracle import Built, arrays_of, assert_all_close, call_of
from tests.operators.test_node_tests import OPERATORS, check
from tests.operators.test_node_tests import node_tests as node_tests
from tests.operators.test_random_calls import in_opset
from tests.repositories import LIBRARY, Repository, library_kernels

pytestmark = pytest.mark.slow

CHOICES = Choices(runtimes=["rknn2"], kernels=["gpu"])
ELEMENTWISE = [
    name
    for name, each in LIBRARY.items()
    if each.spec.elementwise
    and not any(tensor.dtype for tensor in (*each.spec.inputs, *each.spec.outputs))
]
"""Their GPU kernels are generated."""
WRITTEN = [
    name
    for name, each in LIBRARY.items()
    if (each.folder / "rknn2").is_dir() and not each.spec.elementwise
]
CHECKED = ["Mish", *WRITTEN, "Celu", "Tan"]
MAX_RANDOM = 60
"""Random calls for each operator: the emulator checks every access."""


@functools.cache
def repository(name: str) -> Repository:
    """Return the repository of an operator with its GPU kernel, for RKNN-Toolkit2 alone."""
    return library_kernels(name, choices=CHOICES)


def test_library_has_gpu_kernels() -> None:
    assert len(ELEMENTWISE) == 22
    assert {*WRITTEN} == {
        *("Col2Im", "DeformConv", "GridSample", "GroupNormalization", "InstanceNormalization"),
        *("LayerNormalization", "MultiscaleDeformableAttention", "ResizeArea", "RMSNormalization"),
        "RotaryEmbedding",
    }


@pytest.mark.parametrize("name", slow_first(1, CHECKED))
def test_own_tests_pass(name: str) -> None:
    own = repository(name)
    tests = own.path / f"tests/test_{name.lower()}_gpu.py"
    done = own.run(
        *("pytest", "-q", "-p", "opkit.check.pytest_plugin", "-p", "no:cacheprovider"),
        *("-o", "empty_parameter_set_mark=fail_at_collect", str(tests)),
    )
    assert re.search(r"^\d+ passed in", done.stdout, re.MULTILINE), done.stdout
    assert re.search(rf"^{GPU_KERNEL.name} +\d+ .*", done.stdout, re.MULTILINE)


def test_named_opencl_must_work(monkeypatch: pytest.MonkeyPatch) -> None:
    own = repository("Mish")
    monkeypatch.setenv("RKNN_OP_REAL_OPENCL", "/nowhere/libOpenCL.so")
    tests = own.path / "tests/test_mish_gpu.py"
    plugins = ("-p", "opkit.check.pytest_plugin", "-p", "no:cacheprovider")
    done = own.run("pytest", "-q", "-x", *plugins, str(tests), check=False)
    assert done.returncode == 1
    assert "no OpenCL on this PC (/nowhere/libOpenCL.so: " in " ".join(done.stdout.split())


@pytest.mark.parametrize("name", sampled(ELEMENTWISE))
def test_generated_kernels_are_opencl_c(name: str) -> None:
    own = repository(name).path
    spec = Operator(own).spec
    (own / "build/cl").mkdir(parents=True, exist_ok=True)
    kernels, warnings = check_opencl_c(own / kernel_file(spec), own / "build/cl")
    assert (warnings, [*kernels]) == ("", [f"{spec.lower}_kernel"])


@dataclass
class OnGpu:
    """The GPU kernel in the emulator; the CPU kernel for calls that the launch leaves to the CPU.

    Attributes:
        gpu: the GPU kernel.
        cpu: the CPU kernel.
        launches: the count of calls on the GPU.
    """

    gpu: Kernel
    cpu: Kernel
    launches: int = 0
    keeps_state = False

    @property
    def convention(self) -> CallingConvention:
        """Its calling convention."""
        return self.gpu.convention

    def run(self, invocation: Invocation, options: RunOptions = AT_FULL_SPEED) -> RunResult:
        """Run the kernel on arrays."""
        try:
            result = self.gpu.run(invocation, options)
        except LeftOutError:
            return self.cpu.run(invocation, options)
        self.launches += 1
        return result


@functools.cache
def on_gpu(name: str) -> tuple[Built, OnGpu]:
    """Return an operator with its GPU kernel."""
    operator = Operator(repository(name).path)
    kernel = OnGpu(EmulatedGpuKernel(operator.spec, operator.root), operator.cpu_kernel)
    return Built(operator, {"rknn2": kernel}), kernel


@pytest.mark.parametrize("name", sampled(name for name in CHECKED if name in OPERATORS))
def test_node_tests(name: str, node_tests: Mapping[str, list[Any]]) -> None:
    operator, kernel = on_gpu(name)
    before = kernel.launches
    for test in node_tests[name]:
        [node] = test.model.graph.node
        for inputs, outputs in (map(arrays_of, each) for each in test.data_sets):
            call = call_of(node, inputs)
            if not call.dtypes(OPERATORS[name], outputs):
                check(operator, test, call.case(test.name, operator.operator.spec), outputs)
    assert not node_tests[name] or kernel.launches > before


@pytest.mark.parametrize("name", sampled(name for name in CHECKED if name in RANDOM))
def test_random_calls(name: str) -> None:
    random = RANDOM[name]
    operator, kernel = on_gpu(name)
    before = kernel.launches

    @settings(
        max_examples=min(random.count, MAX_RANDOM),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(call=random.calls, opset=st.sampled_from(random.opsets))
    def run(call: Any, opset: int) -> None:
        call = in_opset(call, name, opset)
        expected = random.program(name, call, opset)
        if not call.dtypes(OPERATORS[name], expected):
            found = operator.results(call.case("random", operator.operator.spec))
            assert_all_close(name, found, expected, random.rtol, random.atol)

    run()
    assert kernel.launches > before
