"""Operator repositories: create one, and run SCons in one."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import tempfile
from pathlib import Path

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


def create(config: Path, folder: Path) -> None:
    """Make an operator repository.

    Args:
        config: the file with the operator description.
        folder: the repository; must not exist.

    Raises:
        OpkitError: the description is wrong, or the folder is there or cannot be made.
    """
    check_description(config)
    refuse_existing(folder)
    # cookiecutter is only imported here, because that takes longer than most of the other verbs.
    from cookiecutter.exceptions import CookiecutterException
    from cookiecutter.main import cookiecutter

    # cookiecutter logs a traceback when a hook fails; the hook has printed the error.
    logging.getLogger("cookiecutter").addHandler(logging.NullHandler())
    path = Path(os.path.abspath(folder))  # noqa: PTH100  resolve() would follow links
    with tempfile.TemporaryDirectory() as scratch:
        # The user's settings for other templates are not read, nor is their home written to.
        settings = Path(scratch, "settings.yml")
        settings.write_text(json.dumps({"cookiecutters_dir": scratch, "replay_dir": scratch}))
        try:
            cookiecutter(
                str(template.ROOT),
                no_input=True,
                extra_context={"config": str(config.absolute()), "op_name": path.name},
                output_dir=str(path.parent),
                config_file=str(settings),
            )
        except CookiecutterException as error:
            raise OpkitError(str(error)) from None
        except OSError as error:
            raise OpkitError(f"{folder}: cannot be made: {error}") from None


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
