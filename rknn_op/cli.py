"""The command `rknn-op`: its verbs, each imported when it is called."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

import click

from opkit.common.errors import OpkitError
from opkit.common.terminal import chosen_color
from opkit.version import VERSION
from rknn_op import messages

VERBS = {
    "demo": "Make, build, pack and check the operator of an example.",
    "scan": "Show the operators of a model that a chip lacks.",
    "rewrite": "Write missing operators of a model with the chip's own.",
    "graft": "Make nodes of a model those of operator repositories.",
    "lint": "Report all problems of descriptions or repositories.",
    "create": "Make repositories from descriptions, a model, or the library.",
    "library": "List the ready operators, for `rknn-op create --library`.",
    "import": "Make a repository from one of the vendor's tool.",
    "build": "Build and pack by the repository's own code, with `scons`.",
    "bundle": "Make an application with all operators of a model.",
    "check": "Compare kernels with numpy by the repository's own code.",
    "report": "Check, and write pages of the results.",
    "update": "Update opkit and the generated files to this version.",
    "workspace": "Make a workspace: many operators, one opkit, one CI.",
    "rename": "Rename the operator of a repository.",
    "doctor": "Show the tools on this PC, and how to get missing ones.",
    "inspect": "Show the contents of packages (.rknnop).",
    "diff": "Show the differences between two packages.",
    "targets": "List the targets and the minimum version of their runtimes.",
    "schema": "Print the JSON Schema of the description, for editors.",
    "completion": "Print the completion script of a shell for this command.",
}
"""Verb -> summary, which is also the first line of its own help."""


class _Verbs(click.Group):
    """Import a verb when it is called; report errors of the user and bugs differently.

    An error of the user is one line on stderr and exit status 1. A bug is a traceback and status
    70, the one of sysexits.h for internal errors.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*VERBS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return _command(cmd_name) if cmd_name in VERBS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([*VERBS.items()])

    def invoke(self, ctx: click.Context) -> None:
        try:
            _require_current_folder()
            super().invoke(ctx)
        except OpkitError as error:
            messages.error(error)
            ctx.exit(1)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except OSError as error:  # a full disk, a read-only folder
            where = f"{error.filename}: " if error.filename else ""
            messages.error(f"{where}{error.strerror}")
            ctx.exit(1)
        except Exception:  # no mistake of the user
            import traceback  # only here, because it takes a tenth of the time of --help

            traceback.print_exc()
            from rknn_op.template import origin

            known = origin()
            place = f"\n{known.url}" if known else " its authors"
            click.echo(
                f"\nThis is a bug of rknn-op {VERSION}. Please report it to{place},\n"
                "with all of the above and the command line.",
                err=True,
            )
            ctx.exit(70)


def _command(verb: str) -> click.Command:
    """Import a verb, from this command's verbs or those of a runtime."""
    name = "import_" if verb == "import" else verb  # a keyword of Python
    folder = Path(__file__).parent
    found = (folder.glob(f"{room}/{name}.py") for room in ("verbs", "runtimes/*/verbs"))
    path = next(path for paths in found for path in paths)
    module = ".".join(path.relative_to(folder.parent).with_suffix("").parts)
    command: click.Command = importlib.import_module(module).command
    return command


def _require_current_folder() -> None:
    """Require the current folder to exist: relative paths need it.

    Raises:
        OpkitError: it was deleted.
    """
    try:
        os.getcwd()  # noqa: PTH109  pathlib takes longer to import
    except FileNotFoundError:
        raise OpkitError(
            "the current folder was deleted or replaced; change to an existing one (`cd DIR`)"
        ) from None


@click.group(
    cls=_Verbs,
    invoke_without_command=True,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="The command line of the vendor's generator works too: "
    "--action create --config YAML --op_path DIR, --action build --op_path DIR.",
)
@click.version_option(VERSION, "--version", prog_name="rknn-op")
@click.option("-a", "--action", type=click.Choice(["create", "build"]), hidden=True)
@click.option("-c", "--config", hidden=True)
@click.option("-p", "--op_path", hidden=True)
@click.pass_context
def main(ctx: click.Context, action: str | None, config: str | None, op_path: str | None) -> None:
    """Custom operators for chips and their runtimes, each from one YAML file."""
    ctx.color = chosen_color(os.environ)
    if ctx.invoked_subcommand is not None:
        return
    # The vendor's command line has options for both actions, but no verb.
    if action is None:
        raise click.UsageError("Missing option '-a' / '--action'.")
    if op_path is None or (action == "create" and config is None):
        needed = "'-c' / '--config' and '-p' / '--op_path'" if action == "create" else "'--op_path'"
        raise click.UsageError(f"--action {action} needs {needed}.")
    words = ["-p", op_path, *(["-c", str(config)] if action == "create" else [])]
    verb = _command(action)
    with verb.make_context(action, words, parent=ctx) as context:
        verb.invoke(context)
