"""The origin of the template: the repository that has its history and its documentation."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from opkit.version import VERSION


@dataclass(frozen=True)
class Origin:
    """A repository with the template's history.

    Attributes:
        url: its URL or path.
        commit: the commit of this template, or the tag of its version.
    """

    url: str
    commit: str


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
