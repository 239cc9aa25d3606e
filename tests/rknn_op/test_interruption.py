"""`rknn-op`, Ctrl-C and `kill -9`; `python -m benchmarks.killed` tries many more moments."""

from __future__ import annotations

import codecs
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rknn_op.interrupt import Interrupted
from tests.marks import slow_first
from tests.processes import marked
from tests.repositories import EXAMPLES, ROOT, Repository
from tests.rknn_op.command import rknn_op, snapshot, succeeded
from tests.rknn_op.older import age

pytestmark = pytest.mark.slow

READY = """
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
print("ready", flush=True)
from rknn_op import __main__, interrupt

def watch(usual=interrupt.watch):
    usual()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])

interrupt.watch = watch
__main__.main()
"""
"""`rknn-op` after Python's own start, which Ctrl-C ends by a traceback."""


def start(*command: str, **environment: str) -> subprocess.Popen[str]:
    """Start a command of Python as the leader of a process group, as a shell does."""
    return subprocess.Popen(
        [sys.executable, *command],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        bufsize=1,
        start_new_session=True,
        # A background job of a script ignores SIGINT, and its children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def wait_for(process: subprocess.Popen[str], beginning: str) -> None:
    """Read the output of a process up to a line with this beginning."""
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(beginning):
            return
    raise AssertionError(process.communicate())


def assert_none_left(mark: str) -> None:
    """Check that the processes with a mark end soon."""
    end = time.monotonic() + 20
    while marked(mark):
        assert time.monotonic() < end
        time.sleep(0.01)


def test_interrupted_demo_leaves_nothing(folder: Path) -> None:
    demo = start("-m", "rknn_op", "demo", "exp", DEMO=str(folder))
    wait_for(demo, "$ scons")
    demo.send_signal(signal.SIGINT)  # to the command alone, which stops its own children
    _, errors = demo.communicate()
    assert (demo.returncode, errors) == (130, "interrupted: exp is removed\n")
    assert not [*folder.iterdir()]
    assert not marked(f"DEMO={folder}")


@pytest.mark.parametrize("kills_all", slow_first(1, [True, False]))
def test_killed_demo_does_not_stop_the_next_one(folder: Path, kills_all: bool) -> None:
    demo = start("-m", "rknn_op", "demo", "exp", DEMO=str(folder))
    wait_for(demo, "$ scons")
    for process in marked(f"DEMO={folder}") if kills_all else [demo.pid]:
        os.kill(process, signal.SIGKILL)
    demo.communicate()
    assert_none_left(f"DEMO={folder}")
    (folder / "exp/half").write_text("written")
    after = start("-m", "rknn_op", "demo", "exp")
    wait_for(after, "$ scons")
    assert not (folder / "exp/half").exists()
    another = start("-m", "rknn_op", "demo", "exp")
    _, errors = another.communicate()
    assert errors == "error: exp: another demo is making it; wait, or pass another folder\n"
    if kills_all:
        after.send_signal(signal.SIGINT)
        _, errors = after.communicate()
        assert (after.returncode, errors) == (130, "interrupted: exp is removed\n")
    else:
        output, errors = after.communicate()
        assert (after.returncode, errors) == (0, "")
        assert " passed in " in output
    assert not [*folder.rglob(".unfinished*")]


def test_demo_removes_no_other_folder(folder: Path) -> None:
    (folder / "exp").mkdir()
    done = rknn_op("demo", "exp")
    assert "exp already exists" in done.stderr


def test_interrupted_import_of_modules_is_one_line(folder: Path) -> None:
    """Ctrl-C during the imports, before the command begins, prints no traceback."""
    (folder / "click.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    run = start("-m", "rknn_op", "--help", PYTHONPATH=f"{folder}:{ROOT}")
    assert (*run.communicate(), run.returncode) == ("", "interrupted\n", 130)


def test_worker_ignores_an_interruption_from_its_first_moment(folder: Path) -> None:
    """The terminal sends Ctrl-C to the workers, too, whether or not they have begun."""
    program = (
        "import os, signal\n"
        "from rknn_op.process_pool import parallel\n"
        "os.register_at_fork(after_in_child=lambda: os.kill(os.getpid(), signal.SIGINT))\n"
        "print([*parallel(abs, [-1, -2, -3])])\n"
    )
    run = start("-c", program)
    assert (*run.communicate(), run.returncode) == ("[1, 2, 3]\n", "", 0)


def test_second_interruption_does_not_stop_the_cleanup(folder: Path) -> None:
    (folder / "click.py").write_text(
        "import os, signal\n"
        "try:\n    os.kill(os.getpid(), signal.SIGINT)\n"
        "finally:\n    os.kill(os.getpid(), signal.SIGINT)\n    print('cleaned')\n"
    )
    run = start("-m", "rknn_op", "--help", PYTHONPATH=f"{folder}:{ROOT}")
    assert (*run.communicate(), run.returncode) == ("cleaned\n", "interrupted\n", 130)


def test_ignored_interruption_stays_ignored(folder: Path) -> None:
    """A background job of a script is not interrupted by Ctrl-C."""
    code = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nprint('goes on')\n"
    (folder / "click.py").write_text(code)
    ignored = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
    command = f"{ignored}; from rknn_op.__main__ import main; main()"
    run = start("-c", command, PYTHONPATH=f"{folder}:{ROOT}")
    assert run.communicate()[0] == "goes on\n"


EXP = str(EXAMPLES / "exp/exp.yml")
DIV = str(EXAMPLES / "truncate_div/truncate_div.yml")
VERBS = {
    "lint": ("lint", "made"),
    "create": ("create", "-c", EXP, "-p", "new"),
    "create many": ("create", "-c", EXP, "-c", DIV, "-p", "new"),
    "import": ("import", str(ROOT / "tests/data/vendor_repository"), "-p", "new"),
    "update": ("update", "old"),
    "inspect": ("inspect", "made/build/rv1126/MyOperator.rknnop", "--extract", "new"),
    "diff": ("diff", *("made/build/rv1126/MyOperator.rknnop",) * 2),
    "build": ("build", "-p", "made", "-t", "all"),
    "check": ("check", "-p", "made"),
    "check many": ("check", "-p", "made", "-p", "other"),
}
SECONDS = {"build": 2.0, "check": 2.0, "check many": 2.0, "update": 1.0}


@pytest.mark.parametrize("verb", slow_first(3, VERBS))
def test_interruption_at_any_moment_is_one_line(
    verb: str, folder: Path, copy_of_fresh: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(folder / "tmp"))
    shutil.copytree(copy_of_fresh.path, folder / "made", symlinks=True)
    if verb == "check many":
        shutil.copytree(copy_of_fresh.path, folder / "other", symlinks=True)
    if verb == "update":
        succeeded("create", "-c", EXP, "-p", "old")
        age(folder / "old")
    before = {*sources(folder)}
    moments = random.Random(f"22 {verb}")
    for _ in range(4):
        run = start("-c", READY, *VERBS[verb], RUN=str(folder))
        wait_for(run, "ready")
        time.sleep(moments.uniform(0, SECONDS.get(verb, 0.5)))
        os.killpg(run.pid, signal.SIGINT)
        _, errors = run.communicate()
        if run.returncode == 130:
            # They print more than one line without an error, too.
            is_long = verb in ("build", "inspect")
            last = errors.splitlines()[-1] if is_long else errors.rstrip("\n")
            assert last == "interrupted"
            assert "Traceback" not in errors
            assert_none_left(f"RUN={folder}")
            assert not [*(folder / "tmp").iterdir()]
        else:
            assert run.returncode == 0, errors
        if (folder / "new").exists():
            shutil.rmtree(folder / "new")
        left = {*sources(folder)} - before
        assert verb == "update" or not left, left
        assert not [path for path in left if path.endswith(".new")]


def sources(folder: Path) -> list[str]:
    """Return the paths of all files but those of builds, and of Python's and pytest's caches."""
    caches = ("/build/", "/.pytest_cache/", "/__pycache__/")
    return [path for path in snapshot(folder) if not any(each in path for each in caches)]


def test_interruption_of_a_codec_keeps_its_text() -> None:
    def interrupted(*_: object) -> tuple[str, int]:
        raise Interrupted("the folder is removed")

    def find(name: str) -> codecs.CodecInfo | None:
        codec = codecs.CodecInfo(encode=codecs.utf_8_encode, decode=interrupted, name=name)
        return codec if name == "interrupted" else None

    codecs.register(find)
    try:
        with pytest.raises(Interrupted) as caught:
            b"text".decode("interrupted")
    finally:
        codecs.unregister(find)
    assert (caught.value.done, str(caught.value)) == ("the folder is removed",) * 2
