"""python -m opkit.mutation PLAN: try changes of the repository in the working directory."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

INTERRUPTED = 128 + signal.SIGINT


def main(plan_file: str) -> int:
    """Try the changes of a plan, and print the report.

    Returns:
        0 even if changes live; 1 if none could be tried.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        # Imports take long enough to be interrupted.
        from opkit.common.errors import OpkitError
        from opkit.common.text import wrapped
        from opkit.mutation.plan import Plan
        from opkit.mutation.run import run
        from opkit.mutation.trials import killing_children

        try:
            with killing_children() as kill:
                print(run(Plan.read(Path(plan_file)), Path.cwd(), kill))
        except (OpkitError, OSError) as error:
            print(wrapped(f"error: {error}"), file=sys.stderr)
            return 1
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
