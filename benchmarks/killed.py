"""Interrupts `rknn-op` at random moments, and looks at what is there, and what the next run makes.

    python -m benchmarks.killed [--moments 12] [--seed 1] [--kinds create update migrate ...]

At each moment of each kind a run is ended by Ctrl-C, by `kill -9` of the command alone, or by
`kill -9` of all that it has started. Whatever the moment is:

- every repository that create or import makes is there as a whole or not at all; every other file
  of the user's is as it was, or as the run makes it;
- the next run completes it: all files, and the packages and libraries, are those that a run makes
  which nobody interrupts, and nothing else is beside them or in the temporary folder;
- no process is left, and Ctrl-C leaves nothing for the next run to tidy up, nor a traceback.
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

from opkit.check.processes import kill_marked
from tests.processes import marked
from tests.repositories import EXAMPLES, ROOT, generate_example
from tests.rknn_op.older import add_work, age

VENDOR_REPOSITORY = ROOT / "tests/data/vendor_repository"
MARK = "RKNN_OP_KILLED"
IMPORT = r"_find_and_load|(?m:^ +(from \S+ )?import )"
"""In a traceback: a module was being imported."""
PATIENCE = 60.0
"""Seconds in which what a killed command has started must end."""

Files = dict[str, str]
"""Path -> digest of what is in the file."""


@dataclass(frozen=True)
class Kind:
    """What is interrupted.

    Attributes:
        prepare: makes what is there before, in an empty folder.
        commands: the arguments of `rknn-op`; one list is chosen for each moment.
        unit: how many parts of a path name what must be there as a whole; 0: all parts.
        ours: the beginnings of the paths that only the next run has to bring in order.
        mend: the commands that follow an interruption; none: the same again.
    """

    prepare: Callable[[Path], None]
    commands: Sequence[Sequence[str]]
    unit: int = 0
    ours: tuple[str, ...] = ()
    mend: Sequence[Sequence[str]] = ()


@dataclass
class Interruption:
    """What became of an interrupted run.

    Attributes:
        command: the arguments of `rknn-op`.
        how: what ended it.
        moment: the seconds after its start.
        hit: whether it was still running.
        problems: what is wrong with it.
        seconds: how long the last process took to end.
    """

    command: Sequence[str]
    how: str
    moment: float
    hit: bool = False
    problems: list[str] = field(default_factory=list)
    seconds: float = 0.0


def interrupt(process: subprocess.Popen[bytes]) -> None:
    """Press Ctrl-C: the terminal sends it to all of the group."""
    os.killpg(process.pid, signal.SIGINT)


def kill_all(process: subprocess.Popen[bytes]) -> None:
    """Kill the command and all that it has started, as a container that ends does."""
    kill_marked(mark())


CTRL_C = "Ctrl-C"
WAYS: dict[str, Callable[[subprocess.Popen[bytes]], None]] = {
    CTRL_C: interrupt,
    "kill -9": subprocess.Popen.kill,
    "kill -9 of all": kill_all,
}


# ---- What is there before ------------------------------------------------------------------------


def descriptions(folder: Path) -> None:
    """Write three descriptions."""
    for name in ("exp", "truncate_div", "reduce_mean"):
        shutil.copy(EXAMPLES / name / f"{name}.yml", folder)


def older_repository(folder: Path) -> None:
    """Make a repository of an older version with a user's work in it."""
    rknn_op(folder, "create", "-c", str(EXAMPLES / "exp/exp.yml"), "-p", "made")
    age(folder / "made")
    add_work(folder / "made")


def repository_of_0_1(folder: Path) -> None:
    """Make a repository with the last version that had opkit in a folder, and commit it."""
    file = "{{cookiecutter.op_name}}/opkit/VERSION"
    found = git(ROOT, "log", "-1", "--no-renames", "--diff-filter=D", "--format=%H", "--", file)
    commit = found.decode().strip()
    if not commit:
        raise SystemExit("migrate: needs the history of this repository, back to 0.1.0")
    with tempfile.TemporaryDirectory() as name:
        archive = git(ROOT, "archive", f"{commit}^")
        subprocess.run(["tar", "-x", "-C", name], input=archive, check=True)
        create = ("create", "-c", "examples/exp/exp.yml", "-p", str(folder / "made"))
        subprocess.run(
            [sys.executable, "-m", "rknn_op", *create], cwd=name, stdout=sys.stderr, check=True
        )
    add_work(folder / "made")
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
        git(folder / "made", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments)


def git(folder: Path, *arguments: str) -> bytes:
    """Run git in a folder and return what it prints."""
    return subprocess.run(
        ["git", "-C", folder, *arguments], stdout=subprocess.PIPE, check=True
    ).stdout


def vendor_repository(folder: Path) -> None:
    """Copy a repository that the vendor's tool made."""
    shutil.copytree(VENDOR_REPOSITORY, folder / "AddScaled")


def repository(folder: Path) -> None:
    """Make a repository that builds."""
    with redirect_stdout(sys.stderr):
        generate_example(folder, "exp").path.rename(folder / "made")


BUILD = ("build", "-p", "made", "-t", "all")
CHECK = ("check", "-p", "made")
ALL = tuple(f"{name}.yml" for name in ("exp", "truncate_div", "reduce_mean"))
KINDS: dict[str, Kind] = {
    "create": Kind(
        descriptions,
        [("create", "-c", "exp.yml", "-p", "made/exp"), ("create", "-p", "made", "-c", *ALL)],
        unit=2,
    ),
    "update": Kind(
        older_repository, [("update", "made")], ours=("made/opkit", "made/generated", "made/rknn_")
    ),
    "migrate": Kind(
        repository_of_0_1,
        [("update", "made")],
        ours=("made/opkit", "made/generated", "made/.rknn_"),
    ),
    "import": Kind(vendor_repository, [("import", "AddScaled", "-p", "made")], unit=1),
    "build": Kind(repository, [BUILD, ("build", "-p", "made", "-t", "rv1126")], mend=[BUILD]),
    "check": Kind(repository, [CHECK, (*CHECK, "--", "target=rv1126")], mend=[BUILD, CHECK]),
}


