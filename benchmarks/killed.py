"""Interrupt `rknn-op` at random moments; check the files, and that the next run completes them.

    python -m benchmarks.killed [--moments 12] [--seed 1] [--kinds create update import ...]

At each moment of each kind a run is ended by Ctrl-C, by `kill -9` of the command alone, or by
`kill -9` of all its processes. At any moment:

- every repository of create or import, and every bundle, is whole or absent; every other file of
  the user is as before, or as after the run;
- the next run completes it: all files, and the packages and libraries, equal those of an
  uninterrupted run, and nothing else is beside them or in the temporary folder;
- no process is left; Ctrl-C leaves no temporary files, and prints one line.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

from opkit.check.child_processes import kill_marked
from tests.models.models import detection_head, saved
from tests.processes import marked
from tests.repositories import EXAMPLES, ROOT, generate_example
from tests.rknn_op.older import add_work, age

VENDOR_REPOSITORY = ROOT / "tests/data/vendor_repository"
MARK = "RKNN_OP_KILLED"
INTERRUPTED = 130
"""The exit status after Ctrl-C."""
TIMEOUT = 60.0
"""Maximum seconds until the processes of a killed command have ended."""

Files = dict[str, str]
"""Path -> digest of the file."""


@dataclass(frozen=True)
class Kind:
    """A kind of run to interrupt.

    Attributes:
        prepare: makes the files before the run, in an empty folder.
        commands: the arguments of `rknn-op`; one list is chosen for each moment.
        unit: the count of leading path parts that name an all-or-nothing unit; 0: all parts.
        generated: prefixes of the paths that the next run may still have to repair.
        repair: the commands after an interruption; empty: the same command again.
    """

    prepare: Callable[[Path], None]
    commands: Sequence[Sequence[str]]
    unit: int = 0
    generated: tuple[str, ...] = ()
    repair: Sequence[Sequence[str]] = ()


@dataclass
class Interruption:
    """An interrupted run and its result.

    Attributes:
        command: the arguments of `rknn-op`.
        how: the way of interruption, a key of WAYS.
        moment: the seconds after its start.
        hit: whether it was still running.
        problems: violations of the promises of this module.
        seconds: until the end of its last process.
    """

    command: Sequence[str]
    how: str
    moment: float
    hit: bool = False
    problems: list[str] = field(default_factory=list)
    seconds: float = 0.0


def interrupt(process: subprocess.Popen[bytes]) -> None:
    """Press Ctrl-C: the terminal sends SIGINT to the whole process group."""
    os.killpg(process.pid, signal.SIGINT)


def kill_all(process: subprocess.Popen[bytes]) -> None:
    """Kill the command and all its processes, as the end of a container does."""
    kill_marked(mark())


CTRL_C = "Ctrl-C"
WAYS: dict[str, Callable[[subprocess.Popen[bytes]], None]] = {
    CTRL_C: interrupt,
    "kill -9": subprocess.Popen.kill,
    "kill -9 of all": kill_all,
}


# ---- The files before a run ----------------------------------------------------------------------


def descriptions(folder: Path) -> None:
    """Write three descriptions."""
    for name in ("exp", "truncate_div", "row_mean"):
        shutil.copy(EXAMPLES / name / f"{name}.yml", folder)


def older_repository(folder: Path) -> None:
    """Make a repository of an older version that contains a user's work."""
    rknn_op(folder, "create", "-c", str(EXAMPLES / "exp/exp.yml"), "-p", "made")
    age(folder / "made")
    add_work(folder / "made")


def vendor_repository(folder: Path) -> None:
    """Copy a repository of the vendor's tool."""
    shutil.copytree(VENDOR_REPOSITORY, folder / "AddScaled")


def repository(folder: Path) -> None:
    """Make a repository that builds."""
    with redirect_stdout(sys.stderr):
        generate_example(folder, "exp").path.rename(folder / "made")


def built_repository(folder: Path) -> None:
    """Make a repository and build it for this PC."""
    repository(folder)
    rknn_op(folder, "build", "-p", "made", "-t", "x64")


def library_repository(folder: Path) -> None:
    """Make a repository of an operator of the library."""
    rknn_op(folder, "create", "--library", "GridSample", "--runtime", "rknn2", "-p", "op")


def model_and_repository(folder: Path) -> None:
    """Write a model, and make a repository of one of its operators."""
    saved(detection_head(), folder)
    library_repository(folder)


def nothing(folder: Path) -> None:
    """Leave the folder empty."""


