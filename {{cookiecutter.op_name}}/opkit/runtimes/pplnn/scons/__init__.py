"""SCons tools of this runtime."""

from opkit.runtimes.pplnn.scons import library

TOOLS = (library,)