# ---- Running and looking -------------------------------------------------------------------------


def environment() -> dict[str, str]:
    """Return the environment of the command."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def start(folder: Path, *arguments: str, log: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    """Start `rknn-op` in a folder, as the first of a group of processes, as a shell does."""
    return subprocess.Popen(
        [sys.executable, "-m", "rknn_op", *arguments],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
        # What a script starts in its background does not hear of Ctrl-C, nor do we then.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def rknn_op(folder: Path, *arguments: str) -> str:
    """Run `rknn-op`; return what it printed if it failed."""
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
    """Return what all that is started has in its environment."""
    return f"{MARK}={os.environ[MARK]}"


def files(folder: Path) -> Files:
    """Return all files, but git's, and what a build has for itself."""
    return {
        name: hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
        for path in sorted(folder.rglob("*"))
        if (name := path.relative_to(folder).as_posix()) and not is_of_build(Path(name))
    }


def is_of_build(path: Path) -> bool:
    """Whether git or a build has a file for itself: products are none of these."""
    parts = path.parts[1:]
    if parts[:1] == (".git",):
        return True
    if "__pycache__" in parts or path.name.startswith(".sconsign") or ".cache" in parts:
        return True
    is_product = path.suffix in (".rknnop", ".so") and len(parts) == 3
    return parts[:1] == ("build",) and not is_product


def leftovers() -> list[str]:
    """Return what is in the folder for temporary files."""
    return sorted(map(str, Path(os.environ["TMPDIR"]).iterdir()))


def wholes(kind: Kind, found: Files) -> dict[str, Files]:
    """Return the files of each unit, but those that are ours."""
    units: dict[str, Files] = {}
    for path, digest in found.items():
        if not path.startswith(kind.ours) or not kind.ours:
            parts = path.split("/")
            unit = "/".join(parts[: kind.unit or len(parts)])
            if unit != path or digest != "folder":
                units.setdefault(unit, {})[path] = digest
    return units


def interrupted(kind: Kind, found: Files, before: Files, after: Files, is_tidy: bool) -> list[str]:
    """Return what is neither as before nor as after a run."""
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
    """Return what differs from an uninterrupted run."""
    paths = sorted({path for path, _ in found.items() ^ expected.items()})
    return [f"{path} differs from an uninterrupted run" for path in paths[:5]]


def attempt(kind: Kind, result: Interruption, folder: Path, after: Files) -> None:
    """Start a run, interrupt it, look at what is there, and complete it."""
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
    if result.seconds > PATIENCE:
        result.problems.append("processes are left")
    is_tidy = result.how == CTRL_C or not result.hit
    # Python has tracebacks of its own while it imports modules, and pytest while it ends.
    _, _, frames = printed.partition("Traceback")
    is_ours = re.search(r"(opkit|rknn_op)/", frames) and not re.search(IMPORT, frames)
    if result.hit and is_tidy and (is_ours or not run.returncode):
        result.problems.append(f"status {run.returncode}: {printed}")
    if is_tidy:
        result.problems += [f"{path} is left" for path in leftovers()]
    result.problems += interrupted(kind, files(folder), before, after, is_tidy)
    result.problems += complete(kind, result.command, folder, after)


def ended_after(run: subprocess.Popen[bytes]) -> float:
    """Wait for a run and all that it has started; kill what goes on; return the seconds."""
    since = time.monotonic()
    run.wait()
    while marked(mark()):
        time.sleep(0.02)
        if time.monotonic() - since > PATIENCE:
            kill_all(run)
    return time.monotonic() - since


def complete(kind: Kind, command: Sequence[str], folder: Path, after: Files) -> list[str]:
    """Run what completes an interrupted run; return what is wrong then."""
    problems = []
    is_complete = files(folder) == after  # then the command may refuse to begin
    for each in kind.mend or [command]:
        said = rknn_op(folder, *each)
        if said and not (is_complete or (kind.unit and "already exists" in said)):
            problems.append(f"`rknn-op {' '.join(each)}` failed: {said}")
    problems += differences(files(folder), after)
    return problems + [f"{path} is left" for path in leftovers()]


def uninterrupted(kind: Kind, folder: Path) -> tuple[list[Files], list[float]]:
    """Run each command, and what completes it; return all files, and the seconds of the command."""
    ends, durations = [], []
    place = folder / "here"  # which is in debug information
    for command in kind.commands:
        shutil.copytree(folder / "before", place)
        since = time.monotonic()
        problem = rknn_op(place, *command)
        durations.append(time.monotonic() - since)
        problem += "".join(rknn_op(place, *each) for each in kind.mend)
        if problem:
            raise SystemExit(problem)
        ends.append(files(place))
        shutil.rmtree(place)
    return ends, durations


def interruptions(kind: Kind, moments: int, chance: random.Random) -> Iterator[Interruption]:
    """Interrupt the commands of a kind at random moments, each way as often as the others.

    A moment after the end of the run, which may be faster than the one that was measured, is
    looked at as well, and another takes its place.
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
            if kind.mend and chance.random() < 0.3:  # there is less to build, and more to check
                for each in kind.mend:
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
    """Let all that is started have temporary files and caches of its own, and our mark."""
    (folder / "tmp").mkdir()
    os.environ |= {
        MARK: secrets.token_hex(8),  # not in /proc's environ of this process
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
    parser.add_argument("--moments", type=int, default=12, help="of each kind")
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
