"""`python3 -m opkit.ci.lock`: accept a change of requirements.lock, in a repository or a workspace.

`scons`, `rknn-op lint` and the first step of CI refuse another lock than that of the manifest.
"""

from __future__ import annotations

import sys
from pathlib import Path

from opkit import manifest, repository, workspace_members
from opkit.common.errors import OpkitError
from opkit.repository_files import write_text


def main() -> int:
    """Record the lock of this folder in the manifest; return the exit status."""
    root = workspace_members.home(Path())
    try:
        written = repository.read_manifest(root)
        lock = manifest.digest((root / manifest.LOCK).read_bytes())
        repository.own_wheel(root)
        write_text(root, manifest.PATH, manifest.to_text(written._replace(lock=lock)))
    except OpkitError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"error: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    print(f"{root / manifest.PATH}: has the hash of this {manifest.LOCK} now; commit both")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
