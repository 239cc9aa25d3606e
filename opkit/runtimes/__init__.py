"""What executes an operator in the end: a folder for each runtime.

A repository carries only the folders of its runtimes; `runtimes` in op.yml names them.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opkit.check.run_log import CheckedKernel
    from opkit.complaint import Complaint
    from opkit.description.spec import OpSpec
    from opkit.runtimes.interface import Runtime

FOLDER = Path(__file__).parent
DEFAULT = "rknn"
"""The runtime of a description that names none."""


class _Available(Mapping[str, "Runtime"]):
    """Imports a runtime when it is asked for: most descriptions name one of them."""

    def __init__(self) -> None:
        names = (path.parent.name for path in FOLDER.glob("*/__init__.py"))
        self._names = sorted(names, key=lambda name: (name != DEFAULT, name))

    def __getitem__(self, name: str) -> Runtime:
        if name not in self._names:
            raise KeyError(name)
        runtime: Runtime = importlib.import_module(f"opkit.runtimes.{name}").RUNTIME
        return runtime

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@cache
def available() -> Mapping[str, Runtime]:
    """Return the available runtimes by name, the default first."""
    return _Available()


def of(spec: OpSpec) -> list[Runtime]:
    """Return the runtimes of an operator."""
    return [available()[name] for name in spec.runtimes]


def parse(text: str, file: str = "op.yml") -> OpSpec:
    """Read an operator description.

    Args:
        text: the YAML.
        file: its name in messages.

    Raises:
        DescriptionError: the first error, with file, line and field.
    """
    from opkit.description import parser  # reading a package needs none of it

    return parser.parse(text, file, available(), DEFAULT)


def complaints(text: str, file: str = "op.yml") -> tuple[OpSpec | None, list[Complaint]]:
    """Return the operator of a description, or None, and all that is wrong with it; see parse."""
    from opkit.description import parser

    return parser.complaints(text, file, available(), DEFAULT)


def expected_kernels(spec: OpSpec) -> dict[CheckedKernel, str]:
    """Return the kernels that a check must have run, each with the reason."""
    from opkit.check.run_log import CPU_KERNEL, CheckedKernel

    kernels = {CPU_KERNEL: "every operator has one"}
    for name in spec.runtimes[1:]:
        kernel = CheckedKernel(CPU_KERNEL.on(name), CPU_KERNEL.check)
        kernels[kernel] = f"op.yml has the runtime {name}"
    for runtime in of(spec):
        kernels |= runtime.expected_kernels(spec)
    return kernels
