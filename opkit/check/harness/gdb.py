"""The gdb command that stops in a kernel in the harness."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path


def gdb_command(command: Sequence[str], request: bytes, location: str, folder: Path) -> list[str]:
    """Write the request and a script for gdb; return the gdb command.

    Args:
        command: the command line of the harness.
        request: the stdin of the harness.
        location: the breakpoint: a function, in gdb's syntax.
        folder: the folder for the request and the script.
    """
    folder.mkdir(parents=True, exist_ok=True)
    job, answer, script = folder / "job", folder / "answer", folder / "job.gdb"
    program, *arguments = command
    job.write_bytes(request)
    run = shlex.join(["run", *arguments])
    script.write_text(
        # "pending": the kernel's library is loaded later.
        "set breakpoint pending on\nset confirm off\nset follow-fork-mode child\n"
        f"break {location}\n{run} < {shlex.quote(str(job))} > {shlex.quote(str(answer))}\n",
        encoding="utf-8",
    )
    return ["gdb", "-q", "-x", str(script), program]
