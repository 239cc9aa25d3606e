"""The option rknn2_python=: the Python with RKNN-Toolkit2, for the simulator."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from opkit.build.options import Request
from opkit.common.errors import OpkitError
from opkit.description.spec import OpSpec
from opkit.runtimes.executor import Executor
from opkit.runtimes.rknn2.chips import TARGETS
from opkit.runtimes.rknn2.describe import NAME, settings
from opkit.runtimes.rknn2.toolkit2 import DISTRIBUTION, PACKAGES

OPTION = "rknn2_python"
ENVIRONMENT = Path(".venv-rknn2")
"""The default virtual environment in a repository."""

WORKER = Path(__file__).parents[1] / "simulator_worker.py"
_PROBE = f"from importlib.metadata import version; print(version({DISTRIBUTION!r}))"
_MISSING = "simulation skipped: rknn-toolkit2 is not installed; see README.md"


def options(variables: Any, operator: OpSpec) -> None:
    """Add the option."""
    text = f"with check: a Python with RKNN-Toolkit2; by default {ENVIRONMENT}/bin/python"
    variables.Add(OPTION, text, "")


def check(env: Any, request: Request) -> None:
    """Refuse a Python without the toolkit.

    Raises:
        OpkitError: the Python cannot be started, or has no toolkit.
    """
    if python := env[OPTION]:
        try:
            subprocess.run([python, "-c", _PROBE], check=True, capture_output=True, text=True)
        except OSError as error:
            raise OpkitError(f"{OPTION}={python}: {error.strerror}") from None
        except subprocess.CalledProcessError as error:
            reason = (error.stderr.strip() or f"exit status {error.returncode}").splitlines()[-1]
            hint = f"{python} -m pip install {PACKAGES}"
            raise OpkitError(f"{OPTION}={python}: {reason}; to install it: {hint}") from None


def simulators(env: Any, targets: Sequence[str]) -> tuple[Sequence[Executor], str]:
    """Return the simulator's executors, one for each target, or none and the reason; see Build."""
    python = python_of(env)
    if not python:
        return (), _MISSING
    own = settings(env["OPERATOR"])
    kind = f"vendor's {own.op_type}" if own.is_standard else "simulator"
    return [executor(target, python, kind) for target in targets or [next(iter(TARGETS))]], ""


def executor(target: str, python: str, kind: str = "simulator") -> Executor:
    """Return the executor of the simulator for a target.

    Args:
        target: the target.
        python: a Python with the toolkit.
        kind: the operator that runs, for the table of cases.
    """
    return Executor(f"{kind}, {target}", command(target, python), runtime=NAME)


def command(target: str, python: str) -> tuple[str, ...]:
    """Return the start command of the process that converts and simulates models."""
    return (python, "-B", str(WORKER), target)


def python_of(env: Any) -> str:
    """Return the Python with the toolkit, of the option or found; empty if none is found."""
    if python := env[OPTION]:
        return str(python)
    in_environment = ENVIRONMENT / "bin/python"
    if in_environment.exists():
        return str(in_environment.absolute())
    try:
        version(DISTRIBUTION)
    except PackageNotFoundError:
        return ""
    return sys.executable
