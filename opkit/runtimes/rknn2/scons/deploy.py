"""deploy(env, products): `scons deploy` prints the commands to copy a plugin to a board."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

from SCons.Action import Action

from opkit.build.options import Request
from opkit.common.errors import OpkitError
from opkit.runtimes.rknn2.chips import TARGETS
from opkit.runtimes.rknn2.describe import settings

PLUGINS = "/usr/lib/rknpu/op_plugins"
"""rknn_server's folder of plugins on Linux."""
ANDROID_PLUGINS = {"arm64-v8a": "/vendor/lib64", "armeabi-v7a": "/vendor/lib"}
"""The same on Android: the ABI of rknn_server -> the folder."""


def lines(plugin: str, oldest_runtime: str) -> str:
    """Return the commands, and notes on them.

    Args:
        plugin: the path of the plugin, in the folder of its target.
        oldest_runtime: the oldest librknnrt for it.
    """
    name = PurePosixPath(plugin).name
    folder = PurePosixPath(plugin).parent
    chip, _, abi = folder.name.partition("-")
    if abi in ANDROID_PLUGINS:
        return _lines_for_android(PurePosixPath(plugin), chip, abi, oldest_runtime)
    android = (
        "\n\nAndroid has another C library: for it, pass os=android."
        if TARGETS[chip].android_abis
        else ""
    )
    board = f"{chip.upper()} board{f' with an {abi} system' if abi else ''}"
    return f"""\
For a {board} that runs rknn_server and librknnrt {oldest_runtime} or later, on Linux:

    adb shell mkdir -p {PLUGINS}
    adb push {plugin} {PLUGINS}/{name}
    adb shell restart_rknn.sh    # or another command that restarts rknn_server

or, without adb:

    ssh root@BOARD mkdir -p {PLUGINS}
    scp {plugin} root@BOARD:{PLUGINS}/{name}
    ssh root@BOARD restart_rknn.sh

rknn_server loads plugins when it starts: restart it after every copy. It takes
one plugin for each model; an application takes instead
{folder}/{archive(name)},
or the library of several operators that `rknn-op bundle` makes.{android}"""


def _lines_for_android(plugin: PurePosixPath, chip: str, abi: str, oldest_runtime: str) -> str:
    return f"""\
For a {chip.upper()} board that runs rknn_server of {abi} and librknnrt {oldest_runtime} or
later, on Android (no board ran it yet):

    adb root && adb remount
    adb push {plugin} {ANDROID_PLUGINS[abi]}/{plugin.name}
    adb shell killall rknn_server
    adb shell "nohup /vendor/bin/rknn_server >/dev/null" &

rknn_server loads plugins when it starts, from another folder if the property
persist.vendor.rknn.custom.op.plugin.dir names one. It takes one plugin for each
model; an application takes instead
{plugin.parent}/{archive(plugin.name)}

rknn_server's log, after a restart:

    adb shell setprop persist.vendor.rknn.server.log.level 5
    adb logcat"""


def archive(plugin: str) -> str:
    """Return the name of the static library beside a plugin."""
    return f"lib{plugin.removeprefix('librkcst_').removesuffix('.so')}_custom_op.a"


USAGE = (("scons deploy target=...", "build the plugin and print how to copy it to a board"),)


def check(env: Any, request: Request) -> None:
    """Refuse to deploy to this PC.

    Raises:
        OpkitError: the targets have no chip of this runtime.
    """
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
