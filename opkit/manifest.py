"""generated/manifest.json: the files that opkit wrote into a repository, and its versions."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import NamedTuple

from opkit.common.errors import OpkitError
from opkit.version import VERSION, is_newer, is_version

PATH = "generated/manifest.json"
LOCK = "requirements.lock"

_SHA256 = re.compile(r"[0-9a-f]{64}")
_WHEEL = re.compile(r"rknn_opkit-([0-9.]+\+[0-9a-f]{12})-py3-none-any\.whl")


class Wheel(NamedTuple):
    """The wheel with opkit in a repository.

    Attributes:
        name: the name of the file, at the top of the repository.
        sha256: the digest of its content, in hexadecimal.
    """

    name: str
    sha256: str

    @property
    def version(self) -> str:
        """The version that pip installs; the part after `+` identifies the content."""
        return self.name.split("-")[1]


class Manifest(NamedTuple):
    """The files that opkit has written into a repository.

    Attributes:
        version: the version of the template that last wrote the generated files.
        once: path of a user's file -> the digest of the template's text for it: a file with another
            digest has edits of the user.
        generated: the paths of the files that every build writes.
        wheel: the repository's wheel; None: there is no manifest yet.
        lock: the digest of requirements.lock; empty: it is the workspace's.
    """

    version: str = VERSION
    once: Mapping[str, str] = {}
    generated: tuple[str, ...] = ()
    wheel: Wheel | None = None
    lock: str = ""


def digest(data: bytes) -> str:
    """Return the digest of a file, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def to_text(manifest: Manifest) -> str:
    """Return the manifest as the text of its file."""
    wheel = {"wheel": manifest.wheel._asdict()} if manifest.wheel else {}
    content = {
        "version": manifest.version,
        **wheel,
        **({"lock": manifest.lock} if manifest.lock else {}),
        "written once": dict(sorted(manifest.once.items())),
        "generated": sorted(manifest.generated),
    }
    return json.dumps(content, indent=2) + "\n"


def from_text(text: str) -> Manifest:
    """Parse the text of the file.

    Raises:
        OpkitError: the manifest is invalid, or of a newer version.
    """
    try:
        content = json.loads(text)
        version, once = content["version"], content["written once"]
        generated = content["generated"]
        wheel = Wheel(**content["wheel"]) if "wheel" in content else None
        lock = content.get("lock", "")
        entries = [version, *once, *once.values(), *generated]
        if not all(isinstance(entry, str) for entry in entries):
            raise TypeError
        if not all(map(_SHA256.fullmatch, once.values())):
            raise ValueError
        if any(path.startswith("/") or ".." in path.split("/") for path in (*once, *generated)):
            raise ValueError
        if not is_version(version):
            raise ValueError
        if wheel and not (_WHEEL.fullmatch(wheel.name) and _SHA256.fullmatch(wheel.sha256)):
            raise ValueError
        if lock and not _SHA256.fullmatch(lock):
            raise ValueError
    except (AttributeError, KeyError, TypeError, ValueError):
        raise OpkitError(f"{PATH}: invalid manifest; restore it (`git checkout {PATH}`)") from None
    if is_newer(version):
        raise OpkitError(
            f"{PATH}: version {version} of rknn-op-template wrote this repository, and this is "
            f"{VERSION}; use version {version} or later"
        )
    return Manifest(version, once, tuple(generated), wheel, lock)
