"""A copy of the project, in which sources are changed and tests run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_SETTINGS = "user.name=mutations user.email=mutations@localhost commit.gpgSign=false".split()
_PYTEST = "-m pytest -x -q -n 0 --no-header -p no:cacheprovider".split()


@contextmanager
def copied(project: Path) -> Iterator[Path]:
    """Yield a temporary copy of the project's files, as a git repository of one commit."""
    with tempfile.TemporaryDirectory(prefix="mutations-") as folder:
        copy = Path(folder, project.name)
        for name in _tracked(project):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(project / name, copy / name, follow_symlinks=False)
        settings = [word for setting in _SETTINGS for word in ("-c", setting)]
        for command in ("init --quiet", "add --all", "commit --quiet --message=copy"):
            subprocess.run(["git", *settings, *command.split()], cwd=copy, check=True)
        yield copy


def _tracked(project: Path) -> list[str]:
    """Return the paths of the files that git tracks, or would."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    run = subprocess.run(command, cwd=project, check=True, capture_output=True, text=True)
    names = filter(None, run.stdout.split("\0"))
    return [name for name in names if os.path.lexists(project / name)]


def _environment() -> dict[str, str]:
    """Return the environment for the project's pytest, which needs its plugins."""
    return {k: v for k, v in os.environ.items() if k != "PYTEST_DISABLE_PLUGIN_AUTOLOAD"}


def passes(copy: Path, tests: Sequence[str], timeout: float, slow: bool) -> bool:
    """Run tests until one fails; return whether all pass in time.

    Args:
        copy: the copy of the project.
        tests: files and folders of tests.
        timeout: the time limit, in seconds.
        slow: whether to run tests that are marked as slow, too.
    """
    selected = ("-m", "") if slow else ()
    run = subprocess.Popen(
        [sys.executable, *_PYTEST, *selected, *tests],
        cwd=copy,
        env={**_environment(), "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        return run.wait(timeout) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        run.kill()
        run.wait()
