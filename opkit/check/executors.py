"""Executors of the harness: this PC, an emulator, a board, sanitizers.

`scons check` prepares the executors and passes them to the tests in the file of the session.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from opkit.common.errors import OpkitError
from opkit.runtimes.executor import Executor
from opkit.toolchains import elf
from opkit.toolchains.abi import ABIS

GREETING = b"opkit harness 4\n"
"""The first line of a harness's output: the version of the protocol."""

EMULATORS = "qemu-user-static"
"""The Linux distributions' package of the emulators."""

PROBE_TIMEOUT = 30.0  # seconds to start, and to exit at the end of the input

_BOARD = "ssh:"
_SSH = ("ssh", "-o", "ConnectTimeout=10")
# On the board: /tmp is writable even if the other folders are not.
_RECEIVE = (
    'program=$(mktemp /tmp/opkit.XXXXXX) && cat >"$program" && chmod 700 "$program"'
    ' && echo "$program"'
)


class ExecutorError(OpkitError):
    """The harness cannot run on an executor."""


def is_board(qemu: str) -> bool:
    """Return whether `qemu=` names a board, not an emulator."""
    return qemu.startswith(_BOARD)


def emulator(abi: str, qemu: str = "") -> tuple[str, ...]:
    """Return the command that runs a program of an ABI on this PC.

    Args:
        abi: the name of the ABI.
        qemu: the command; empty: the ABI's emulator on PATH.

    Raises:
        ExecutorError: the emulator is not found; the message lists the searched names and how to
            install one.
    """
    command = shlex.split(qemu)
    qemu_name = f"qemu-{ABIS[abi].processor}"
    names = tuple(command[:1]) or (f"{qemu_name}-static", qemu_name)
    for name in names:
        if shutil.which(name):
            return (name, *command[1:])
    raise ExecutorError(
        f"no emulator for {abi}: looked for {' and '.join(names)} on PATH "
        f"({os.environ.get('PATH', '')}). Install it with sudo apt install {EMULATORS}, or "
        "name another one with qemu=COMMAND, or a board with qemu=ssh:HOST"
    )


def has_emulator(abi: str) -> bool:
    """Return whether the emulator of an ABI is on PATH."""
    with suppress(ExecutorError):
        return bool(emulator(abi))
    return False


def on_this_pc(harness: Path, runtime: Path, library: Path, symbol: str) -> Executor:
    """Return an executor for a kernel's library on this PC.

    Args:
        harness: the program.
        runtime: the library with the runtime's part of the harness.
        library: the kernel's library.
        symbol: the kernel's symbol in its library.

    Raises:
        OpkitError: one of the files does not exist.
    """
    files = [path.absolute() for path in (harness, runtime, library)]
    for path in files:
        if not path.is_file():
            raise OpkitError(f"{path} not found; run `scons target=x64`")
    return Executor("x64", (*map(str, files), symbol), measures=True)


@contextmanager
def launch(
    abi: str, program: Path, qemu: str = "", emulated: Sequence[str] = ()
) -> Iterator[Executor]:
    """Yield an executor for a harness; delete its copy on a board at the end.

    Args:
        abi: the ABI of the program.
        program: a harness with the kernel in it.
        qemu: the option of scons: a command, `ssh:HOST`, or empty.
        emulated: the emulator's command for a program that is not static.

    Raises:
        ExecutorError: the harness cannot run.
    """
    if not is_board(qemu):
        command = emulated or emulator(abi, qemu)
        executor = Executor(abi, (*command, str(program)), abi=abi)
        probe(executor)
        yield executor
        return
    host = qemu.removeprefix(_BOARD)
    if not host or host.startswith("-"):
        raise ExecutorError(f"{qemu} names no host; write ssh:HOST, or ssh:USER@HOST")
    if not shutil.which("ssh"):
        raise ExecutorError(
            f"{qemu}: ssh not found; install it with sudo apt install openssh-client"
        )
    copied = _run([*_SSH, host, _RECEIVE], f"{qemu}: cannot copy the kernel", program.read_bytes())
    path = shlex.quote(copied.strip())
    try:
        executor = Executor(abi, (*_SSH, host, path), measures=True, abi=abi)
        probe(executor)
        yield executor
    finally:
        with suppress(ExecutorError):  # the board is gone, and with it its /tmp
            _run([*_SSH, host, f"rm -f {path}"], "")


