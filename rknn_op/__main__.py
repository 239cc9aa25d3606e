"""Starts `rknn-op`; `python -m rknn_op` is the same."""

from __future__ import annotations

import os
import signal
import sys


def main() -> None:
    """Run the command, and end the process with its status.

    Ctrl-C while modules are being imported ends it without a traceback, too. The end is the
    system's: before it, Python would free every object, for an eighth of the time of
    `rknn-op lint`.
    """
    try:
        from rknn_op.command import main as command

        command(prog_name="rknn-op")
        status = 0
    except KeyboardInterrupt:
        status = 128 + signal.SIGINT
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:  # as it is where the file was closed before
                stream.flush()
        except OSError:  # nobody reads it, or there is no room for it
            status = status or 1
    os._exit(status)


if __name__ == "__main__":
    main()
