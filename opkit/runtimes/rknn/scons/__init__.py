"""SCons tools of this runtime, one file each."""

from opkit.runtimes.rknn.scons import package, vx_debugger, vx_kernel

TOOLS = (package, vx_kernel, vx_debugger)
