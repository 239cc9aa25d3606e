"""Options with paths, and the values of options, for the completion of shells."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.decorators import FC


def path_option(*names: str, **attributes: Any) -> Callable[[FC], FC]:
    """Return click's decorator for an option with a path.

    Args:
        *names: the names of the option and of its parameter.
        **attributes: the other arguments of click.option.
    """
    return click.option(*names, type=click.Path(path_type=Path), **attributes)


as_is = click.option(
    "--as-is",
    is_flag=True,
    help="Take the model as it is: do not fold its constants before.",
)
"""The decorator for the option of commands that clean a model."""

inputs = path_option(
    "--inputs",
    metavar="FILE.npz",
    help="The model's inputs by name, for the comparison; default: random ones.",
)
max_error = click.option(
    "--max-error",
    type=click.FloatRange(0),
    metavar="NUMBER",
    help="The tolerated absolute difference of an output. Default: by its dtype, relative to its "
    "largest number: float16 0.01, other floats 0.0001; integers are equal.",
)
"""The decorators for the options of commands that compare models."""

Completion = Callable[[click.Context, click.Parameter, str], list[str]]


def starting(names: Callable[[], Iterable[str]]) -> Completion:
    """Return click's callback for some names, which it computes only for a completion."""

    def completed(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
        return [each for each in names() if each.lower().startswith(incomplete.lower())]

    return completed


@starting
def runtimes() -> Iterable[str]:
    """Return the names of the runtimes."""
    from opkit.runtimes import available

    return available()


@starting
def kernels() -> Iterable[str]:
    """Return the names of the kernels besides the CPU kernel."""
    from opkit.runtimes import available

    return [name for each in available().values() for name in each.describe.kernels]


@starting
def targets() -> Iterable[str]:
    """Return the names of the targets."""
    from rknn_op import known_targets

    return known_targets.names()


@starting
def licenses() -> Iterable[str]:
    """Return the names of the licenses."""
    from rknn_op import template
    from rknn_op.creation.choices import NO_LICENSE

    return [NO_LICENSE, *sorted(path.name for path in template.LICENSES.iterdir())]


@starting
def extras() -> Iterable[str]:
    """Return the choices of files around an operator."""
    from rknn_op.creation.choices import EXTRAS

    return EXTRAS


@starting
def library() -> Iterable[str]:
    """Return the names of the ready operators."""
    from rknn_op.creation import operator_library

    return [each["operator"] for each in operator_library.entries(operator_library.find())]
