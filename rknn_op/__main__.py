"""Starts `rknn-op`; `python -m rknn_op` is the same."""

from __future__ import annotations

import signal
import sys


def main() -> None:
    """Run the command; Ctrl-C while its modules are being imported ends it without a traceback."""
    try:
        from rknn_op.command import main as command
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
    command(prog_name="rknn-op")


if __name__ == "__main__":
    main()
