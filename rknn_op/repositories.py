"""Operator repositories: create one, and run SCons in one."""

from __future__ import annotations

import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from opkit import repository
from opkit.description.spec import OpSpec
from opkit.errors import OpkitError
from opkit.repository import read_description
from opkit.runtimes import parse
from rknn_op import template


def check_description(config: Path) -> OpSpec:
    """Return the operator that a file describes.

    Raises:
        OpkitError: the file cannot be read, or the description in it cannot be used.
    """
    return parse(read_description(config), str(config))


def require(folder: Path) -> None:
    """Require an operator repository.

    Raises:
        OpkitError: it is not.
    """
    for name in ("op.yml", "SConstruct"):
        if not (folder / name).is_file():
            raise OpkitError(
                f"{folder} is not an operator repository: {name} not found; "
                "pass one with -p, or make one with `rknn-op create`"
            )


def refuse_existing(folder: Path) -> None:
    """Refuse an existing path for a new repository.

    Raises:
        OpkitError: there is.
    """
    if os.path.lexists(folder):
        raise OpkitError(f"{folder} already exists; pass another folder, or delete it")


def create(config: Path, folder: Path) -> OpSpec:
    """Make an operator repository: the whole of it, or nothing.

    It is made beside its place, in a folder that begins with a dot, and renamed when it is
    complete. What an interrupted run has left there goes with the next.

    Args:
        config: the file with the operator description.
        folder: the repository; must not exist.

    Returns:
        The operator.

    Raises:
        OpkitError: the description is wrong, or the folder is there or cannot be made.
    """
    check_description(config)
    refuse_existing(folder)
    path = Path(os.path.abspath(folder))  # noqa: PTH100  resolve() would follow links
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for leftover in path.parent.glob(f".{glob.escape(path.name)}.new-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=f".{path.name}.new-", dir=path.parent) as scratch:
            made = _render(config, path.name, Path(scratch))
            spec = repository.update(made)
            refuse_existing(folder)
            made.rename(path)
    except OSError as error:
        raise OpkitError(f"{folder}: cannot be made: {error.strerror or error}") from None
    return spec


def _render(config: Path, name: str, folder: Path) -> Path:
    """Render the template in a folder, without its hooks, and return what came out."""
    # cookiecutter is only imported here, because that takes longer than most of the other verbs.
    from cookiecutter.exceptions import CookiecutterException
    from cookiecutter.main import cookiecutter

    # The user's settings for other templates are not read, nor is their home written to.
    settings = folder / "settings.yml"
    settings.write_text(json.dumps({"cookiecutters_dir": str(folder), "replay_dir": str(folder)}))
    try:
        made = cookiecutter(
            str(template.ROOT),
            no_input=True,
            extra_context={"config": str(config.absolute()), "op_name": name},
            output_dir=str(folder),
            config_file=str(settings),
            accept_hooks=False,
        )
    except CookiecutterException as error:
        raise OpkitError(str(error)) from None
    # An installed template holds bytecode of opkit, which was copied with the rest.
    for cache in [*Path(made).rglob("__pycache__")]:
        shutil.rmtree(cache)
    return Path(made)


def scons(folder: Path, *arguments: str, capture: bool = False) -> subprocess.CompletedProcess[str]:
    """Run SCons in an operator repository.

    Args:
        folder: the repository.
        arguments: what follows `scons` on its command line.
        capture: keep what it prints, both streams in `stdout`, instead of showing it.

    Raises:
        OpkitError: the folder is not an operator repository.
    """
    require(folder)
    return subprocess.run(
        [sys.executable, "-m", "SCons", *arguments],
        cwd=folder,
        check=False,
        text=True,
        stdout=subprocess.PIPE if capture else None,
        stderr=subprocess.STDOUT if capture else None,
    )
