"""SCons tools of this runtime, and their declarations."""

from opkit.runtimes.rknn2.scons import deploy, librknnrt, plugin, simulator

TOOLS = (plugin, deploy, simulator, librknnrt)