BUILD = ("build", "-p", "made", "-t", "all")
CHECK = ("check", "-p", "made")
ALL = tuple(f"{name}.yml" for name in ("exp", "truncate_div", "row_mean"))
KINDS: dict[str, Kind] = {
    "create": Kind(
        descriptions,
        [("create", "-c", "exp.yml", "-p", "made/exp"), ("create", "-p", "made", "-c", *ALL)],
        unit=2,
    ),
    "update": Kind(
        older_repository,
        [("update", "made")],
        generated=("made/opkit", "made/generated", "made/rknn_"),
    ),
    "demo": Kind(nothing, [("demo", "exp", "-p", "made")], unit=1, generated=("made",)),
    "lint": Kind(built_repository, [("lint", "made"), ("update", "--dry-run", "made")]),
    "rename": Kind(
        repository,
        [("rename", "Zoom", "-p", "made")],
        generated=("made/generated", "made/rknn_", "made/op.yml"),
    ),
    "graft": Kind(model_and_repository, [("graft", "model.onnx", "-p", "op", "-o", "out.onnx")]),
    "bundle": Kind(
        library_repository,
        [("bundle", "-p", "op", "-t", "rk3588", "-o", "out")],
        unit=1,
        generated=("op",),
    ),
    "import": Kind(vendor_repository, [("import", "AddScaled", "-p", "made")], unit=1),
    "build": Kind(repository, [BUILD, ("build", "-p", "made", "-t", "rv1126")], repair=[BUILD]),
    "check": Kind(repository, [CHECK, (*CHECK, "--", "target=rv1126")], repair=[BUILD, CHECK]),
}


# ---- Running and checking ------------------------------------------------------------------------


def environment() -> dict[str, str]:
    """Return the environment of the command."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def start(folder: Path, *arguments: str, log: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    """Start `rknn-op` in a folder, as the leader of a process group, as a shell does."""
    return subprocess.Popen(
        [sys.executable, "-m", "rknn_op", *arguments],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
        # A background job of a script ignores SIGINT, and its children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def rknn_op(folder: Path, *arguments: str) -> str:
    """Run `rknn-op`; return its output if it failed, else an empty text."""
    done = subprocess.run(
        [sys.executable, "-m", "rknn_op", *arguments],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr if done.returncode else ""


def mark() -> str:
    """Return the entry that marks the environment of all processes of a run."""
    return f"{MARK}={os.environ[MARK]}"


def files(folder: Path) -> Files:
    """Return all files except git's and a build's intermediate files."""
    return {
        name: hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
        for path in sorted(folder.rglob("*"))
        if (name := path.relative_to(folder).as_posix()) and not is_of_build(Path(name))
    }


def is_of_build(path: Path) -> bool:
    """Return whether a file is git's or an intermediate file of a build, not a product."""
    parts = path.parts[1:]
    if parts[:1] == (".git",):
        return True
    if "__pycache__" in parts or path.name.startswith(".sconsign") or ".cache" in parts:
        return True
    is_product = path.suffix in (".rknnop", ".so") and len(parts) == 3
    return parts[:1] == ("build",) and not is_product


def leftovers() -> list[str]:
    """Return the content of the folder for temporary files, without onnxruntime's mark."""
    return sorted(str(path) for path in Path(os.environ["TMPDIR"]).iterdir() if path.name != ".ses")


def wholes(kind: Kind, found: Files) -> dict[str, Files]:
    """Return the files of each unit, without the generated ones."""
    units: dict[str, Files] = {}
    for path, digest in found.items():
        if not path.startswith(kind.generated) or not kind.generated:
            parts = path.split("/")
            unit = "/".join(parts[: kind.unit or len(parts)])
            if unit != path or digest != "folder":
                units.setdefault(unit, {})[path] = digest
    return units


def interrupted(kind: Kind, found: Files, before: Files, after: Files, is_tidy: bool) -> list[str]:
    """Return the differences both from the files before and from the files after a run."""
    then, now, end = (wholes(kind, each) for each in (before, found, after))
    lost = [f"{unit} is lost" for unit in {*then} & {*end} if unit not in now]
    extra = [unit for unit in now if unit not in then and unit not in end]
    mixed = [
        f"{unit} is neither old nor new"
        for unit, its in now.items()
        if unit not in extra and its not in (then.get(unit), end.get(unit))
    ]
    if not is_tidy:
        extra = [unit for unit in extra if not unit.rpartition("/")[2].startswith(".")]
    return [*lost, *mixed, *(f"{unit} is left" for unit in extra)]


def differences(found: Files, expected: Files) -> list[str]:
    """Return the differences from an uninterrupted run."""
    paths = sorted({path for path, _ in found.items() ^ expected.items()})
    return [f"{path} differs from an uninterrupted run" for path in paths[:5]]


def attempt(kind: Kind, result: Interruption, folder: Path, after: Files) -> None:
    """Start a run, interrupt it, check its files, and complete it."""
    before = files(folder)
    with tempfile.TemporaryFile() as log:
        run = start(folder, *result.command, log=log.fileno())
        time.sleep(result.moment)
        result.hit = run.poll() is None
        if result.hit:
            WAYS[result.how](run)
        result.seconds = ended_after(run)
        log.seek(0)
        printed = log.read().decode(errors="replace")
    if result.seconds > TIMEOUT:
        result.problems.append("processes are left")
    is_tidy = result.how == CTRL_C or not result.hit
    if result.hit and is_tidy and not is_one_line(run.returncode, printed):
        result.problems.append(f"status {run.returncode}: {printed}")
    if is_tidy:
        result.problems += [f"{path} is left" for path in leftovers()]
    result.problems += interrupted(kind, files(folder), before, after, is_tidy)
    result.problems += complete(kind, result.command, folder, after)


