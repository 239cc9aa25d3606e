"""Find the origin of the template for cruft's record of a repository."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from opkit.version import VERSION
from rknn_op import template


@dataclass(frozen=True)
class Origin:
    """A repository with the template's history.

    Attributes:
        url: its URL or path.
        commit: the commit of this template, or the tag of its version.
    """

    url: str
    commit: str


@cache
def origin() -> Origin | None:
    """Return the template's origin, or None for an installation from a package index or a file."""
    if (template.ROOT / ".git").exists():
        url = _git("remote", "get-url", "origin") or str(template.ROOT)
        return Origin(url, _git("rev-parse", "HEAD") or f"v{VERSION}")
    return installed_from(Path(__file__).parents[1])


def _git(*arguments: str) -> str:
    """Return git's output on the template's checkout; empty if git fails."""
    command = ["git", "-C", str(template.ROOT), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


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
