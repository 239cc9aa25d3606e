"""Start `rknn-op`; `python -m rknn_op` is the same."""

from __future__ import annotations

import gc
import os
import sys

from rknn_op import interrupt

_OBJECTS = 100_000
"""The count of new objects after which Python looks for garbage."""


def main() -> None:
    """Run the command; end the process with its status.

    Ends by os._exit(): Python's own exit would free every object, which takes an eighth of the time
    of `rknn-op lint`. The imports' objects all live: looking for garbage among them takes a tenth.
    """
    gc.set_threshold(_OBJECTS)
    try:
        status = _run()
    except (interrupt.Interrupted, KeyboardInterrupt) as interrupted:
        status = interrupt.STATUS
        done = getattr(interrupted, "done", "")
        print(f"interrupted: {done}" if done else "interrupted", file=sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:  # None if the file was closed before
                stream.flush()
        except OSError:  # a closed pipe, or a full disk
            status = status or 1
    os._exit(status)


def _run() -> int:
    """Run the command and return its status.

    Raises:
        Interrupted: by Ctrl-C, also during the import of modules.
        KeyboardInterrupt: by Ctrl-C before the first one of them.
    """
    try:
        interrupt.watch()
        from rknn_op.cli import main as command

        command(prog_name="rknn-op")
        return 0
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    finally:
        interrupt.ignore()


if __name__ == "__main__":
    main()
