"""Measure the time of `rknn-op` and of a warm check, as whole processes, as Markdown tables.

    python -m benchmarks.command [--runs 15] [--repositories 1000] [--checked resize_area]
        [--output benchmarks]

Prints the tables; with --output, writes them into RESULTS.md of that folder. Fails with the list
of the figures that are worse than those in that file, or else in this folder's, by a quarter.

The command is installed from its wheel, with its bytecode.
"""

from __future__ import annotations

import compileall
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks import results_file
from tests.repositories import generate_example

ROOT = Path(__file__).resolve().parent.parent
COMMAND = "python -m benchmarks.command --output benchmarks"
EXAMPLE = ROOT / "operators/exp/exp.yml"
ENTRY_POINT = "from rknn_op.__main__ import main; main()"  # as the script that pip installs
AIMS = {
    "--help": 0.150,
    "lint YAML": 0.080,
    "lint DIR": 0.080,
    "inspect": 0.200,
    "create": 0.120,
    "demo": 5.0,
}
"""Verb, and what it takes -> maximum seconds of one run."""
AIM_OF_MANY = 0.0035
"""Maximum seconds for each of many new repositories."""
AIM_OF_LINT = 0.009
"""Maximum seconds for the lint of each of many repositories."""
FIGURES = ("ms", "s", "ms each", "lint: ms each", "MB")
"""The columns with figures of which less is better."""
CHECKED = "resize_area"
"""The example of the warm check that the aims are for."""
NO_PATH = "/nonexistent"  # hides the emulators
CHECKS = {
    "`scons check quick=1`": (["quick=1"], NO_PATH, None),
    "`scons check`, without qemu": ([], NO_PATH, 2.0),
    "`scons check`, with qemu": ([], os.environ.get("PATH", NO_PATH), 4.0),
}
"""Command -> its options, PATH, and the maximum seconds of one run."""


