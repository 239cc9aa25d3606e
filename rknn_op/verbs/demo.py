"""`rknn-op demo`: an example operator, from its description to a checked package."""

from __future__ import annotations

import shutil
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from string import Template
from subprocess import PIPE

import click

from opkit import repository, runtimes
from opkit.common import file_io
from opkit.common.errors import OpkitError
from opkit.description.spec import OpSpec
from rknn_op import known_targets, template
from rknn_op.creation import operator_library
from rknn_op.creation.choices import Choices
from rknn_op.creation.new_repository import Plan, create
from rknn_op.creation.operator_library import plan_operator
from rknn_op.interrupt import Interrupted
from rknn_op.scons_runs import Processes, scons
from rknn_op.verbs import values

_UNFINISHED = ".unfinished-demo"
"""The file in the folder of a demo until its end, unless the demo is killed."""

_FILES = (
    ("op.yml", "inputs, outputs, params"),
    ("{lower}_compute.h", "the math in C"),
    ("{lower}_reference.py", "the math in numpy"),
    ("tests/test_{lower}.py", "the cases"),
)


def examples() -> list[str]:
    """Return the names of the examples."""
    return [path.stem for path in operator_library.descriptions(template.EXAMPLES)]


def run(name: str, folder: Path) -> None:
    """Make the repository of an example, build and check it, and print each step.

    An interrupted demo leaves neither the folder nor a process behind. The next demo removes the
    folder of a killed one.

    Args:
        name: the example.
        folder: the repository to make; must not exist, except for the rest of a killed demo.

    Raises:
        OpkitError: the folder exists, or one of the steps failed.
        Interrupted: its text says that the folder is removed.
    """
    operator = operator_library.named_operator(template.EXAMPLES, name)
    _remove_unfinished(folder)
    spec = operator.spec
    # The runtime of the example's target: a demo with all of them takes twice the time.
    runtime = next(
        each.name
        for each in runtimes.selected(spec)
        if spec.target_platform in each.describe.targets
    )
    planned = plan_operator(operator, folder, Choices([runtime]))
    try:
        with Processes() as processes:
            _run(processes, name, planned)
    except Interrupted:
        _remove_unfinished(folder)
        raise Interrupted(f"{folder} is removed") from None


def _remove_unfinished(folder: Path) -> None:
    """Remove the folder of a demo that did not end; its mark last, for an interrupted removal.

    Raises:
        OpkitError: another demo is running in it.
    """
    if folder.is_symlink() or not (folder / _UNFINISHED).is_file():
        return
    with file_io.opened_folder(folder) as descriptor:
        if not file_io.try_lock(descriptor):
            raise OpkitError(f"{folder}: another demo is making it; wait, or pass another folder")
        for path in sorted(folder.iterdir(), key=lambda path: path.name == _UNFINISHED):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        folder.rmdir()


def _run(processes: Processes, name: str, planned: Plan) -> None:
    spec, folder = planned.spec, planned.folder
    target = spec.target_platform
    click.echo(f"{spec.name}: from its description to a package for {target}\n")

    chosen = f"--runtime {spec.runtimes[0]}"
    line = f"rknn-op create --library {name} {chosen} -p {folder}"

    def make() -> str:
        create(planned, {_UNFINISHED: b""})
        return "the repository: math in C, a reference in numpy, cases"

    _step(line, make)
    with file_io.opened_folder(folder) as descriptor:
        file_io.try_lock(descriptor)  # another demo must not remove it
        try:
            _step(f"scons target={target}", lambda: _build(processes, folder, spec))
            _step("scons check quick=1", lambda: _check(processes, folder))
        except Exception:  # the user needs the folder of a failed step
            _finish(folder)
            raise
        _finish(folder)
    click.echo(_summary(folder, spec))


def _finish(folder: Path) -> None:
    (folder / _UNFINISHED).unlink(missing_ok=True)


def _step(command: str, action: Callable[[], str]) -> None:
    """Print a command, run it, and print its result and time."""
    click.echo(f"$ {command}")
    start = time.perf_counter()
    result = action()
    seconds = time.perf_counter() - start
    click.echo(textwrap.indent(f"{result.strip()}\n({seconds:.1f} s)\n", "    "))


def _build(processes: Processes, folder: Path, spec: OpSpec) -> str:
    _scons(processes, folder, "-Q", f"target={spec.target_platform}")
    return "\n".join(
        f"{product.relative_to(folder)}: {product.stat().st_size:,} bytes"
        for product in _products(folder, spec)
    )


def _products(folder: Path, spec: OpSpec) -> list[Path]:
    return repository.products(folder, runtimes.selected(spec), [spec.target_platform])


def _check(processes: Processes, folder: Path) -> str:
    """Run the cases and return the table of kernels and what follows."""
    printed = _scons(processes, folder, "-Q", "quick=1", "check")
    return printed[max(printed.find("\nkernel "), 0) :]


def _scons(processes: Processes, folder: Path, *arguments: str) -> str:
    result = scons(processes, folder, *arguments, stdout=PIPE)
    if result.returncode:
        click.echo(result.stdout)
        raise OpkitError(f"`scons {arguments[-1]}` failed in {folder}; its output is above")
    return result.stdout


def _summary(folder: Path, spec: OpSpec) -> str:
    files = [(name.format(lower=spec.lower), text) for name, text in _FILES]
    parts = [each.files.texts(spec).readme for each in runtimes.selected(spec)]
    files += [(path, f"for {part.runtime}") for part in parts for path in part.files]
    files = [(path, text) for path, text in files if (folder / path).exists()]
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

{textwrap.indent(known_targets.table(runtimes.selected(spec)), "    ")}"""


@click.command("demo", epilog=f"Examples: {', '.join(examples())}.")
@click.argument("name", type=click.Choice(examples()), default="deform_conv", metavar="[EXAMPLE]")
@values.path_option("-p", "--path", help="The folder to make; default: the example's name.")
def command(name: str, path: Path | None) -> None:
    """Make, build, pack and check the operator of an example."""
    run(name, path or Path(name))
