"""The files that every build generates from op.yml and the reference."""

from __future__ import annotations

from collections.abc import Iterable

from opkit.description.spec import OpSpec
from opkit.files import copies, elementwise
from opkit.files.header import operator_header
from opkit.files.needed import ACTION
from opkit.runtimes.interface import Runtime


def generated_files(
    spec: OpSpec, reference: str, runtimes: Iterable[Runtime], math: str = ""
) -> dict[str, str]:
    """Return path -> text of all files that opkit can generate, with the runtimes' files.

    A repository has those of them that `needed` selects.

    Args:
        spec: the operator.
        reference: the text of `<op>_reference.py`.
        runtimes: the operator's runtimes.
        math: the text of `<op>_scalar.h`, if the operator is elementwise.

    Raises:
        OpkitError: the reference is invalid, or a kernel cannot have a word of the math.
    """
    files = {
        f"generated/{spec.lower}.h": operator_header(spec),
        "generated/op.schema.json": copies.copy("op.schema.json"),
        "docs/cases.md": copies.copy("docs/cases.md"),
        ACTION: copies.copy("ci/action.yml"),
        **copies.headers("compute/*.h"),
    }
    if spec.elementwise:
        files[spec.compute_header] = elementwise.generated_loop(spec)
    for runtime in runtimes:
        files |= runtime.files.generated(spec, reference)
        if spec.elementwise:
            files |= runtime.files.from_scalar(spec, math)
    return files
