"""The session of `scons check` for pytest, in the file of the option --opkit-session."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from opkit.check.mistakes import REPOSITORY
from opkit.runtimes.executor import Executor


@dataclass(frozen=True)
class Session:
    """The executors of the cases, and the files for the results.

    Attributes:
        executors: the executors of the CPU kernel besides this PC.
        log: the file for the collected tests and their outcomes; see run_log.
        records: the folder for the records of `scons report`; None: no records.
        simulators: the executors of the reference as part of a converted model.
        notes: sentences for the end of the run.
    """

    executors: tuple[Executor, ...] = ()
    log: Path | None = None
    records: Path | None = None
    simulators: tuple[Executor, ...] = ()
    notes: tuple[str, ...] = ()

    def write(self, file: Path) -> None:
        """Write the session to a file; create its folder if absent."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(asdict(self), default=str), encoding="utf-8")

    @classmethod
    def read(cls, file: Path) -> Session:
        """Return the session in a file of write()."""
        fields = json.loads(file.read_text(encoding="utf-8"))
        executors, simulators = (
            tuple(Executor(**executor) for executor in fields[name])
            for name in ("executors", "simulators")
        )
        log, records = (Path(fields[name]) if fields[name] else None for name in ("log", "records"))
        return cls(executors, log, records, simulators, tuple(fields["notes"]))


def repository_of(path: Path) -> Path:
    """Return the operator repository of a test's file, by default this process's."""
    return next((folder for folder in path.parents if (folder / "op.yml").is_file()), REPOSITORY)
