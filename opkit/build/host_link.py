"""What runs kernels on this PC is linked of opkit's own sources, once for a user."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from SCons.Action import Action

from opkit.build.compiler import compiler_for
from opkit.build.machinery import INCLUDES
from opkit.build.user_cache import user_cache


def linked(
    env: Any,
    command: str,
    *,
    target: str,
    sources: Sequence[str],
    objects: str,
    **variables: list[str],
) -> Any:
    """Return the node of a program or a library for this PC that no operator changes.

    Args:
        env: the environment.
        command: what links it: `$PROGRAMCOM` or `$SHAREDCOM`.
        target: the file that is made.
        sources: the patterns of its C sources.
        objects: what the paths of the object files begin with.
        **variables: the construction variables that are other than for a device library.
    """
    link_env = compiler_for(env, "x64")
    link_env.Replace(**{"CPPPATH": INCLUDES, **variables})
    link_env = user_cache(link_env)
    return link_env.Command(
        target,
        [
            link_env.SharedObject(f"{objects}{source.name[:-2]}.o", source)
            for pattern in sources
            for source in env.Glob(pattern)
        ],
        Action(command, "$SHAREDCOMSTR"),
    )
