"""`rknn-op`, and Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.processes import marked
from tests.repositories import ROOT


def start(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    """Start the command."""
    return subprocess.Popen(
        [sys.executable, "-m", "rknn_op", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        bufsize=1,
        # A background job of a script ignores SIGINT, and its children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def test_interrupted_demo_leaves_nothing(folder: Path) -> None:
    demo = start("demo", "exp", DEMO=str(folder))
    assert demo.stdout is not None
    for line in demo.stdout:
        if line.startswith("$ scons"):
            break
    demo.send_signal(signal.SIGINT)  # to the command alone, which stops its own children
    _, errors = demo.communicate()
    assert (demo.returncode, errors) == (130, "interrupted: exp is removed\n")
    assert not [*folder.iterdir()]
    assert not marked(f"DEMO={folder}")


def test_interrupted_import_of_modules_is_quiet(folder: Path) -> None:
    """Ctrl-C during the imports, before the command begins, prints no traceback."""
    (folder / "click.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    run = start("--help", PYTHONPATH=f"{folder}:{ROOT}")
    assert (*run.communicate(), run.returncode) == ("", "", 130)
