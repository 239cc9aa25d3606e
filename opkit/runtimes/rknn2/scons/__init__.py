"""SCons tools of this runtime, and their declarations."""

from opkit.runtimes.rknn2.scons import deploy, librknnrt, plugin, toolkit_python

TOOLS = (plugin, deploy, toolkit_python, librknnrt)
