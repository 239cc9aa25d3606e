"""`scons pplnn-apply root=PPLNN_CHECKOUT` overlays the operator onto a checkout of ppl.nn."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from SCons.Action import Action

from opkit.build.options import Request
from opkit.description.spec import OpSpec
from opkit.errors import OpkitError

COMMAND = "pplnn-apply"
USAGE = ((f"scons {COMMAND} root=DIR", "overlay the operator onto the checkout of ppl.nn in DIR"),)


def options(variables: Any, operator: OpSpec) -> None:
    """Add the option for the checkout's path."""
    variables.Add("root", f"with {COMMAND}: the checkout of ppl.nn", "")


def check(env: Any, request: Request) -> None:
    """Refuse the command without root=.

    Raises:
        OpkitError: root= is missing.
    """
    if COMMAND in request.commands and not env["root"]:
        raise OpkitError(f"{COMMAND} changes a checkout of ppl.nn; name it with root=")


def generate(env: Any) -> None:
    """Declare the command."""
    env.AlwaysBuild(env.Alias(COMMAND, [], Action(_apply, None)))


def _apply(target: Any, source: Any, env: Any) -> int:
    command = [sys.executable, "pplnn/apply.py", env["root"]]
    return subprocess.run(command, check=False).returncode
