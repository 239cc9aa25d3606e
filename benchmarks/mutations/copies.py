"""A copy of the project, in which sources are changed and tests run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from benchmarks.mutations import outcomes
from benchmarks.mutations.outcomes import FILE, Outcomes

_SETTINGS = "user.name=mutations user.email=mutations@localhost commit.gpgSign=false".split()
_PYTEST = f"-m pytest -q --no-header -p no:cacheprovider -p {outcomes.__name__}".split()


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


def environment() -> dict[str, str]:
    """Return the environment for the project's pytest, which needs its plugins."""
    left_out = ("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "PYTHONDONTWRITEBYTECODE")
    return {k: v for k, v in os.environ.items() if k not in left_out}


def run_tests(
    copy: Path,
    tests: Iterable[str],
    options: Sequence[str] = (),
    timeout: float | None = None,
    variables: Mapping[str, str] | None = None,
) -> Outcomes:
    """Run tests; return their outcomes.

    Args:
        copy: the copy of the project.
        tests: files, folders and names of tests.
        options: of pytest.
        timeout: the time limit, in seconds.
        variables: the environment of the tests, in addition to this process's.
    """
    with tempfile.TemporaryDirectory(prefix="mutations-") as folder:
        file = Path(folder, "outcomes.json")
        run = subprocess.Popen(
            [sys.executable, *_PYTEST, *options, *tests],
            cwd=copy,
            env={**environment(), **(variables or {}), FILE: str(file)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        with suppress(subprocess.TimeoutExpired):
            run.wait(timeout)
        run.kill()
        status = run.wait()
        found = Outcomes.read(file) if file.exists() else Outcomes()
        return replace(found, status=status)
