"""deploy(env, products): `scons deploy` prints the commands to copy a plugin to a board."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from SCons.Action import Action

from opkit.build.options import Request
from opkit.errors import OpkitError
from opkit.runtimes.rknn2.deployment import lines
from opkit.runtimes.rknn2.settings import settings

USAGE = (("scons deploy target=...", "build the plugin and print how to copy it to a board"),)


def check(env: Any, request: Request) -> None:
    """Refuse to deploy to this PC.

    Raises:
        OpkitError: the targets have no chip of this runtime.
    """
    from opkit.runtimes.rknn2.chips import TARGETS

    if "deploy" in request.commands and not any(name in TARGETS for name in request.targets):
        raise OpkitError(
            f"deploy requires a board; pass its chip with target= (expected {', '.join(TARGETS)})"
        )


def deploy(env: Any, products: Sequence[Any]) -> Any:
    """Return the alias `deploy`, which builds the products and prints the commands for plugins.

    Args:
        env: the environment.
        products: the nodes of the products.
    """

    def show(target: Any, source: Any, env: Any) -> None:
        print(text)

    oldest_runtime = settings(env["OPERATOR"]).oldest_runtime
    plugins = [node.path for node in products if node.path.endswith(".so")]
    text = "\n\n".join(lines(plugin, oldest_runtime) for plugin in plugins)
    alias = env.Alias("deploy", products, Action(show, None))
    env.AlwaysBuild(alias)
    return alias
