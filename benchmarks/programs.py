"""Run the C compiler of scons, and other programs."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from opkit import toolchains
from opkit.toolchains.abi import ABIS
from rknn_op import template

INCLUDE = template.ROOT


def compile_c(abi: str, *arguments: str) -> str:
    """Run the compiler for an ABI and return its output."""
    found = toolchains.find("auto", ABIS[abi])
    return run([*found.command, *found.flags, *arguments])


def compiler_version(abi: str) -> str:
    """Return the first line of the version of the compiler for an ABI."""
    found = toolchains.find("auto", ABIS[abi])
    name = f"{found.toolchain}, " if found.toolchain == "zig" else ""
    return name + run([*found.command, "--version"]).splitlines()[0]


def run(
    command: list[str],
    folder: Path | None = None,
    text: str | None = None,
    env: Mapping[str, str] | None = None,
) -> str:
    """Run a command with text on its stdin and return its output.

    Raises:
        SystemExit: the command failed; the message is its output.
    """
    result = subprocess.run(
        command, cwd=folder, input=text, env=env, capture_output=True, text=True, check=False
    )
    if result.returncode:
        raise SystemExit(f"{' '.join(command)}\n{result.stdout}{result.stderr}")
    return result.stdout
