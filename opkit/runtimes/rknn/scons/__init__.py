"""SCons tools of this runtime, one file each."""

from opkit.runtimes.rknn.scons import (
    device_library,
    host,
    package,
    vx_debugger,
    vx_kernel,
)

TOOLS = (device_library, host, package, vx_kernel, vx_debugger)
