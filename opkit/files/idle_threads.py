"""`threads` in op.yml without a loop that could use them."""

from __future__ import annotations

from pathlib import Path

from opkit.complaint import Complaint
from opkit.description.spec import OpSpec
from opkit.files.unknown_names import without_comments
from opkit.files.unread_params import PLACEHOLDER, texts_of_math

LOOP = "opkit_parallel_for"
"""The function that runs a loop in several threads."""


def idle_threads(root: Path, spec: OpSpec) -> list[Complaint]:
    """Return a note if the math calls no parallel loop, though op.yml has threads.

    Generated math has such loops. Math as generated for the user to write, or in a missing file,
    has no complaint.
    """
    file = spec.math_file
    texts = texts_of_math(root, spec)
    if not spec.has_threads or spec.elementwise or PLACEHOLDER in texts.get(file, PLACEHOLDER):
        return []
    if any(LOOP in without_comments(text) for text in texts.values()):
        return []
    problem = f"`threads` in op.yml has no effect: the math does not call {LOOP}"
    hint = "call it for the outermost loop (include/opkit/compute/parallel.h), or delete the key"
    return [Complaint(file, problem, hint=hint, severity="note")]
