"""generated/manifest.json: the files that opkit wrote into a repository, and its versions."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from opkit.errors import OpkitError
from opkit.version import VERSION, is_newer, is_version

PATH = "generated/manifest.json"


@dataclass(frozen=True)
class Manifest:
    """The files that opkit has written into a repository.

    Attributes:
        version: of the template that wrote the generated files last.
        once: path -> the version that wrote it, of each file that is the user's since then.
        generated: the paths of the files that are written at every build.
    """

    version: str = VERSION
    once: dict[str, str] = field(default_factory=dict)
    generated: tuple[str, ...] = ()


def to_text(manifest: Manifest) -> str:
    """Return the file's text."""
    content = {
        "version": manifest.version,
        "written once": dict(sorted(manifest.once.items())),
        "generated": sorted(manifest.generated),
    }
    return json.dumps(content, indent=2) + "\n"


def from_text(text: str) -> Manifest:
    """Read the file's text.

    Raises:
        OpkitError: it is invalid, or a newer version has written it.
    """
    try:
        content = json.loads(text)
        version, once = content["version"], content["written once"]
        generated = content["generated"]
        entries = [version, *once, *once.values(), *generated]
        if not all(isinstance(entry, str) for entry in entries):
            raise TypeError
        if any(path.startswith("/") or ".." in path.split("/") for path in (*once, *generated)):
            raise ValueError
        if not all(map(is_version, (version, *once.values()))):
            raise ValueError
    except (AttributeError, KeyError, TypeError, ValueError):
        raise OpkitError(f"{PATH}: invalid manifest; restore it (`git checkout {PATH}`)") from None
    if is_newer(version):
        raise OpkitError(
            f"{PATH}: version {version} of the template wrote this repository, but opkit/ is of "
            f"{VERSION}; restore opkit/ (`git checkout opkit`), or install that version "
            f"(`pip install 'rknn-op-template>={version}'`)"
        )
    return Manifest(version, once, tuple(generated))
