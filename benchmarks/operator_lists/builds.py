"""Build the models of a folder for a chip; runs in the Python of RKNN-Toolkit2.

    python builds.py FOLDER TARGET

Writes NAME.rknn beside each NAME.onnx, or NAME.txt with the reason why there is none. Each model is
built in a process of its own, because the toolkit crashes on some.
"""

import os
import signal
import sys
from pathlib import Path
from typing import Any

from rknn.api import RKNN

TIMEOUT = 120
"""Maximum seconds for a model."""


def build(model: Path, target: str) -> str:
    """Build a model; return the reason for a failure, or an empty text."""
    rknn: Any = RKNN(verbose=False)
    try:
        rknn.config(target_platform=target)
        status = (
            rknn.load_onnx(str(model))
            or rknn.build(do_quantization=False)
            or rknn.export_rknn(str(model.with_suffix(".rknn")))
        )
    except Exception as error:  # any type: the toolkit raises its libraries' own
        return str(error) or type(error).__name__
    return f"status {status}" if status else ""


def main() -> None:
    """Build the models of the folder of the command line."""
    folder, target = sys.argv[1:]
    os.chdir(folder)  # the toolkit writes files there
    for model in sorted(Path.cwd().glob("*.onnx")):
        reasons = model.with_suffix(".txt")
        child = os.fork()
        if not child:
            silent = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silent, 1)
            os.dup2(silent, 2)
            signal.alarm(TIMEOUT)
            if reason := build(model, target):
                reasons.write_text(reason)
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status:
            reasons.write_text(f"it ends with status {status}")


if __name__ == "__main__":
    main()
