"""Find the origin of the template for cruft's record of a repository."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from opkit.creation.origin import Origin, of_checkout
from opkit.version import VERSION
from rknn_op import template


@cache
def origin() -> Origin | None:
    """Return the template's origin, or None for an installation from a package index or a file."""
    return of_checkout(template.ROOT) or installed_from(Path(__file__).parents[1])


def installed_from(packages: Path) -> Origin | None:
    """Return the origin in pip's record of an installed folder or repository (PEP 610).

    The distribution is found by its files: a company may have renamed it.
    """
    for record in packages.glob("*.dist-info/direct_url.json"):
        if "rknn_op/origin.py," not in record.with_name("RECORD").read_text(encoding="utf-8"):
            continue
        content = json.loads(record.read_text(encoding="utf-8"))
        if "vcs_info" in content:
            return Origin(content["url"], content["vcs_info"]["commit_id"])
        folder = Path(content["url"].removeprefix("file://"))
        if "dir_info" in content and (folder / ".git").exists():
            return Origin(str(folder), f"v{VERSION}")
    return None
