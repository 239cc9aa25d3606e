"""Messages and progress on a terminal: 80 columns, colors, and steps that disappear."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from opkit.common.terminal import message
from tests.models.models import detector, saved
from tests.repositories import ROOT, generate, installed_opkit
from tests.rknn_op.command import process, rknn_op

LONG = "name: Exp\ninputs: {x: {type: VX_TYPE_TENSOR}}\noutputs: {y: {type: VX_TYPE_BLOB}}\n"
PATH = "a/folder/with/a/long/path/to/the/description/of_an_operator.yml"


def on_terminal(folder: Path, *words: str, stream: str = "stderr", **environment: str) -> str:
    """Run Python with a terminal as stderr or stdout; return the text on it."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name not in ("NO_COLOR", "FORCE_COLOR", "PY_COLORS")
    }
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, *words],
        cwd=folder,
        env=inherited | {"TERM": "xterm", "PYTHONPATH": str(ROOT)} | environment,
        stdout=theirs if stream == "stdout" else subprocess.DEVNULL,
        stderr=theirs if stream == "stderr" else subprocess.DEVNULL,
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            shown += os.read(ours, 4096)
        except OSError:  # the end of the output, on Linux
            break
    process.wait()
    os.close(ours)
    return shown.decode().replace("\r\n", "\n")


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*[mK]", "", text)


def test_errors_fit_into_80_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Elsewhere a message is one line."""
    file = tmp_path / PATH
    file.parent.mkdir(parents=True)
    file.write_text(LONG)
    words = ("-m", "rknn_op", "create", "-c", PATH)
    shown = plain(on_terminal(tmp_path, *words))
    assert shown.startswith(f"error: {PATH}:3:\n  outputs.y")
    assert shown.count("\n") > 1
    assert all(len(line) <= 80 for line in shown.splitlines())
    monkeypatch.chdir(tmp_path)
    one_line = rknn_op("create", "-c", PATH).stderr
    assert one_line.count("\n") == 1
    assert shown.split() == one_line.split()


def test_code_in_messages_is_not_wrapped() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    code = f"    return {'x + ' * 20}x;"
    shown = message("warning", f"{'word ' * 20}\n{code}\n", Terminal()).splitlines()
    assert len(shown) == 3
    assert shown[-1] == code


def test_complaints_fit_into_80_columns(tmp_path: Path) -> None:
    (tmp_path / "long.yml").write_text(LONG.replace("x:", "x_y:").replace("BLOB", "B" * 30))
    shown = on_terminal(tmp_path, "-m", "rknn_op", "lint", "long.yml", stream="stdout")
    assert "outputs.y.type" in shown
    assert len(shown.splitlines()) > 1
    assert all(len(line) <= 80 for line in shown.splitlines())


@pytest.mark.parametrize(
    ("environment", "is_red"),
    [
        ({}, True),
        ({"NO_COLOR": "1"}, False),
        ({"NO_COLOR": "1", "PY_COLORS": "1"}, True),
        ({"TERM": "dumb"}, False),
    ],
)
def test_colors(environment: dict[str, str], is_red: bool, tmp_path: Path) -> None:
    shown = on_terminal(tmp_path, "-m", "rknn_op", "create", "-c", "no.yml", **environment)
    assert ("\x1b[31merror:\x1b[0m no.yml" in shown) == is_red
    assert plain(shown).startswith("error: no.yml")
    assert ("\x1b" in shown) == is_red


def test_forced_colors(tmp_path: Path) -> None:
    done = process("create", "-c", "no.yml", cwd=tmp_path, FORCE_COLOR="1")
    assert done.stderr.startswith("\x1b[31merror:\x1b[0m no.yml")


def test_scons_has_the_same_messages(tmp_path: Path) -> None:
    repository = generate(tmp_path, LONG.replace("BLOB", "TENSOR"))
    words = ("-m", "SCons", "-Q", "target=rk35888")
    shown = on_terminal(repository.path, *words, PYTHONPATH=installed_opkit())
    assert shown.startswith("\x1b[31merror:\x1b[0m target=rk35888")
    assert all(len(line) <= 80 for line in plain(shown).splitlines())


@pytest.mark.slow
def test_steps_are_erased(tmp_path: Path) -> None:
    file = saved(detector(), tmp_path)
    words = ("-m", "rknn_op", "create", "--from", str(file), "--op", "GridSample", "-p", "made")
    shown = on_terminal(tmp_path, *words)
    assert "running the model, to record cases ...\r\x1b[K" in shown
    assert rknn_op(*words[2:-1], tmp_path / "again").stderr == ""
