"""The output of dry runs of `rknn-op create`: for people, and as JSON."""

from __future__ import annotations

import textwrap
from typing import Any

from rknn_op import creation
from rknn_op.creation import Plan


def text(plan: Plan) -> str:
    """Return the files of a planned repository by owner, at most 80 columns wide.

    Raises:
        OpkitError: it cannot be made.
    """
    lines = [f"{plan.folder}: {plan.spec.name}, for {', '.join(plan.spec.runtimes)}"]
    lines += [
        textwrap.fill(
            f"{owner}: {' '.join(files)}",
            width=78,
            initial_indent="  ",
            subsequent_indent="      ",
            break_on_hyphens=False,
        )
        for owner, files in creation.rehearse(plan).items()
    ]
    return "".join(f"{line}\n" for line in lines)


def entry(plan: Plan) -> dict[str, Any]:
    """Return the properties of a planned repository, for JSON.

    Raises:
        OpkitError: it cannot be made.
    """
    return {
        "folder": str(plan.folder),
        "operator": plan.spec.name,
        "runtimes": [*plan.spec.runtimes],
        "target": plan.spec.target_platform,
        "files": creation.rehearse(plan),
        "warnings": [str(each) for each in plan.warnings],
    }
