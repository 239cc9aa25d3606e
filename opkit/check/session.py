"""The session of `scons check` for pytest, in the file of the option --opkit-session."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from opkit.check.mistakes import REPOSITORY
from opkit.runtimes.executor import Executor

FILE = Path("build/check/session.json")
LOG = Path("build/check/log.jsonl")


@dataclass(frozen=True)
class Session:
    """The executors of the cases, and the files for the results.

    Attributes:
        executors: the executors of the CPU kernel besides this PC.
        log: the file for the collected tests and their outcomes; see run_log.
        records: the folder for the records of `scons report`; None: no records.
        simulators: the executors of the reference as part of a converted model.
        vendor_runtimes: the executors of the CPU kernel in the vendors' own runtimes.
        notes: sentences for the end of the run.
        quick: whether cases run only in processes of their own.
        time_limit: the time limit of a kernel, in seconds; None: the default.
        case: the name of the only case to run; empty: all.
        fuzz: the count of random shapes for each test function, besides the check's own.
        seed: the seed of these shapes.
    """

    executors: tuple[Executor, ...] = ()
    log: Path | None = None
    records: Path | None = None
    simulators: tuple[Executor, ...] = ()
    vendor_runtimes: tuple[Executor, ...] = ()
    notes: tuple[str, ...] = ()
    quick: bool = False
    time_limit: float | None = None
    case: str = ""
    fuzz: int = 0
    seed: int = 0

    def write(self, file: Path) -> None:
        """Write the session to a file; create its folder if absent."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(asdict(self), default=str), encoding="utf-8")

    @classmethod
    def read(cls, file: Path) -> Session:
        """Return the session in a file of write()."""
        fields = json.loads(file.read_text(encoding="utf-8"))
        found = {
            name: tuple(Executor(**executor) for executor in fields[name])
            for name in ("executors", "simulators", "vendor_runtimes")
        }
        log, records = (Path(fields[name]) if fields[name] else None for name in ("log", "records"))
        notes = tuple(fields["notes"])
        return cls(
            **found,
            log=log,
            records=records,
            notes=notes,
            quick=fields["quick"],
            time_limit=fields["time_limit"],
            case=fields["case"],
            fuzz=fields["fuzz"],
            seed=fields["seed"],
        )


def command(verbosity: str = "-q") -> list[str]:
    """Return the command that runs the cases of the session in FILE."""
    return [
        # Without pytest's short summary, which tells each failure again, on CI in long lines.
        *(sys.executable, "-m", "pytest", verbosity, "-rN"),
        *("-p", "opkit.check.pytest_plugin", f"--opkit-session={FILE}"),
        *("-o", "empty_parameter_set_mark=fail_at_collect"),
    ]


def repository_of(path: Path) -> Path:
    """Return the operator repository of a test's file, by default this process's."""
    return next((folder for folder in path.parents if (folder / "op.yml").is_file()), REPOSITORY)
