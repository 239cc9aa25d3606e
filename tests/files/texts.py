"""Render the text of an operator's files, without a repository."""

from __future__ import annotations

from opkit import runtimes
from opkit.description.spec import OpSpec
from opkit.files import generation, skeletons
from tests.compiling import OPKIT


def once_only_files(spec: OpSpec) -> dict[str, str]:
    """Return path -> text of the user's files."""
    return skeletons.once_only_files(spec, runtimes.selected(spec))


def generated_files(spec: OpSpec, reference: str, math: str = "") -> dict[str, str]:
    """Return path -> text of the generated files; the math is by default the initial one."""
    math = math or once_only_files(spec)[spec.math_file]
    return generation.generated_files(spec, reference, runtimes.selected(spec), math)


STUB = "generated/openvx_stub.c"
"""A source that is never compiled together with an operator's sources."""

INCLUDES = ("include", "include/librknnrt")
"""The include folders of a repository."""

DECLARATIONS = OPKIT / "runtimes/pplnn/declarations"
"""The include folder of ppl.nn's declarations, which is not in repositories."""
