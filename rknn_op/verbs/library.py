"""`rknn-op library`."""

from __future__ import annotations

import json

import click

from opkit import runtimes
from opkit.common.text import wrapped
from rknn_op import template
from rknn_op.creation import operator_library
from rknn_op.known_targets import runtime_of_target
from rknn_op.runtimes.models import models_of
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
@click.option(
    "--why",
    "style",
    flag_value="why",
    help="Why the operator WORD of ONNX is not in the library, and what to do instead; or all.",
)
def command(word: str, runtime: str | None, style: str | None) -> None:
    """List the ready operators, for `rknn-op create --library`.

    WORD is an operator's name, in any letter case, or a text in names and summaries. A single
    operator is printed with its inputs, limits, error and speed.
    """
    if style == "why":
        if runtime:
            raise click.UsageError("--why: not with --runtime")
        _print_reasons(word)
        return
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


def _print_reasons(word: str) -> None:
    """Print why an operator of ONNX, or each that is missing, is not in the library."""
    from rknn_op.models import scanning, why  # only here: they import the readers of models

    target = scanning.default_target(".onnx")
    listed = models_of(runtime_of_target(target)).operators(target, None)
    for name, reason in why.reasons(template.EXAMPLES, word, listed):
        line = f"{name}: {reason}."
        click.echo(wrapped(line, operator_library.WIDTH) if word else line)
