"""`rknn-op completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

NAME = "rknn-op"
_VARIABLE = "_RKNN_OP_COMPLETE"
_FILES = {
    "bash": 'eval "$(rknn-op completion bash)" in ~/.bashrc',
    "zsh": 'eval "$(rknn-op completion zsh)" in ~/.zshrc',
    "fish": "rknn-op completion fish | source in ~/.config/fish/config.fish",
}


@click.command("completion", epilog="\b\n" + "\n".join(["Write", *_FILES.values()]))
@click.argument("shell", type=click.Choice([*_FILES]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the completion script of a shell for this command."""
    completion = get_completion_class(shell)
    assert completion is not None  # click supports all the choices
    click.echo(completion(ctx.find_root().command, {}, NAME, _VARIABLE).source())
