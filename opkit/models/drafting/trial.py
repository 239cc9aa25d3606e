"""An operator without a repository: its description and its reference, to try cases on."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from opkit.check.operators import Operator
from opkit.description.spec import OpSpec


@contextmanager
def trial_operator(spec: OpSpec, description: str, reference: bytes) -> Iterator[Operator]:
    """Yield an operator in a temporary folder, for `prepare`; it has no kernels.

    Args:
        spec: the operator.
        description: the text of op.yml.
        reference: the content of `<op>_reference.py`.
    """
    folder = Path(tempfile.mkdtemp())
    try:
        (folder / "op.yml").write_text(description, encoding="utf-8")
        (folder / f"{spec.lower}_reference.py").write_bytes(reference)
        yield Operator(folder)
    finally:
        sys.modules.pop(f"{spec.lower}_reference", None)
        shutil.rmtree(folder, ignore_errors=True)
