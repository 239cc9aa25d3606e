"""`rknn-op doctor`: the programs, packages and folders of this PC that the commands use."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import click

from opkit.build.user_cache import cache_folder, folder_size
from opkit.check import executors
from opkit.common.complaint import Complaint
from opkit.common.errors import OpkitError
from opkit.toolchains import find, zig
from opkit.toolchains.abi import ABIS
from opkit.version import VERSION
from rknn_op import template
from rknn_op.runtimes.models import Toolkit, toolkit_names, toolkits
from rknn_op.template import origin
from rknn_op.upkeep import linting
from rknn_op.upkeep.chosen_operators import operators, roots
from rknn_op.verbs import values

_COLORS = {"ok": "green", "optional": "yellow", "missing": "red"}
_WIDTH = 80


@click.command("doctor")
@values.path_option(
    "-p",
    "--path",
    default=Path(),
    metavar="DIR",
    help="An operator repository or a workspace to check, too; default: the current folder.",
)
@values.path_option(
    "--toolkit",
    metavar="PYTHON",
    help=f"The Python with {toolkit_names()}; default: that of "
    f"{' or '.join(each.environment for each in toolkits())} in DIR.",
)
@click.option("--json", "is_json", is_flag=True, help="Print a JSON list, one item each.")
@click.pass_context
def command(ctx: click.Context, path: Path, toolkit: Path | None, is_json: bool) -> None:
    """Show the tools on this PC, and how to get missing ones.

    The exit status is 1 if a required part is missing; some commands do without optional ones.
    Changes nothing.
    """
    found = [*findings(toolkit, path)]
    if is_json:
        click.echo(json.dumps([asdict(each) for each in found], indent=2))
    else:
        for line in _table(found):
            click.echo(line)
    ctx.exit(int(any(each.state == "missing" for each in found)))


def _table(found: Sequence[Finding]) -> Iterator[str]:
    """Yield the lines of a table, with the remedy below each part that is absent."""
    width = max(len(each.part) for each in found)
    for each in found:
        state = click.style(each.state.ljust(8), fg=_COLORS[each.state])
        yield f"{each.part.ljust(width)}  {state}  {each.found or 'not found'}"
        if each.action:
            indent = " " * (width + 12)
            yield textwrap.fill(
                each.action,
                _WIDTH,
                initial_indent=indent,
                subsequent_indent=indent,
                break_long_words=False,
                break_on_hyphens=False,
            )


State = Literal["ok", "optional", "missing"]
_REQUIRED = ("numpy", "SCons", "pytest", "PyYAML", "pyelftools", "Jinja2", "click", "cookiecutter")
_OPTIONAL = {
    "onnx": "for scan, create --from and graft",
    "onnxruntime": "for create --from and graft",
    "pytest-xdist": "for scons check workers=N",
}
_PROGRAMS = {
    "git": ("for create --git, and cookiecutter from a URL", "git"),
    "gdb": ("for scons gdb", "gdb"),
    "ssh": ("for cases on a board, qemu=ssh:HOST", "openssh-client"),
    "make": ("for the vendor's makefiles", "make"),
}
_TIMEOUT = 60.0


@dataclass(frozen=True)
class Finding:
    """A part of this PC.

    Attributes:
        part: its name.
        state: `missing` stops commands; `optional` is absent, and some commands do without it.
        found: its version or place; empty: it is absent.
        action: the remedy, with the commands that need the part.
    """

    part: str
    state: State
    found: str
    action: str = ""


def findings(toolkit: Path | None, folder: Path) -> Iterator[Finding]:
    """Yield all findings.

    Args:
        toolkit: the Python with the toolkit; None: that of its environment in `folder`.
        folder: the repository, or any other folder.
    """
    known = origin()
    yield Finding("rknn-op", "ok", f"{VERSION}, from {known.url if known else template.ROOT}")
    machine = f"{platform.system()} on {platform.machine()}"
    version = f"{platform.python_version()}, {machine}, {sys.executable}"
    if machine == "Linux on x86_64":
        yield Finding("Python", "ok", version)
    else:
        remedy = "use x86-64 Linux: the check runs there alone"
        yield Finding("Python", "missing", version, remedy)
    for name in _REQUIRED:
        yield _package(name, "missing", "")
    yield _compiler()
    for name, use in _OPTIONAL.items():
        yield _package(name, "optional", f", {use}")
    yield from _emulators()
    for name, (use, package) in _PROGRAMS.items():
        path = shutil.which(name)
        action = "" if path else f"apt install {package}, {use}"
        yield Finding(name, "ok" if path else "optional", path or "", action)
    for each in toolkits():
        yield _toolkit(each, toolkit or folder / each.environment / "bin/python")
    yield _cache("user's cache", cache_folder("", os.environ), "of objects")
    yield _cache("zig's cache", zig.cache_folder(os.environ), "of C libraries")
    if roots([folder]):
        yield _lint("workspace", folder)
    elif (folder / "op.yml").is_file() and (folder / "SConstruct").is_file():
        yield _lint("repository", folder)


def _package(name: str, absent: State, use: str) -> Finding:
    try:
        return Finding(name, "ok", importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        return Finding(name, absent, "", f"{_pip(name)}{use}")


def _pip(name: str) -> str:
    return f"{sys.executable} -m pip install {name}"


def _compiler() -> Finding:
    try:
        compiler = find("zig", ABIS["x64"])
        return Finding("zig", "ok", f"{zig.version(compiler.command[0])}, {compiler.command[0]}")
    except OpkitError:
        return Finding("zig", "missing", "", _pip("ziglang"))


def _emulators() -> Iterator[Finding]:
    for abi in ABIS:
        if abi == "x64":
            continue
        try:
            (program, *_) = executors.emulator(abi)
            yield Finding(f"qemu, {abi}", "ok", shutil.which(program) or program)
        except executors.ExecutorError:
            action = f"apt install {executors.EMULATORS}, for cases on the target's instructions"
            yield Finding(f"qemu, {abi}", "optional", "", action)


def _toolkit(toolkit: Toolkit, python: Path) -> Finding:
    name = toolkit.name
    action = (
        f"python3 -m venv {toolkit.environment} && {toolkit.environment}/bin/pip install "
        f"{toolkit.packages}, for simulation"
    )
    script = f"import importlib.metadata as m; print(m.version({toolkit.distribution!r}))"
    try:
        done = subprocess.run(
            [python, "-c", script], capture_output=True, text=True, timeout=_TIMEOUT, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return Finding(name, "optional", "", action)
    if done.returncode:
        return Finding(name, "optional", "", f"not installed for {python}: {action}")
    return Finding(name, "ok", f"{done.stdout.strip()}, {python}")


def _cache(part: str, folder: Path | None, use: str) -> Finding:
    if folder is None:
        return Finding(part, "optional", "", f"set XDG_CACHE_HOME to a writable folder, {use}")
    size = folder_size(str(folder))
    return Finding(part, "ok", f"{size / 1e6:,.0f} MB {use}, {folder}")


def _lint(part: str, folder: Path) -> Finding:
    """Return the finding for a repository, or for a workspace and its operators."""
    place = str(folder.absolute())
    try:
        found = [each for root in roots([folder]) for each in linting.workspace_complaints(root)]
        found += [each for member in operators([folder]) for each in linting.lint(member)]
    except OpkitError as error:
        found = [Complaint(place, str(error))]
    count = sum(each.severity != "note" for each in found)
    if not count:
        return Finding(part, "ok", place)
    problems = f"{count} problem{'s' * (count > 1)}"
    return Finding(part, "missing", f"{problems}, {place}", f"rknn-op lint {folder}")
