"""The text of an operator's files, without a repository."""

from __future__ import annotations

from opkit import runtimes
from opkit.description.spec import OpSpec
from opkit.files import generated, skeletons
from tests.compiling import OPKIT


def once_only_files(spec: OpSpec) -> dict[str, str]:
    """Return path -> text of the user's files."""
    return skeletons.once_only_files(spec, runtimes.of(spec))


def generated_files(spec: OpSpec, reference: str) -> dict[str, str]:
    """Return path -> text of the generated files."""
    return generated.generated_files(spec, reference, runtimes.of(spec))


STUB = "generated/openvx_stub.c"
"""A source that is never compiled with an operator's own."""

INCLUDES = ("include", "include/librknnrt")
"""The folders of a repository in which an operator's sources find headers."""

DECLARATIONS = OPKIT / "runtimes/pplnn/declarations"
"""Those of ppl.nn, which no repository has."""
