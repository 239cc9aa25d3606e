"""Where the cases run besides this PC's own process: under an emulator, on a board, sanitized.

`scons check` prepares the places and names them to the tests in the file of the session.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from opkit.errors import OpkitError

EMULATORS = {
    "aarch64": ("qemu-aarch64-static", "qemu-aarch64"),
    "armhf": ("qemu-arm-static", "qemu-arm"),
}
"""ABI -> the emulators that are looked for on PATH, in this order."""

_BOARD = "ssh:"
_SSH = ("ssh", "-o", "ConnectTimeout=10")
# On the board: /tmp is there even where the rest cannot be written.
_RECEIVE = (
    'program=$(mktemp /tmp/opkit.XXXXXX) && cat >"$program" && chmod 700 "$program"'
    ' && echo "$program"'
)


class PlaceError(OpkitError):
    """The cases cannot run in a place."""


@dataclass(frozen=True)
class Place:
    """A process that runs the CPU kernel; runner.c says how one talks to it.

    Attributes:
        name: what the table of cases calls it, for instance "armhf".
        command: what starts it.
        environment: what its environment has besides ours.
        measures: whether the time that the kernel takes there means anything.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    measures: bool = False


def is_board(qemu: str) -> bool:
    """Whether `qemu=` names a board rather than an emulator."""
    return qemu.startswith(_BOARD)


def emulator(abi: str, qemu: str = "") -> tuple[str, ...]:
    """Return the command that runs a program of an ABI on this PC.

    Args:
        abi: one of EMULATORS.
        qemu: the command, if it is not to be looked for.

    Raises:
        PlaceError: it is not there; the message says what was looked for, and how to get it.
    """
    command = shlex.split(qemu)
    names = tuple(command[:1]) or EMULATORS[abi]
    for name in names:
        if shutil.which(name):
            return (name, *command[1:])
    raise PlaceError(
        f"no emulator for {abi}: looked for {' and '.join(names)} on PATH "
        f"({os.environ.get('PATH', '')}). Install it with sudo apt install qemu-user-static, or "
        "name another one with qemu=COMMAND, or a board with qemu=ssh:HOST"
    )


@contextmanager
def started(abi: str, program: Path, qemu: str = "") -> Iterator[Place]:
    """A place where a static program runs, as long as the context lasts.

    Args:
        abi: what the program is made for.
        program: a runner.
        qemu: as the option of scons: a command, `ssh:HOST`, or nothing.

    Raises:
        PlaceError: it cannot run there.
    """
    if not is_board(qemu):
        place = Place(abi, (*emulator(abi, qemu), str(program)))
        try_out(place)
        yield place
        return
    host = qemu.removeprefix(_BOARD)
    if not shutil.which("ssh"):
        raise PlaceError(
            f"{qemu}: there is no ssh; install it with sudo apt install openssh-client"
        )
    if not host or host.startswith("-"):
        raise PlaceError(f"{qemu} names no host; write ssh:HOST, or ssh:USER@HOST")
    copied = _run([*_SSH, host, _RECEIVE], f"{qemu}: cannot copy the kernel", program.read_bytes())
    path = shlex.quote(copied.strip())
    try:
        place = Place(abi, (*_SSH, host, path), measures=True)
        try_out(place)
        yield place
    finally:
        with suppress(PlaceError):  # the board is gone, and with it what it keeps in memory
            _run([*_SSH, host, f"rm -f {path}"], "")


def try_out(place: Place) -> None:
    """Start a place's process, which ends at once when it is asked nothing.

    Raises:
        PlaceError: it does not; the message has what it said.
    """
    _run(place.command, f"{shlex.join(place.command)} does not run", b"", place.environment)


def _run(
    command: Sequence[str], problem: str, data: bytes = b"", environment: Mapping[str, str] = {}
) -> str:
    try:
        run = subprocess.run(
            command, input=data, env={**os.environ, **environment}, capture_output=True, check=False
        )
    except OSError as error:
        raise PlaceError(f"{problem}: {error.strerror}") from None
    if run.returncode != 0:
        said = run.stderr.decode(errors="replace").strip() or f"exit status {run.returncode}"
        raise PlaceError(f"{problem}: {said}")
    return run.stdout.decode()
