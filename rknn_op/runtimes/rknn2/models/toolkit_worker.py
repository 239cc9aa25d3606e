"""Builds models for a chip and simulates them; runs in the Python of RKNN-Toolkit2.

    python toolkit_worker.py WORK

It runs in a folder where the toolkit's files may stay. WORK is a JSON file:

    target   the chip
    models   for each model:
             model     the ONNX model
             package   the .rknn file to write
             inputs    the .npz file with the arrays of the inputs, in order; empty: no simulation
             outputs   the .npz file to write, with the arrays of the outputs, in order
             log       the file to write: the toolkit's output, whose last line is the reason if
                       the toolkit refuses the model
             rules     the rules of the toolkit's optimizer to disable

Each model has a process of its own, because the toolkit crashes on some. Standard output is a JSON
object: `version` of the toolkit, and `statuses`, the exit status of each model's process, negative
for a signal.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rknn.api import RKNN

_TIMEOUT = 1800
"""Maximum seconds for a model."""


def _build(target: str, work: dict[str, Any]) -> str:
    """Build and simulate a model; return why the toolkit refuses it; empty if it does not."""
    disabled = {"disable_rules": work["rules"]} if work["rules"] else {}
    rknn = RKNN(verbose=False)
    steps: list[tuple[str, Callable[[], Any]]] = [
        ("config", lambda: rknn.config(target_platform=target, **disabled)),
        ("load_onnx", lambda: rknn.load_onnx(work["model"])),
        ("build", lambda: rknn.build(do_quantization=False)),
        ("export_rknn", lambda: rknn.export_rknn(work["package"])),
    ]
    if work["inputs"]:
        steps += [
            ("init_runtime", rknn.init_runtime),
            ("inference", lambda: _simulate(rknn, work["inputs"], work["outputs"])),
        ]
    for name, step in steps:
        try:
            status = step()
        except Exception as error:  # any type: the toolkit raises its libraries' own
            lines = str(error).strip().splitlines()
            return f"{name}: {lines[-1] if lines else type(error).__name__}"
        if status not in (0, None):
            return f"{name} returned {status}"
    return ""


def _simulate(rknn: Any, inputs: str, outputs: str) -> int:
    with np.load(inputs) as file:
        results = rknn.inference([*file.values()], data_format="nchw")
    if results is None:
        return -1
    np.savez(outputs, *results)
    return 0


def _process(target: str, work: dict[str, Any]) -> int:
    """Build a model in a process of its own; return its exit status."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    log = os.open(work["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    signal.alarm(_TIMEOUT)
    reason = _build(target, work)
    sys.stdout.flush()
    sys.stderr.flush()
    if reason:
        os.write(log, f"\n{reason}\n".encode())
    os._exit(bool(reason))


def main() -> None:
    """Build the models of the command line's file."""
    work = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    statuses = [_process(work["target"], each) for each in work["models"]]
    version = importlib.metadata.version("rknn-toolkit2")
    print(json.dumps({"version": version, "statuses": statuses}))


if __name__ == "__main__":
    main()
