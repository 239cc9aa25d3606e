"""The template with opkit, beside this package when installed, else in the checkout; its origin.

Every command imports this module: what only the origin needs is imported in its functions.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import NamedTuple

import rknn_op
from opkit.version import VERSION

ROOT = Path(rknn_op.ROOT)
EXAMPLES = ROOT / "operators"
LICENSES = ROOT / "licenses"
OPKIT = ROOT / "opkit"
PROJECT = "{{cookiecutter.op_name}}"
"""The folder of the template's files of a repository."""


@cache
def files() -> dict[str, bytes]:
    """Return path -> content of the files that the template copies without rendering them.

    It renders op.yml, and the user's license, whose name in the template is a condition.
    """
    # str paths are faster, which counts for a thousand repositories.
    root, found = f"{ROOT}/{PROJECT}", dict[str, bytes]()
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != "__pycache__"]
        place = folder.removeprefix(root).lstrip("/")
        for name in names:
            path = f"{place}/{name}" if place else name
            if path != "op.yml" and not name.startswith("{%"):
                with open(f"{root}/{path}", "rb") as file:  # noqa: PTH123  str, as above
                    found[path] = file.read()
    return found


# ---- The origin: the repository that has its history and its documentation -----------------------


class Origin(NamedTuple):
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
    return of_checkout(ROOT) or installed_from(Path(__file__).parents[1])


def installed_from(packages: Path) -> Origin | None:
    """Return the origin in pip's record of an installed folder or repository (PEP 610).

    The distribution is found by its files: a company may have renamed it.
    """
    import json

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
    """Return the README's last line, the template's URL; empty if it is not on the web."""
    from urllib.parse import urlsplit, urlunsplit

    parts = urlsplit(origin.url if origin else "")
    if origin is None or parts.scheme not in ("http", "https"):
        return ""
    # Without the name and the password of the user who cloned it.
    address = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    return f"That is `docs` of <{address}>, at `{origin.commit[:12]}`.\n"


def _git(root: Path, *arguments: str) -> str:
    """Return git's output on a checkout; empty if git fails."""
    import subprocess

    command = ["git", "-C", str(root), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""
