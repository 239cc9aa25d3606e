"""The command `rknn-op`: its verbs, each imported when it is called."""

from __future__ import annotations

import importlib

import click

from opkit.errors import OpkitError
from opkit.version import VERSION

VERBS = {
    "create": "Make operator repositories from descriptions.",
    "build": "Build and pack: `scons target=...` in repositories.",
    "check": "Compare the kernels with numpy on this PC: `scons check`.",
    "update": "Bring opkit/ and generated/ of a repository to this version.",
    "inspect": "Show what is in packages (.rknnop).",
    "targets": "List what can be built for, and what each chip must run at least.",
    "demo": "Make, build, pack and check the operator of an example.",
}
"""The name of each verb -> what it does, which is also the first line of its own help."""


class _Verbs(click.Group):
    """Imports a verb when it is called, and prints errors of the user as one line on stderr."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*VERBS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        # `import` is a word of Python.
        module = "import_" if cmd_name == "import" else cmd_name
        command: click.Command = importlib.import_module(f"rknn_op.verbs.{module}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([*VERBS.items()])

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
