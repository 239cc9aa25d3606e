"""Ctrl-C: one line, and exit status 130, at any moment."""

import os

STATUS = 130
"""The exit status: 128 and the number of SIGINT."""


class Interrupted(BaseException):
    """The user pressed Ctrl-C.

    Not a KeyboardInterrupt, for which click prints a line of its own. Within a codec, Python
    replaces the text of an exception, but not that of a class with a constructor.

    Attributes:
        done: what was done about it, if anything.
    """

    def __init__(self, done: str = "") -> None:
        super().__init__(done)
        self.done = done


def watch() -> None:
    """Raise Interrupted at the first SIGINT; ignore further ones, which would stop the cleanup.

    A process that ignores SIGINT, such as a background job of a script, still does.
    """
    import signal  # only here: main() handles Ctrl-C during this import

    def interrupt(*_: object) -> None:
        if os.getpid() != main:  # a forked worker: the parent prints the message
            os._exit(STATUS)
        ignore()
        raise Interrupted

    main = os.getpid()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)


def ignore() -> None:
    """Ignore SIGINT from now on."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
