"""The gdb command that stops in a kernel in the harness."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path


def gdb_command(command: Sequence[str], request: bytes, location: str, folder: Path) -> list[str]:
    """Write the request and a script for gdb; return the gdb command.

    Args:
        command: what starts the harness.
        request: what it reads.
        location: where gdb stops: a function, as gdb names it.
        folder: where the files are written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    job, answer, script = folder / "job", folder / "answer", folder / "job.gdb"
    program, *arguments = command
    job.write_bytes(request)
    run = shlex.join(["run", *arguments])
    script.write_text(
        # A library of the kernel's is loaded later.
        "set breakpoint pending on\nset confirm off\nset follow-fork-mode child\n"
        f"break {location}\n{run} < {shlex.quote(str(job))} > {shlex.quote(str(answer))}\n",
        encoding="utf-8",
    )
    return ["gdb", "-q", "-x", str(script), program]
