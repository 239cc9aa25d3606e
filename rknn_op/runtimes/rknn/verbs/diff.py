"""`rknn-op diff`."""

from __future__ import annotations

import itertools
from pathlib import Path

import click

from opkit.common.errors import OpkitError
from opkit.common.text import printable
from opkit.runtimes.rknn import rknnop
from rknn_op import messages

_PACKAGE = click.Path(path_type=Path)
_SAME, _DIFFERENT, _TROUBLE = 0, 1, 2


@click.command("diff")
@click.argument("old", type=_PACKAGE, metavar="A.rknnop")
@click.argument("new", type=_PACKAGE, metavar="B.rknnop")
@click.option("--json", "as_json", is_flag=True, help="Print the changes as a JSON object.")
@click.pass_context
def command(ctx: click.Context, old: Path, new: Path, as_json: bool) -> None:
    """Show the differences between two packages.

    Each section is compared in words: symbols, keys of op.yml, lines of Python. The exit status is
    0 if the packages are equal, 1 if they differ, and 2 if one cannot be read.
    """
    from rknn_op.runtimes.rknn.package_changes import changes

    try:
        found = changes(rknnop.read(old), rknnop.read(new))
    except OpkitError as error:
        messages.error(error)
        ctx.exit(_TROUBLE)
    if as_json:
        import json

        listed = [{"section": change.section, "change": change.text} for change in found]
        click.echo(json.dumps({"old": str(old), "new": str(new), "changes": listed}))
    else:
        for section, group in itertools.groupby(found, lambda change: change.section):
            lines = "\n".join(change.text for change in group).splitlines()
            click.echo(printable("\n  ".join([section, *lines])))
    ctx.exit(_DIFFERENT if found else _SAME)
