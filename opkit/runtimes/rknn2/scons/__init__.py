"""SCons tools of this runtime, and what they declare."""

from opkit.runtimes.rknn2.scons import deploy, plugin, simulator

TOOLS = (plugin, deploy, simulator)
