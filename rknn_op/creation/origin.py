"""The origin of the template: the repository that has its history and its documentation."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

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
    return of_checkout(template.ROOT) or installed_from(Path(__file__).parents[2])


def installed_from(packages: Path) -> Origin | None:
    """Return the origin in pip's record of an installed folder or repository (PEP 610).

    The distribution is found by its files: a company may have renamed it.
    """
    for record in packages.glob("*.dist-info/direct_url.json"):
        if "rknn_op/__init__.py," not in record.with_name("RECORD").read_text(encoding="utf-8"):
            continue
        content = json.loads(record.read_text(encoding="utf-8"))
        if "vcs_info" in content:
            return Origin(content["url"], content["vcs_info"]["commit_id"])
        folder = Path(content["url"].removeprefix("file://"))
        if "dir_info" in content and (folder / ".git").exists():
            return Origin(str(folder), f"v{VERSION}")
    return None


def of_checkout(root: Path) -> Origin | None:
    """Return the origin of a checkout of the template; None if the folder is not one."""
    if not (root / ".git").exists():
        return None
    url = _git(root, "remote", "get-url", "origin") or str(root)
    return Origin(url, _git(root, "rev-parse", "HEAD") or f"v{VERSION}")


def documentation(origin: Origin | None) -> str:
    """Return the README's last line, the template's address; empty: it is not on the web."""
    parts = urlsplit(origin.url if origin else "")
    if origin is None or parts.scheme not in ("http", "https"):
        return ""
    # Without the name and the password of the user who cloned it.
    address = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    return f"That is `docs` of <{address}>, at `{origin.commit[:12]}`.\n"


def _git(root: Path, *arguments: str) -> str:
    """Return git's output on a checkout; empty if git fails."""
    command = ["git", "-C", str(root), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""
