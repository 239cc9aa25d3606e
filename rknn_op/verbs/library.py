"""`rknn-op library`."""

from __future__ import annotations

import json

import click

from opkit import runtimes
from rknn_op.creation import operator_library
from rknn_op.verbs import values


@click.command("library")
@click.argument("word", required=False, default="", shell_complete=values.library)
@click.option(
    "--runtime",
    type=click.Choice([*runtimes.available()]),
    help="Only operators for this runtime.",
)
@click.option("--json", "style", flag_value="json", help="Print a JSON list, one item each.")
@click.option(
    "--markdown", "style", flag_value="markdown", help="Print the page docs/operators.md."
)
def command(word: str, runtime: str | None, style: str | None) -> None:
    """List the ready operators, for `rknn-op create --library`.

    WORD is an operator's name, in any letter case, or a text in names and summaries. A single
    operator is printed with its inputs, limits, error and speed.
    """
    found = operator_library.find(word, runtime or "")
    if style == "json":
        click.echo(json.dumps(operator_library.entries(found), indent=2))
    elif style == "markdown":
        click.echo(operator_library.page(found), nl=False)
    else:
        single = word and len(found) == 1
        click.echo(
            operator_library.details(found[0]) if single else operator_library.listing(found),
            nl=False,
        )
