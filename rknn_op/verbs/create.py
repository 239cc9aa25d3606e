"""`rknn-op create`."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

import click

from opkit.creation.license import NONE
from opkit.creation.next_steps import next_steps
from opkit.errors import OpkitError
from rknn_op import creation, messages, progress
from rknn_op.creation import Choices, Created


@click.command("create")
@click.option(
    "-c",
    "--config",
    "config",
    multiple=True,
    type=click.Path(path_type=Path),
    help="An operator description: a YAML file. Several: -c A.yml B.yml ...",
)
@click.argument("others", nargs=-1, type=click.Path(path_type=Path), metavar="[YAML]...")
@click.option(
    "-p",
    "--path",
    type=click.Path(path_type=Path),
    help="The folder to make; for several descriptions, the folder of all repositories. "
    "Default: the operator's name, in the current folder.",
)
@click.option(
    "--runtime",
    "runtimes",
    multiple=True,
    help="A runtime, instead of the description's; may be repeated.",
    metavar="NAME",
)
@click.option(
    "--target", default="", metavar="NAME", help="The target, instead of the description's."
)
@click.option(
    "--license",
    default=NONE,
    show_default=True,
    metavar="NAME",
    help="The SPDX name of the new repository's license, such as MIT.",
)
@click.option(
    "--author",
    default="",
    metavar="NAME",
    help="The author in the license; default: the authors of the repository.",
)
@click.option("--dry-run", is_flag=True, help="Check all and print the plan; make nothing.")
def command(
    config: tuple[Path, ...],
    others: tuple[Path, ...],
    path: Path | None,
    runtimes: tuple[str, ...],
    target: str,
    license: str,
    author: str,
    dry_run: bool,
) -> None:
    """Make operator repositories from descriptions.

    op.yml has the text of the description, except for changes by the options: parts that the
    chosen runtimes do not support are omitted with a warning. An invalid description does not stop
    the others; all errors are listed at the end.
    """
    configs = [*config, *others]
    if not configs:
        raise click.UsageError("Missing option '-c' / '--config'.")
    names = [name for text in runtimes for name in text.split(",")]
    choices = Choices(names, target, license, author)
    if len(configs) > 1:
        _create_all(configs, path or Path(), choices, dry_run)
        return
    planned = creation.plan(configs[0], path, choices=choices)
    messages.warn(planned.warnings)
    if dry_run:
        click.echo(f"{planned.folder}: {planned.spec.name}, for {', '.join(planned.spec.runtimes)}")
        for owner, files in creation.rehearse(planned).items():
            words = f"{owner}: {' '.join(files)}"
            click.echo(
                textwrap.fill(
                    words,
                    width=78,
                    initial_indent="  ",
                    subsequent_indent="      ",
                    break_on_hyphens=False,
                )
            )
        return
    creation.create(planned)
    click.echo(next_steps(planned.spec, planned.folder.absolute()), nl=False)


def _create_all(configs: Sequence[Path], parent: Path, choices: Choices, dry_run: bool) -> None:
    """Make the repositories; print their paths, then the errors of the others."""
    results = creation.create_all(configs, parent, choices, dry_run)
    done = [*progress.track(results, len(configs), "creating")]
    problems = [result for result in done if isinstance(result, OpkitError)]
    created = [result for result in done if isinstance(result, Created)]
    messages.warn(warning for each in created for warning in each.warnings)
    click.echo("".join(f"{each.folder}\n" for each in created), nl=False)
    messages.end_with(problems, len(configs), "made")
