"""`rknn-op demo`, and Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.processes import marked
from tests.repositories import ROOT


def test_interrupted_demo_leaves_nothing(folder: Path) -> None:
    demo = subprocess.Popen(
        [sys.executable, "-m", "rknn_op", "demo", "exp"],
        env={**os.environ, "PYTHONPATH": str(ROOT), "DEMO": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        bufsize=1,
        # What a script starts in its background does not hear of Ctrl-C, nor do we then.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert demo.stdout is not None
    for line in demo.stdout:
        if line.startswith("$ scons"):
            break
    demo.send_signal(signal.SIGINT)  # to it alone: it tells what it has started
    _, errors = demo.communicate()
    assert (demo.returncode, errors) == (130, "interrupted: exp is removed\n")
    assert not [*folder.iterdir()]
    assert not marked(f"DEMO={folder}")