def probe(executor: Executor) -> None:
    """Start a harness without input; expect its greeting and its exit.

    Raises:
        ExecutorError: the harness does not run; the message has its stderr.
    """
    command = shlex.join(executor.command)
    greeting = _run(
        executor.command, f"{command} does not run", environment=executor.environment
    ).encode()
    if greeting != GREETING:
        raise ExecutorError(
            f"{command} does not run: it ends before the harness begins; "
            "does a constructor of the kernel exit?"
        )


def _run(
    command: Sequence[str], problem: str, data: bytes = b"", environment: Mapping[str, str] = {}
) -> str:
    try:
        run = subprocess.run(
            command,
            input=data,
            env={**os.environ, **environment},
            capture_output=True,
            timeout=PROBE_TIMEOUT,
            check=False,
        )
    except OSError as error:
        raise ExecutorError(f"{problem}: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise ExecutorError(f"{problem}: timed out after {PROBE_TIMEOUT:g} s") from None
    if run.returncode != 0:
        stderr = run.stderr.decode(errors="replace").strip() or f"exit status {run.returncode}"
        raise ExecutorError(f"{problem}: {stderr}")
    return run.stdout.decode(errors="replace")


LIBRARIES = ("libc.so.6", "libstdc++.so.6", "libgcc_s.so.1")
_DEBIAN_NAMES = {"aarch64": "arm64"}
"""ABI -> its name in Debian, if that differs."""
_FOLDER_OPTION = "-L"  # of qemu


def packages(abi: str) -> str:
    """Return Debian's packages with the libraries of an ABI, for messages."""
    name = _DEBIAN_NAMES.get(abi, abi)
    return f"libc6-{name}-cross libstdc++6-{name}-cross libgcc-s1-{name}-cross"


def readiness(abis: Sequence[str]) -> str:
    """Return a sentence for `scons -h`: what of these ABIs runs on this PC, and what is missing."""
    missing = {abi: lacking for abi in abis if (lacking := _missing_packages(abi))}
    ready = " and ".join(abi for abi in abis if abi not in missing) or "no ABI"
    install = " ".join(dict.fromkeys(name for names in missing.values() for name in names))
    others = f"; for {' and '.join(missing)} run sudo apt install {install}" if missing else ""
    return f"This PC runs it for {ready}{others}"


def _missing_packages(abi: str) -> list[str]:
    names = zip(LIBRARIES, packages(abi).split(), strict=True)
    folder = Path("/usr", ABIS[abi].triple, "lib")
    emulators = [] if has_emulator(abi) else [EMULATORS]
    return [*emulators, *(name for library, name in names if not (folder / library).exists())]


def abi_of(path: Path, abis: tuple[str, ...] = ("aarch64", "armhf")) -> str:
    """Return the ABI of a vendor's library.

    Args:
        path: the library.
        abis: the supported ABIs.

    Raises:
        OpkitError: the file cannot be read, is not a library, or has another ABI; the message
            begins with the reason.
    """
    try:
        library = elf.read(path.read_bytes())
    except OSError as error:
        raise OpkitError(str(error.strerror)) from None
    for abi in abis:
        if library.architecture == ABIS[abi].elf and library.shared:
            return abi
    raise OpkitError(f"it is {library.architecture} (expected a library for {' or '.join(abis)})")


def emulated(abi: str, environment: Mapping[str, str], qemu: str = "") -> tuple[str, ...]:
    """Return the emulator's command for a program with a vendor's libraries.

    Args:
        abi: the ABI of the program.
        environment: the program's variables, such as LD_LIBRARY_PATH.
        qemu: the emulator's command; it may name a folder of libraries with -L. Empty: the ABI's
            emulator on PATH.

    Raises:
        OpkitError: the emulator or a library is missing; the message says how to install it.
    """
    command = emulator(abi, qemu)
    if _FOLDER_OPTION not in command:
        folder = Path("/usr", ABIS[abi].triple)
        missing = [name for name in LIBRARIES if not (folder / "lib" / name).exists()]
        if missing:
            raise OpkitError(
                f"no {' and '.join(missing)} for {abi} in {folder}/lib. Install them with sudo apt "
                f"install {packages(abi)}, or pass their folder with target=... "
                f"qemu='{command[0]} {_FOLDER_OPTION} FOLDER'"
            )
        command = (*command, _FOLDER_OPTION, str(folder))
    variables = (("-E", f"{name}={value}") for name, value in environment.items())
    return (*command, *(word for pair in variables for word in pair))
