"""SCons tools of this runtime."""

from opkit.runtimes.pplnn.scons import apply, engine

TOOLS = (apply, engine)
