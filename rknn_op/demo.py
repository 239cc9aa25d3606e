"""`rknn-op demo`: an example operator, from its description to a checked package."""

from __future__ import annotations

import os
import secrets
import shutil
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from string import Template
from subprocess import PIPE

import click

from opkit import repository, runtimes
from opkit.check.processes import kill_marked
from opkit.description.spec import OpSpec
from opkit.errors import OpkitError
from rknn_op import targets, template
from rknn_op.creation import Plan, create, plan
from rknn_op.repositories import scons

_MARK = "RKNN_OP_DEMO"
_MAX_ROWS = 9  # of the table of cases, including its header

_FILES = (
    ("op.yml", "inputs, outputs, params"),
    ("{lower}_compute.h", "the math in C"),
    ("{lower}_reference.py", "the math in numpy"),
    ("tests/test_{lower}.py", "the cases"),
    ("rknn_kernel_{lower}.c", "the launch of the VX kernel"),
    ("rknn_kernel_{lower}.vx", "the kernel for the NPU's PPU"),
)


def examples() -> list[str]:
    """Return the names of the examples."""
    return sorted(path.parent.name for path in template.EXAMPLES.glob("*/*.yml"))


def run(name: str, folder: Path) -> None:
    """Make the repository of an example, build and check it, and print each step.

    An interrupted demo leaves neither the folder nor a process behind.

    Args:
        name: the example.
        folder: the repository to make; must not exist.

    Raises:
        OpkitError: the folder exists, or one of the steps failed.
        KeyboardInterrupt: it was interrupted; its text says that the folder is removed.
    """
    example = template.EXAMPLES / name
    planned = plan(example / f"{name}.yml", folder)
    os.environ[_MARK] = secrets.token_hex(8)  # child processes inherit it
    try:
        _run(name, example, folder, planned)
    except KeyboardInterrupt:
        kill_marked(f"{_MARK}={os.environ[_MARK]}", but=os.getpid())
        shutil.rmtree(folder, ignore_errors=True)
        raise KeyboardInterrupt(f"{folder} is removed") from None


def _run(name: str, example: Path, folder: Path, planned: Plan) -> None:
    spec = planned.spec
    target = spec.target_platform
    click.echo(f"{spec.name}: from its description to a package for {target}\n")

    source = f"examples/{name}"
    kernels = "rknn_kernel_*," if any(example.glob("rknn_kernel_*")) else ""
    math = f"{source}/{{{spec.lower}_*,{kernels}tests}}"
    _step(f"rknn-op create -c {source}/{name}.yml -p {folder}", lambda: _create(planned))
    _step(f"cp -r {math} {folder}", lambda: _copy_files(example, folder, spec))
    _step(f"scons target={target}", lambda: _build(folder, spec))
    _step("scons check quick=1", lambda: _check(folder))
    click.echo(_summary(folder, spec))


def _step(command: str, action: Callable[[], str]) -> None:
    """Print a command, run it, and print its result and time."""
    click.echo(f"$ {command}")
    start = time.perf_counter()
    result = action()
    seconds = time.perf_counter() - start
    click.echo(textwrap.indent(f"{result.strip()}\n({seconds:.1f} s)\n", "    "))


def _create(planned: Plan) -> str:
    create(planned)
    return "the repository, a working operator that copies its input"


def _copy_files(example: Path, folder: Path, spec: OpSpec) -> str:
    """Copy the example's files over the generated ones and return their names."""
    others = {*runtimes.available()} - {*spec.runtimes}  # their files are in folders of their own
    names = sorted(
        str(path.relative_to(example))
        for path in example.rglob("*")
        if path.is_file()
        and path.suffix != ".yml"
        and path.parent.name not in {*others, "__pycache__"}
    )
    for name in names:
        shutil.copyfile(example / name, folder / name)
    return "\n".join(names)


def _build(folder: Path, spec: OpSpec) -> str:
    _scons(folder, "-Q", f"target={spec.target_platform}")
    return "\n".join(
        f"{product.relative_to(folder)}: {product.stat().st_size:,} bytes"
        for product in _products(folder, spec)
    )


def _products(folder: Path, spec: OpSpec) -> list[Path]:
    return repository.products(folder, runtimes.selected(spec), [spec.target_platform])


def _check(folder: Path) -> str:
    """Run the cases and return the first and the last lines of their table."""
    lines = _scons(folder, "-Q", "quick=1", "check").rstrip().splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith("kernel ")), 0)
    table, foot = lines[start:-2], lines[-2:]
    if len(table) > _MAX_ROWS:
        table = [*table[:_MAX_ROWS], f"... and {len(table) - _MAX_ROWS} more cases"]
    return "\n".join([*table, *foot])


def _scons(folder: Path, *arguments: str) -> str:
    result = scons(folder, *arguments, stdout=PIPE)
    if result.returncode:
        click.echo(result.stdout)
        raise OpkitError(f"`scons {arguments[-1]}` failed in {folder}; its output is above")
    return result.stdout


def _summary(folder: Path, spec: OpSpec) -> str:
    files = [
        (path, text)
        for name, text in _FILES
        if (folder / (path := name.format(lower=spec.lower))).exists()
    ]
    built = _products(folder, spec)
    files += [
        (str(path.relative_to(folder)), f"built: {path.stat().st_size:,} bytes") for path in built
    ]
    width = max(len(path) for path, _ in files)
    listing = "\n".join(f"    {path.ljust(width)}  {text}" for path, text in files)
    steps = Template(runtimes.selected(spec)[0].describe.next_steps)
    return f"""\
Files in {folder}:

{listing}

Next steps:

{textwrap.indent(steps.substitute(product=built[0], folder=folder), "    ")}\
    rknn-op create -c YOUR.yml -p ./your_operator

Minimum version of the runtime on each target:

{textwrap.indent(targets.table(runtimes.selected(spec)), "    ")}"""
