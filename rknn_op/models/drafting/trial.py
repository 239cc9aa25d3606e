"""An operator without a repository: its description and its reference, to try cases on."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from opkit.check.operators import Operator
from opkit.description.spec import OpSpec
from opkit.scratch import temporary_folder


@contextmanager
def trial_operator(spec: OpSpec, description: str, reference: bytes) -> Iterator[Operator]:
    """Yield an operator in a temporary folder, for `prepare`; it has no kernels.

    Args:
        spec: the operator.
        description: the text of op.yml.
        reference: the content of `<op>_reference.py`.
    """
    with temporary_folder() as folder:
        (folder / "op.yml").write_text(description, encoding="utf-8")
        (folder / f"{spec.lower}_reference.py").write_bytes(reference)
        try:
            yield Operator(folder)
        finally:
            sys.modules.pop(f"{spec.lower}_reference", None)
