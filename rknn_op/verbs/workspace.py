"""`rknn-op workspace`."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from rknn_op.creation import workspaces
from rknn_op.upkeep import moving
from rknn_op.upkeep.moving import Moved


@click.group("workspace", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Make a workspace: many operators, one opkit, one CI.

    A workspace is a folder with rknn-op.toml; its operators are the folders below with an op.yml.
    """


@command.command("init")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
def init(folder: Path) -> None:
    """Make a folder a workspace; its existing files stay."""
    new = workspaces.plan_workspace(folder)
    with workspaces.made_workspace(new):
        pass
    for path in new.kept:
        click.echo(f"{folder / path} exists and stays", err=True)
    click.echo(
        f"""
{folder} is a workspace.

    cd {shlex.quote(str(folder))}
    rknn-op create -c YAML -p NAME   # or --library NAME; each is an operator
    rknn-op check                    # all of them

README.md has the rest.
""",
        nl=False,
    )


@command.command("add")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
def add(folder: Path) -> None:
    """Make a repository below a workspace one of its operators.

    Deletes the files that the workspace has at its root. Your own versions of them stay, and are
    listed. Packages of requirements.txt are added to the workspace's.
    """
    done = moving.add(folder)
    click.echo(f"{folder} is an operator of the workspace {done.workspace}")
    _print(done)
    for line in done.packages:
        click.echo(f"  {done.workspace / 'requirements.txt'}: {line}")
    for path in done.kept:
        click.echo(
            f"{folder / path} is not the template's, and stays; the workspace does not use it: "
            "move what you need to the root's file, then delete it",
            err=True,
        )
    if (folder / ".git").exists():
        click.echo(
            f"{folder}/.git is a repository of git of its own, so that the workspace's does not "
            "have its files; move it elsewhere",
            err=True,
        )


@command.command("eject")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
def eject(folder: Path) -> None:
    """Make an operator of a workspace a repository that stands alone.

    Writes the files that the workspace has at its root; move the folder elsewhere then.
    """
    done = moving.eject(folder)
    click.echo(f"{folder} stands alone; move it out of the workspace {done.workspace}")
    _print(done)


def _print(done: Moved) -> None:
    for path in done.written:
        click.echo(f"  {path}: written")
    for path in done.deleted:
        click.echo(f"  {path}: deleted")
