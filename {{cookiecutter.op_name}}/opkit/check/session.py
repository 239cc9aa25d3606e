"""What `scons check` tells pytest: one file, which the option --opkit-session names."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from opkit.check.executors import Place


@dataclass(frozen=True)
class Session:
    """Where the cases run, and what is written of it.

    Attributes:
        places: where the CPU kernel runs besides this PC's own process.
        log: the file that says which tests were collected and what came of each; see run_log.
        records: the folder for what `scons report` shows; None: nothing is kept.
    """

    places: tuple[Place, ...] = ()
    log: Path | None = None
    records: Path | None = None

    def write(self, file: Path) -> None:
        """Write the session to a file, whose folder is made if it is not there."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(asdict(self), default=str), encoding="utf-8")

    @classmethod
    def read(cls, file: Path) -> Session:
        """Return the session that write has written."""
        fields = json.loads(file.read_text(encoding="utf-8"))
        return cls(
            tuple(Place(**place) for place in fields["places"]),
            *(Path(fields[name]) if fields[name] else None for name in ("log", "records")),
        )