def is_one_line(status: int, printed: str) -> bool:
    """Return whether Ctrl-C added a line and nothing else, or came before the command's code."""
    if status == INTERRUPTED:
        last = printed.rstrip().rpartition("\n")[2]
        return last.startswith("interrupted") and not re.search("Traceback|Build interr", printed)
    return status != 0 and "rknn_op/" not in printed  # Python's own start prints a traceback


def ended_after(run: subprocess.Popen[bytes]) -> float:
    """Wait for all processes of a run, kill them after the timeout, and return the seconds."""
    since = time.monotonic()
    run.wait()
    while marked(mark()):
        time.sleep(0.02)
        if time.monotonic() - since > TIMEOUT:
            kill_all(run)
    return time.monotonic() - since


def complete(kind: Kind, command: Sequence[str], folder: Path, after: Files) -> list[str]:
    """Complete an interrupted run; return the remaining problems."""
    problems = []
    is_complete = files(folder) == after  # then the command may refuse to begin
    for each in kind.repair or [command]:
        output = rknn_op(folder, *each)
        if output and not (is_complete or (kind.unit and "already exists" in output)):
            problems.append(f"`rknn-op {' '.join(each)}` failed: {output}")
    problems += differences(files(folder), after)
    return problems + [f"{path} is left" for path in leftovers()]


def uninterrupted(kind: Kind, folder: Path) -> tuple[list[Files], list[float]]:
    """Run each command and its repair; return all files, and the seconds of the command."""
    ends, durations = [], []
    place = folder / "here"  # one path for all runs, as debug information contains it
    for command in kind.commands:
        shutil.copytree(folder / "before", place)
        since = time.monotonic()
        problem = rknn_op(place, *command)
        durations.append(time.monotonic() - since)
        problem += "".join(rknn_op(place, *each) for each in kind.repair)
        if problem:
            raise SystemExit(problem)
        ends.append(files(place))
        shutil.rmtree(place)
    return ends, durations


def interruptions(kind: Kind, moments: int, chance: random.Random) -> Iterator[Interruption]:
    """Interrupt the commands of a kind at random moments, each way as often as the others.

    A run may end before its moment, as it may be faster than the measured one: it is checked as
    well, and another run replaces it.
    """
    with tempfile.TemporaryDirectory() as name, temporary_folder(Path(name)):
        folder = Path(name)
        (folder / "before").mkdir()
        kind.prepare(folder / "before")
        ends, durations = uninterrupted(kind, folder)
        hits = 0
        while hits < moments:
            which = chance.randrange(len(kind.commands))
            place = folder / "here"
            shutil.copytree(folder / "before", place)
            if kind.repair and chance.random() < 0.3:  # then less is built
                for each in kind.repair:
                    rknn_op(place, *each)
            how = [*WAYS][hits % len(WAYS)]
            moment = chance.uniform(0, durations[which])
            result = Interruption(kind.commands[which], how, moment)
            attempt(kind, result, place, ends[which])
            hits += result.hit
            shutil.rmtree(place)
            yield result


@contextmanager
def temporary_folder(folder: Path) -> Iterator[None]:
    """Give all processes their own temporary files and caches, and the mark."""
    (folder / "tmp").mkdir()
    os.environ |= {
        MARK: secrets.token_hex(8),  # does not appear in /proc/self/environ of this process
        "TMPDIR": str(folder / "tmp"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "ZIG_GLOBAL_CACHE_DIR": os.environ.get(
            "ZIG_GLOBAL_CACHE_DIR", str(Path.home() / ".cache/zig")
        ),
    }
    yield


def main() -> int:
    """Run the interruptions and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--moments", type=int, default=12, help="interruptions of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=[*KINDS])
    arguments = parser.parse_args()
    bad = total = 0
    for name in arguments.kinds:
        chance = random.Random(f"{arguments.seed} {name}")
        slowest = 0.0
        for result in interruptions(KINDS[name], arguments.moments, chance):
            slowest = max(slowest, result.seconds)
            bad += bool(result.problems)
            total += 1
            state = "BAD" if result.problems else "good" if result.hit else "good, but too late"
            print(
                f"{' '.join(result.command)}: {result.how} at {result.moment:.2f} s: {state}",
                flush=True,
            )
            print("".join(f"    {problem}\n" for problem in result.problems), end="", flush=True)
        print(
            f"{name}: {arguments.moments} were interrupted while they ran; the last process ended "
            f"{slowest:.1f} s after at most",
            flush=True,
        )
    print(f"{bad} of {total} went wrong")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
