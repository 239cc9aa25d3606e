"""SCons tools of this runtime, one file each."""

from opkit.runtimes.rknn.scons import driver, package, vx_debugger, vx_kernel

TOOLS = (package, driver, vx_kernel, vx_debugger)
