"""Start `rknn-op`; `python -m rknn_op` is the same."""

from __future__ import annotations

import os
import signal
import sys


def main() -> None:
    """Run the command; end the process with its status.

    Ctrl-C during the import of modules gives no traceback either. Ends by os._exit(): Python's own
    exit would free every object, which takes an eighth of the time of `rknn-op lint`.
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
            if stream is not None:  # None if the file was closed before
                stream.flush()
        except OSError:  # a closed pipe, or a full disk
            status = status or 1
    os._exit(status)


if __name__ == "__main__":
    main()
