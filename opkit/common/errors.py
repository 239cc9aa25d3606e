"""The one exception for errors of the user."""


class OpkitError(Exception):
    """An error that the user can correct.

    The message is complete: it names the file and line or the command, the bad value, what is
    allowed, and what to do next. The entry point (a hook, SCons, the command) prints it and exits
    with a nonzero status, without a traceback.
    """
