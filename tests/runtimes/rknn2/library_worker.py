"""Converts and simulates models of many operators; runs in the Python of RKNN-Toolkit2.

    python library_worker.py TARGET

Each line of stdin is a request as for opkit's simulator_worker.py, with one more key: `folder`, of
the operator's scripts. The toolkit is imported once, and each model has a process of its own.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from rknn.api import RKNN as RKNN  # before the first fork, because it takes seconds

SCRIPTS = Path(__file__).parents[3] / "opkit/runtimes/rknn2"


def answer(target: str, request: dict[str, Any]) -> dict[str, str]:
    """Run a case of an operator; return its answer."""
    sys.path[:0] = [str(SCRIPTS), request.pop("folder")]
    worker = import_module("simulator_worker").Worker(target)
    return dict(worker.answer(request))


def main() -> None:
    """Answer every line of stdin; that of a process that ended is a problem."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    [target] = sys.argv[1:]
    for line in sys.stdin:
        reader, writer = os.pipe()
        if os.fork() == 0:
            with os.fdopen(writer, "w") as file:
                file.write(json.dumps(answer(target, json.loads(line))))
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as file:
            answers.write(file.read() or json.dumps({"problem": "ended without an answer"}))
        answers.write("\n")
        os.wait()


if __name__ == "__main__":
    main()
