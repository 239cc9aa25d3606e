"""Build operators of RKNN-Toolkit2 without SCons, and run them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from opkit.check.harness_client import HarnessKernel
from opkit.description.spec import OpSpec
from opkit.files import generation
from opkit.files.generation import operator_header
from opkit.runtimes import parse
from opkit.runtimes.executor import Executor
from opkit.runtimes.invocation import Array, CallingConvention, Invocation, RunOptions, RunResult
from opkit.runtimes.rknn2.c_files import c_files
from opkit.runtimes.rknn2.host_kernel import CONVENTION
from tests.compiling import OPKIT, build

RUNTIME = OPKIT / "runtimes/rknn2"
HEADERS = f"-I{RUNTIME / 'include'}"
HARNESS = OPKIT / "check/harness"


def build_host(folder: Path) -> Path:
    """Build the harness and the stand-in for librknnrt in a folder, and return it."""
    harness = sorted(HARNESS.glob("*.c"))
    build(folder / "harness", *harness, "-D_GNU_SOURCE", "-ldl")
    sources = [*(RUNTIME / "host_runtime").glob("*.c"), *(HARNESS / "memory").glob("*.c")]
    build(
        folder / "librknnrt.so",
        *sources,
        HEADERS,
        "-Wno-reserved-identifier",
        "-shared",
        "-Wl,-soname,librknnrt.so",
        "-lpthread",
    )
    return folder


@dataclass
class Operator:
    """An operator on the stand-in for librknnrt.

    Attributes:
        spec: the operator description.
        library: its plugin.
        host: the folder of build_host.
        entry: the symbol that returns the custom operator.
        convention: the calling convention of a version of librknnrt.
        environment: variables for its process.
        limit: the time limit of a call, in seconds.
    """

    spec: OpSpec
    library: Path
    host: Path
    entry: str = "get_rknn_custom_op"
    convention: CallingConvention = CONVENTION
    environment: Mapping[str, str] = field(default_factory=dict)
    limit: float = RunOptions.limit
    _kernel: HarnessKernel | None = field(default=None, init=False)

    def run(
        self,
        inputs: Mapping[str, Array],
        params: Mapping[str, Any],
        outputs: Mapping[str, tuple[tuple[int, ...], str]],
        attachments: Mapping[str, bytes] | None = None,
        repeat: int = 1,
    ) -> RunResult:
        """Run the operator in guarded memory, on the same tensors again if `repeat` says so."""
        if self._kernel is None:
            files = (self.host / "harness", self.host / "librknnrt.so", self.library)
            executor = Executor("x64", (*map(str, files), self.entry), self.environment)
            self._kernel = HarnessKernel(self.spec, executor, self.host, self.convention)
        self._kernel.attachments = attachments or {}
        options = RunOptions(fill=0x7E, repeat=repeat, limit=self.limit)
        return self._kernel.run(Invocation(inputs, params, outputs), options)

    def close(self) -> None:
        """End the harness."""
        if self._kernel is not None:
            self._kernel.close()


def write_operator(folder: Path, description: str, compute: str) -> OpSpec:
    """Write the C files of an operator, as in a repository."""
    spec = parse(description)
    files = {
        **c_files(spec),
        **generation.headers("compute/*.h", "runtimes/rknn2/*.h"),
        f"generated/{spec.lower}.h": operator_header(spec),
        spec.compute_header: compute,
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return spec


def build_plugin(library: Path, host: Path, *sources: Path) -> Path:
    """Compile a plugin for this PC, and link it with the stand-in."""
    return build(library, *sources, HEADERS, "-shared", f"-L{host}", "-lrknnrt", "-lm")


def build_operator(
    folder: Path,
    host: Path,
    description: str,
    compute: str,
    convention: CallingConvention = CONVENTION,
) -> Operator:
    """Write and build an operator."""
    spec = write_operator(folder, description, compute)
    sources = [folder / f"rknn2/{spec.lower}_{part}.c" for part in ("custom_op", "plugin")]
    library = build_plugin(folder / f"librkcst_{spec.lower}.so", host, *sources)
    return Operator(spec, library, host, convention=convention)


def attribute(dtype: int, values: Array | bytes) -> bytes:
    """Return the attachment for an attribute: see driver.c."""
    data = values if isinstance(values, bytes) else values.tobytes()
    count = len(values) if isinstance(values, bytes) else values.size
    return np.array([dtype, count], np.uint32).tobytes() + data
