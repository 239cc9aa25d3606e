"""Completes a repository with an op.yml: the wheel, requirements, and all other files."""

from __future__ import annotations

from pathlib import Path

from opkit import manifest, repository
from opkit.description.spec import OpSpec
from opkit.manifest import LOCK, Manifest
from opkit.repository_files import write_bytes, write_text
from opkit.shared_files import shared_files
from opkit.version import VERSION
from rknn_op.creation.requirements import extra_in, lock_text, requirements_text
from rknn_op.creation.wheel import wheel

REQUIREMENTS = "requirements.txt"


def complete(root: Path, spec: OpSpec) -> None:
    """Write a repository's wheel and all files that depend on it; remove other wheels.

    Raises:
        OpkitError: as repository.write does, or a file cannot be written.
    """
    write(root, spec)
    remove_other_wheels(root)


def write(root: Path, spec: OpSpec) -> None:
    """Write a repository's wheel, and update all files that depend on it and on the operator.

    Raises:
        OpkitError: as repository.write does, or a file cannot be written.
    """
    own, data = wheel()
    write_bytes(root, own.name, data)
    requirements = root / REQUIREMENTS
    before = requirements.read_text(encoding="utf-8") if requirements.is_file() else ""
    after = requirements_text(own, before)
    write_text(root, REQUIREMENTS, after)
    lock = lock_text(own, extra_in(after))
    write_text(root, LOCK, lock)
    repository.write(root, spec, own, manifest.digest(lock.encode()))


def shared_pins(requirements: str) -> dict[str, str]:
    """Return path -> text of the lock of a workspace, and of the manifest with its digest.

    Args:
        requirements: the text of the workspace's requirements.txt.
    """
    own, _ = wheel()
    lock = lock_text(own, extra_in(requirements))
    pinned = Manifest(VERSION, {}, tuple(shared_files()), own, manifest.digest(lock.encode()))
    return {LOCK: lock, manifest.PATH: manifest.to_text(pinned)}


def remove_other_wheels(root: Path) -> None:
    """Remove the wheels of other opkits."""
    own, _ = wheel()
    for other in root.glob("rknn_opkit-*.whl"):
        if other.name != own.name:
            other.unlink()
