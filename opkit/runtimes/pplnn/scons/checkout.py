"""A checkout of ppl.nn, and its build.

`scons pplnn-apply root=PPLNN_CHECKOUT` overlays the operator onto a checkout. The option pplnn=
names a build of ppl.nn with the operator; its x86 engine runs the cases.
"""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from SCons.Action import Action

from opkit.build.options import Request
from opkit.common.errors import OpkitError
from opkit.description.spec import OpSpec
from opkit.runtimes.executor import Executor
from opkit.runtimes.pplnn import apply
from opkit.runtimes.pplnn.describe import NAME
from opkit.runtimes.pplnn.tree_names import SOURCES

COMMAND = "pplnn-apply"
USAGE = ((f"scons {COMMAND} root=DIR", "overlay the operator onto the checkout of ppl.nn in DIR"),)
OPTION = "pplnn"
ENGINE = "--use-x86"
TOOLS = ("tools/pplnn", "bin/pplnn", "pplnn")
"""The paths of ppl.nn's tool in a build folder, or in a folder to which it was copied."""

BUILD_COMMAND = (
    "cmake -S PPLNN -B BUILD -DPPLNN_USE_X86_64=ON "
    "-DCMAKE_PROJECT_ppl.nn_INCLUDE=$PWD/pplnn/cmake/inject.cmake && "
    "cmake --build BUILD --target pplnn"
)
"""Builds the tool with the operator; PPLNN is a checkout of ppl.nn, of v0.9.2 or later."""

_UNRELEASED = "0.0.0"
_TIMEOUT = 20.0  # seconds, for the version
_VERSION = re.compile(r"ppl\.nn version: \[([^]]*)\], commit: \[([^]]*)\]")
_CHECKOUT = re.compile(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.+)$", re.MULTILINE)


def options(variables: Any, operator: OpSpec) -> None:
    """Add the options for the paths of the checkout and of its build."""
    variables.Add("root", f"with {COMMAND}: the checkout of ppl.nn", "")
    text = "with check: a build folder of ppl.nn with the operator; its x86 engine runs the cases"
    variables.Add(OPTION, text, "")


def check(env: Any, request: Request) -> None:
    """Refuse paths without ppl.nn; warn of a build with another state of the operator.

    Raises:
        OpkitError: root= is missing; or the build's tool is missing, does not start, or has no x86
            engine.
    """
    if COMMAND in request.commands and not env["root"]:
        raise OpkitError(f"{COMMAND} changes a checkout of ppl.nn; name it with root=")
    if not env[OPTION]:
        return
    tool = _tool(Path(env[OPTION]))
    _version(tool)
    if reason := _staleness(tool, Path(env[OPTION]), Path()):
        print(f"warning: {OPTION}={env[OPTION]}: {reason}", file=sys.stderr)


def generate(env: Any) -> None:
    """Declare the command."""
    env.AlwaysBuild(env.Alias(COMMAND, [], Action(_apply, None)))


def _apply(target: Any, source: Any, env: Any) -> int:
    command = [sys.executable, "pplnn/apply.py", env["root"]]
    return subprocess.run(command, check=False).returncode


def engines(env: Any) -> list[Executor]:
    """Return the executor of the engine, if an option names a build."""
    if not env[OPTION]:
        return []
    tool = _tool(Path(env[OPTION]))
    return [executor(tool, _version(tool))]


def executor(tool: Path, version: str) -> Executor:
    """Return the executor of the x86 engine in a tool of ppl.nn."""
    return Executor(f"ppl.nn {version} x86", (str(tool.absolute()), ENGINE), runtime=NAME)


def _tool(build: Path) -> Path:
    """Return the tool of a build.

    Raises:
        OpkitError: it is missing.
    """
    found = [path for path in (build / name for name in TOOLS) if path.is_file()]
    if not found:
        problem = (
            "has none of" if build.is_dir() else "is not a folder; a build of ppl.nn has one of"
        )
        raise OpkitError(
            f"{OPTION}={build}: {problem} {', '.join(TOOLS)}; to build it: {BUILD_COMMAND}"
        )
    return found[0]


def _version(tool: Path) -> str:
    """Return the version of ppl.nn in a tool with the engine.

    Raises:
        OpkitError: the tool does not start, or has no such engine.
    """
    try:
        done = subprocess.run(
            [tool.absolute(), "--version", ENGINE],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT,
            check=False,
        )
    except OSError as error:
        raise OpkitError(f"{OPTION}: {tool}: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise OpkitError(f"{OPTION}: {tool} --version did not end in {_TIMEOUT:g} s") from None
    if found := _VERSION.search(done.stdout):
        version, commit = found.groups()
        return version if version != _UNRELEASED else commit[:8] or version
    if f"'{ENGINE}'" in done.stdout + done.stderr:
        problem = "has no x86 engine"
    else:
        problem = f"is not ppl.nn's tool: {ENGINE} --version ends with status {done.returncode}"
    raise OpkitError(f"{OPTION}: {tool} {problem}; to build it: {BUILD_COMMAND}")


def _staleness(tool: Path, build: Path, root: Path) -> str:
    """Return the reason why a build has another state of the operator; empty: none is known."""
    files = [*(root / SOURCES).rglob("*"), *root.glob("*.h"), *(root / "generated").glob("*.h")]
    cache = build / "CMakeCache.txt"
    found = _CHECKOUT.search(cache.read_text(errors="replace")) if cache.is_file() else None
    try:
        overlay = apply.read_overlay(root)
    except apply.RefusalError:
        return ""  # this run of scons writes it
    checkout = Path(found[1]) if found else root
    if (checkout / overlay.record).is_file():
        try:
            with redirect_stdout(StringIO()):
                differs = bool(apply.apply(root.absolute(), checkout, overlay, dry_run=True))
        except apply.RefusalError:
            differs = True
        if differs:
            command = f"python3 pplnn/apply.py {checkout}"
            return f"its checkout has another state of the operator; run {command}, and build again"
        files = [checkout / path for path in apply.read_record(checkout, overlay).files]
    built = tool.stat().st_mtime
    newer = sorted(path for path in files if path.is_file() and path.stat().st_mtime > built)
    if newer:
        return f"{tool} is older than {newer[0]}; build it again: cmake --build {build}"
    return ""
