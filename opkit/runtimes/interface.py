"""The interface of a runtime: one object of five parts, and the table of all runtimes.

    describe    names, targets, limits, types, keys opkit/description/describe.py
    files       the files of a repository           opkit/runtimes/files.py
    build       the products and tools of `scons`   opkit/runtimes/build.py
    check       the execution of the cases          opkit/runtimes/check.py
    report      the contents of `scons report`      opkit/runtimes/report.py

A runtime is a folder beside this file. Each part is a value in the module of its name, with that
name in capitals: stick/check.py has CHECK. A part is imported at the first access, because
cookiecutter's own Python has neither SCons nor numpy.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opkit.common.complaint import Complaint
from opkit.description import parser
from opkit.description.describe import CPU_KERNEL, CheckedKernel
from opkit.description.spec import OpSpec

# A part imports its class; importing the dataclasses earlier would only cost time.
if TYPE_CHECKING:
    from opkit.description.describe import RuntimeDescription
    from opkit.runtimes.build import Build
    from opkit.runtimes.check import Check
    from opkit.runtimes.files import Files
    from opkit.runtimes.report import Report

FOLDER = Path(__file__).parent
DEFAULT = "rknn"
"""The runtime of a description without `runtimes`."""


def _part(name: str) -> Any:
    """Return a property with the part of this name, imported at the first access."""
    return cached_property(
        lambda runtime: getattr(
            import_module(f"opkit.runtimes.{runtime.name}.{name}"), name.upper()
        )
    )


class Runtime:
    """A runtime; its name is that of its folder, and the one in op.yml's `runtimes`."""

    describe: RuntimeDescription = _part("describe")
    files: Files = _part("files")
    build: Build = _part("build")
    check: Check = _part("check")
    report: Report = _part("report")

    def __init__(self, name: str) -> None:
        self.name = name


@cache
def available() -> Mapping[str, Runtime]:
    """Return the available runtimes by name, the default first."""
    names = (path.parent.name for path in FOLDER.glob("*/describe.py"))
    return {name: Runtime(name) for name in sorted(names, key=lambda name: (name != DEFAULT, name))}


def selected(spec: OpSpec) -> list[Runtime]:
    """Return the runtimes of an operator."""
    return [available()[name] for name in spec.runtimes]


def parse(text: str, file: str = "op.yml") -> OpSpec:
    """Read an operator description.

    Args:
        text: the YAML.
        file: the name of the file, for messages.

    Raises:
        DescriptionError: the first error, with file, line and field.
    """
    return parser.parse(text, file, available(), DEFAULT)


def complaints(text: str, file: str = "op.yml") -> tuple[OpSpec | None, list[Complaint]]:
    """Return the operator of a description, or None after an error, and all complaints."""
    return parser.complaints(text, file, available(), DEFAULT)


def expected_kernels(spec: OpSpec) -> dict[CheckedKernel, str]:
    """Return kernel that a check must run -> the reason."""
    kernels = {CPU_KERNEL: "every operator has one"}
    for name in spec.runtimes[1:]:
        kernel = CheckedKernel(CPU_KERNEL.on(name), CPU_KERNEL.check)
        kernels[kernel] = f"op.yml has the runtime {name}"
    for runtime in selected(spec):
        kernels |= runtime.describe.expected_kernels(spec)
    return kernels
