"""The tests of each folder: for sources in C, and for the survivors of the reaching tests."""

from __future__ import annotations

RKNN, PPLNN, RKNN2 = (f"tests/runtimes/{name}" for name in ("rknn", "pplnn", "rknn2"))
VX = f"{RKNN}/vx/test_vx"

TESTS: dict[str, tuple[str, ...]] = {
    "opkit/": ("tests/description", "tests/files", "tests/template", "tests/build"),
    "opkit/common/": ("tests/files", "tests/description", "tests/test_scratch.py", "tests/build"),
    "opkit/description/": ("tests/description", "tests/files"),
    "opkit/files/": ("tests/files", "tests/description", "tests/elementwise"),
    "opkit/ci/": ("tests/template",),
    "opkit/build/": ("tests/build", "tests/check"),
    "opkit/toolchains/": ("tests/toolchains", "tests/build"),
    "opkit/check/": ("tests/check",),
    "opkit/check/harness/": (
        *("tests/check/test_harness.py", f"{RKNN}/test_host_runtime.py"),
        "tests/check",
    ),
    "opkit/compute/": ("tests/compute", "tests/elementwise", f"{RKNN}/test_host_runtime.py"),
    "opkit/mutation/": ("tests/mutate",),
    "opkit/report/": ("tests/report",),
    "opkit/runtimes/": ("tests/runtimes", "tests/check"),
    "opkit/runtimes/pplnn/": (PPLNN,),
    "opkit/runtimes/pplnn/glue/": (f"{PPLNN}/test_views.py", f"{PPLNN}/test_check.py", PPLNN),
    "opkit/runtimes/rknn/": (RKNN, "tests/files"),
    "opkit/runtimes/rknn/host_runtime/": (f"{RKNN}/test_host_runtime.py", RKNN),
    "opkit/runtimes/rknn/vx/runtime/": (
        *(f"{VX}_instructions.py", f"{VX}_faults.py", f"{VX}_memory.py", f"{VX}_runner.py"),
        *(f"{VX}_border.py", f"{VX}_builtins.py", f"{VX}_tensors.py", f"{RKNN}/vx"),
    ),
    "opkit/opencl/runtime/": (
        *(f"{VX}_instructions.py", f"{VX}_faults.py", f"{VX}_memory.py", f"{VX}_runner.py"),
        *(f"{VX}_border.py", f"{VX}_builtins.py", f"{VX}_tensors.py", f"{RKNN}/vx"),
    ),
    "opkit/opencl/runtime/mathematics.c": (
        *(f"{VX}_floats.py", f"{VX}_builtins.py"),
        f"{RKNN}/vx",
    ),
    "opkit/opencl/runtime/numbers.c": (f"{VX}_numbers.py", f"{RKNN}/vx"),
    "opkit/runtimes/rknn2/": (RKNN2,),
    "opkit/runtimes/rknn2/tensors.h": (
        *(f"{RKNN2}/test_tensors.py", f"{RKNN2}/test_conversions.py"),
        RKNN2,
    ),
    "opkit/runtimes/rknn2/numbers.h": (f"{RKNN2}/test_conversions.py", RKNN2),
    "opkit/runtimes/rknn2/params.h": (f"{RKNN2}/test_attributes.py", RKNN2),
    "rknn_op/": ("tests/rknn_op",),
    "rknn_op/creation/": ("tests/rknn_op", "tests/template"),
    "rknn_op/models/": ("tests/models",),
    "rknn_op/runtimes/rknn/": ("tests/rknn_op", RKNN),
    "rknn_op/runtimes/rknn2/": ("tests/rknn_op", RKNN2),
}
"""File, or folder with a slash -> its tests, the nearest first."""


def folder_tests(path: str) -> tuple[str, ...]:
    """Return the tests of a source: those of the longest entry that fits it.

    Args:
        path: the path of the source in the project.
    """
    fitting = [
        entry for entry in TESTS if path == entry or (entry[-1] == "/" and path.startswith(entry))
    ]
    return TESTS[max(fitting, key=len)]
