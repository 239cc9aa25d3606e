"""The commands to copy a plugin to a board."""

from __future__ import annotations

from pathlib import PurePosixPath

PLUGINS = "/usr/lib/rknpu/op_plugins"
"""rknn_server's folder of plugins on Linux."""


def lines(plugin: str, oldest_runtime: str) -> str:
    """Return the commands, and notes on them.

    Args:
        plugin: the path of the plugin, in the folder of its target.
        oldest_runtime: the oldest librknnrt for it.
    """
    name = PurePosixPath(plugin).name
    folder = PurePosixPath(plugin).parent
    chip, _, abi = folder.name.partition("-")
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
or the library of several operators that `rknn-op bundle` makes.

On Android, plugins are in /vendor/lib64 (32-bit: /vendor/lib), and must be
compiled with the NDK: this one requires the C library of Linux."""


def archive(plugin: str) -> str:
    """Return the name of the static library beside a plugin."""
    return f"lib{plugin.removeprefix('librkcst_').removesuffix('.so')}_custom_op.a"