def build_wheel(folder: Path) -> Path:
    """Build the wheel of this checkout in a folder and return its path."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


@dataclass(frozen=True)
class Run:
    """The cost of a run.

    Attributes:
        seconds: from start to end.
        megabytes: peak memory of its largest process.
    """

    seconds: float
    megabytes: float


class Installed:
    """The command as a user has it.

    Args:
        folder: of the installation, and the working directory.
    """

    def __init__(self, folder: Path) -> None:
        site = folder / "site"
        with zipfile.ZipFile(build_wheel(folder)) as archive:
            archive.extractall(site)  # as pip does
        compileall.compile_dir(site, quiet=2)
        self.folder = folder
        inherited = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        self.environment = {**inherited, "PYTHONPATH": str(site)}

    def run(self, *arguments: str, **variables: str) -> Run:
        """Run the command, with more variables in its environment, and return its cost."""
        with tempfile.TemporaryFile("w+") as printed:
            start = time.perf_counter()
            process = subprocess.Popen(
                [sys.executable, "-c", ENTRY_POINT, *arguments],
                cwd=self.folder,
                env={**self.environment, **variables},
                stdout=printed,
                stderr=printed,
            )
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.perf_counter() - start
            process.returncode = os.waitstatus_to_exitcode(status)
            printed.seek(0)
            assert process.returncode == 0, printed.read()
        return Run(seconds, usage.ru_maxrss / 1024)


def single_runs(command: Installed, runs: int) -> dict[str, float]:
    """Return the median time of each verb."""
    shutil.copy(EXAMPLE, command.folder / "exp.yml")
    command.run("create", "-c", "exp.yml", "-p", "built")
    command.run("build", "-p", "built", "-t", "rv1126")
    times: dict[str, list[float]] = {verb: [] for verb in AIMS}
    for index in range(runs):  # in turns: other load on the machine affects all verbs alike
        words = {
            "--help": [],
            "lint YAML": ["exp.yml"],
            "lint DIR": ["built"],
            "inspect": ["built/build/rv1126/Exp.rknnop"],
            "create": ["-c", "exp.yml", "-p", f"made{index}"],
            "demo": ["-p", f"demo{index}"],
        }
        for name, seconds in times.items():
            caches = {"XDG_CACHE_HOME": str(command.folder / f"caches{index}"), "PATH": NO_PATH}
            variables = caches if name == "demo" else {}  # of a new user
            verb = name.partition(" ")[0]
            seconds.append(command.run(verb, *words[name], **variables).seconds)
    return {verb: statistics.median(seconds) for verb, seconds in times.items()}


def warm_checks(folder: Path, example: str, runs: int) -> dict[str, float]:
    """Return the median time of each kind of check, each in a repository of the example."""
    repositories = {}
    for index, (name, (options, path, _)) in enumerate(CHECKS.items()):
        repositories[name] = generate_example(folder / f"check{index}", example)
        repositories[name].scons("check", *options, path=path)
    times: dict[str, list[float]] = {name: [] for name in CHECKS}
    for _ in range(runs):
        for name, (options, path, _aim) in CHECKS.items():
            start = time.perf_counter()
            repositories[name].scons("check", *options, path=path)
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(seconds) for name, seconds in times.items()}


@dataclass(frozen=True)
class Many:
    """The cost of many repositories in one call.

    Attributes:
        count: the number of repositories.
        seconds: for each.
        copying: the seconds of `cp -r` for each, right after it.
        lint: the seconds of `rknn-op lint` of all, for each.
        megabytes: peak memory of the largest process.
    """

    count: int
    seconds: float
    copying: float
    lint: float
    megabytes: float


def many(command: Installed, counts: list[int]) -> list[Many]:
    """Make repositories, copy and lint them, as many as each count says."""
    results = []
    for count in counts:
        names = []
        for index in range(count):
            name = f"{count}_{index}.yml"
            text = EXAMPLE.read_text().replace("name: Exp", f"name: Exp{index}")
            (command.folder / name).write_text(text)
            names.append(name)
        # All stay until the end: a file system may look for long at what was deleted just before.
        folder = command.folder / f"made_{count}"
        run = command.run("create", "-p", str(folder), "-c", *names)
        assert len([*folder.iterdir()]) == count
        start = time.perf_counter()
        subprocess.run(["cp", "-r", folder, f"{folder}_copied"], check=True)
        copying = time.perf_counter() - start
        lint = command.run("lint", *map(str, folder.iterdir())).seconds
        results.append(
            Many(count, run.seconds / count, copying / count, lint / count, run.megabytes)
        )
    return results


def section(
    singles: dict[str, float],
    example: str,
    checks: dict[str, float],
    many: list[Many],
    runs: int,
) -> str:
    """Return the benchmark's section of RESULTS.md."""
    rows = [
        [f"`rknn-op {verb}`", f"{AIMS[verb] * 1000:.0f}", f"{seconds * 1000:.0f}"]
        for verb, seconds in singles.items()
    ]
    rows_of_checks = [
        [name, "" if (aim := CHECKS[name][2]) is None else f"{aim:.1f}", f"{seconds:.2f}"]
        for name, seconds in checks.items()
    ]
    rows_of_many = [
        [
            f"{each.count:,}",
            f"{AIM_OF_MANY * 1000:.1f}",
            f"{each.seconds * 1000:.1f}",
            f"{each.copying * 1000:.1f}",
            f"{AIM_OF_LINT * 1000:.1f}",
            f"{each.lint * 1000:.1f}",
            f"{each.megabytes:.0f}",
        ]
        for each in many
    ]
    return f"""
## The command

    {COMMAND}

{results_file.machine()}; {results_file.medians(runs)}, as whole
processes.

{results_file.table(["", "aim: at most ms", "ms"], rows)}

### A warm check

Of the example `{example}`, built before.

{results_file.table(["", "aim: at most s", "s"], rows_of_checks)}

### Many repositories in one call

`rknn-op create -c *.yml`, of descriptions as the example's, all processors together, and right
after it `cp -r` of what it made, both onto a disk; then `rknn-op lint` of all of them. The memory
is that of the largest process of `create`.

{results_file.table(_HEAD_OF_MANY, rows_of_many)}
"""


_HEAD_OF_MANY = [
    *("repositories", "aim: at most ms each", "ms each", "`cp -r`: ms each"),
    *("lint: aim", "lint: ms each", "MB"),
]


def main() -> None:
    """Measure, and print or write the section."""
    parser = results_file.parser("command", __doc__, runs=15)
    parser.add_argument("--repositories", type=int, default=1000)
    parser.add_argument("--checked", default=CHECKED, help="the example of the warm check")
    parser.add_argument("--work", type=Path, help="the folder to work in; default: a temporary one")
    options = parser.parse_args()
    counts = [max(1, options.repositories // part) for part in (4, 2, 1)]
    with tempfile.TemporaryDirectory(dir=options.work) as folder:
        command = Installed(Path(folder))
        singles = single_runs(command, options.runs)  # before the system has much to write
        checks = warm_checks(Path(folder), options.checked, options.runs)
        costs = many(command, counts)
        text = section(singles, options.checked, checks, costs, options.runs)
    before = results_file.section_of(options.output or Path(__file__).parent, "command")
    results_file.finish(options.output, "command", text)
    if worse := results_file.worse(before, text, FIGURES):
        sys.exit("worse than the last record by a quarter:\n" + "\n".join(worse))


if __name__ == "__main__":
    main()
