"""Kills `scons` and `scons check` at random moments, and looks at what the next one makes of it.

    python -m benchmarks.killed [--kills 20] [--seed 1] [--seconds 6]

Each kill is by SIGKILL and of scons alone. The next `scons target=all` and `scons check` have to
pass, every product has to be the one of a build that nobody killed, and the user's files have to be
as they were.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.repositories import Repository, generate_example

COMMANDS = (("target=all",), ("check",), ("target=rv1126", "check"))


def digests(folder: Path, *patterns: str) -> dict[str, str]:
    """Return path -> digest of the files that match one of the patterns."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for pattern in patterns
        for path in sorted(folder.glob(pattern))
        if path.is_file() and "__pycache__" not in path.parts
    }


def products(root: Path) -> dict[str, str]:
    """Return the digests of what is delivered."""
    return digests(root, "build/*/*.rknnop", "build/x64/*.so", "build/a*/*.so")


def sources(root: Path) -> dict[str, str]:
    """Return the digests of the files that git keeps."""
    return digests(root, "*", "generated/*", "tests/*", "opkit/**/*")


def kill(repository: Repository, command: tuple[str, ...], seconds: float) -> bool:
    """Start scons and kill it after some time; return whether it was still running."""
    run = subprocess.Popen(
        [sys.executable, "-m", "SCons", "-Q", *command],
        cwd=repository.path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(seconds)
    was_running = run.poll() is None
    run.kill()
    run.wait()
    return was_running


def build(repository: Repository) -> str:
    """Build for all targets and check; return the output of what fails."""
    for arguments in (("target=all",), ("target=all", "check")):
        run = repository.scons(*arguments, check=False, path=os.environ["PATH"])
        if run.returncode:
            return run.stdout + run.stderr
    return ""


def main() -> int:
    """Run the kills and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=6, help="the latest moment of a kill")
    arguments = parser.parse_args()
    moments = random.Random(arguments.seed)
    failures = hits = 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = f"{folder}/cache"
        os.environ.setdefault("ZIG_GLOBAL_CACHE_DIR", str(Path.home() / ".cache/zig"))
        repository = generate_example(Path(folder), "exp")
        build(repository)
        expected = products(repository.path), sources(repository.path)
        for number in range(arguments.kills):
            command = moments.choice(COMMANDS)
            seconds = moments.uniform(0, arguments.seconds)
            if moments.random() < 0.7:  # else there is less to build, and more to check
                shutil.rmtree(repository.path / "build")
            hit = kill(repository, command, seconds)
            hits += hit
            problem = build(repository)
            found = products(repository.path), sources(repository.path)
            good = not problem and found == expected
            failures += not good
            print(
                f"{number + 1}: scons {' '.join(command)}, {'killed' if hit else 'done'} after "
                f"{seconds:.2f} s: {'as before' if good else 'DIFFERENT'}",
                flush=True,
            )
            if not good:
                for before, now in zip(expected, found, strict=True):
                    print(*sorted(dict(before.items() ^ now.items())), sep="\n")
                print(problem)
    print(f"{hits} of {arguments.kills} were killed; {failures} were not mended by the next")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
