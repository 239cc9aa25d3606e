"""The one exception that a user's mistake raises."""


class OpkitError(Exception):
    """Something that the user can put right.

    The message is complete: it names the file and line or the command, the bad value, what is
    allowed, and what to do next. Whoever is at the top (a hook, SCons, the command) prints it and
    exits with a status that is not 0, without a traceback.
    """
