"""The verbs of `rknn-op`: command-line options only."""

from __future__ import annotations

from pathlib import Path

import click

from opkit.description.parser import PC
from opkit.errors import OpkitError
from opkit.files.next_steps import next_steps
from opkit.runtimes import available
from opkit.version import VERSION
from rknn_op import demo as demonstration
from rknn_op import repositories
from rknn_op import targets as listing
from rknn_op import update as replacement


class _Verbs(click.Group):
    """Prints errors of the user as one line on stderr and exits with status 1."""

    def invoke(self, ctx: click.Context) -> None:
        try:
            super().invoke(ctx)
        except OpkitError as error:
            click.echo(f"error: {error}", err=True)
            ctx.exit(1)


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="rknn-op")
def main() -> None:
    """Custom operators for RKNN-Toolkit, RKNN-Toolkit2 and PPLNN, each from one YAML file."""


_repository = click.option(
    "-p",
    "--path",
    type=click.Path(path_type=Path),
    default=Path(),
    help="The operator repository; default: the current folder.",
)
_options = click.argument("options", nargs=-1, metavar="[-- OPTIONS...]")


@main.command()
@click.option(
    "-c",
    "--config",
    type=click.Path(path_type=Path),
    required=True,
    help="The operator description: a YAML file.",
)
@click.option(
    "-p",
    "--path",
    type=click.Path(path_type=Path),
    help="The folder to make; default: the operator's name.",
)
def create(config: Path, path: Path | None) -> None:
    """Make an operator repository from a description."""
    folder = path or Path(repositories.check_description(config).name)
    spec = repositories.create(config, folder)
    click.echo(next_steps(spec, folder.absolute()), nl=False)


@main.command()
@_repository
@click.option(
    "-t",
    "--target",
    type=click.Choice([*listing.names(), PC, "all"], case_sensitive=False),
    help="What to build for; default: the target_platform of op.yml.",
)
@_options
@click.pass_context
def build(ctx: click.Context, path: Path, target: str | None, options: tuple[str, ...]) -> None:
    """Build and pack: `scons target=...` in a repository.

    OPTIONS go to scons as they are, for instance toolchain=gnu; `scons -h` lists them.
    """
    arguments = [f"target={target}"] if target else []
    ctx.exit(repositories.scons(path, *arguments, *options).returncode)


@main.command()
@_repository
@_options
@click.pass_context
def check(ctx: click.Context, path: Path, options: tuple[str, ...]) -> None:
    """Compare the kernels with numpy on this PC: `scons check`."""
    ctx.exit(repositories.scons(path, "check", *options).returncode)


@main.command()
@_repository
def update(path: Path) -> None:
    """Bring opkit/ and generated/ of a repository to this version.

    A runtime that op.yml names and the repository does not have yet comes with it. Your own files
    are left alone.
    """
    replacement.update(path)


@main.command()
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE..."
)
def inspect(files: tuple[Path, ...]) -> None:
    """Show what is in packages (.rknnop)."""
    from opkit.runtimes.rknn.rknnop import describe, unpack

    for index, file in enumerate(files):
        try:
            data = file.read_bytes()
        except OSError as error:
            raise OpkitError(f"{file}: cannot be read: {error.strerror}") from None
        listing = describe(unpack(data, str(file)))
        click.echo(f"{chr(10) if index else ''}{file}\n{listing.rstrip()}")


@main.command()
def targets() -> None:
    """List what can be built for, and what each chip must run at least."""
    click.echo(listing.table(available().values()))
    click.echo("\nWhat is built for a chip runs on every chip of its family, and on no other.")


@main.command()
@click.argument("name", type=click.Choice(demonstration.examples()), default="resize_area")
@click.option(
    "-p",
    "--path",
    type=click.Path(path_type=Path),
    help="The folder to make; default: the example's name.",
)
def demo(name: str, path: Path | None) -> None:
    """Make, build, pack and check the operator of an example."""
    demonstration.run(name, path or Path(name))
