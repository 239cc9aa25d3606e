"""SCons tools of this runtime."""

from opkit.runtimes.rknn2.scons import deploy, plugin, simulator

TOOLS = (plugin, deploy, simulator)
