"""SCons tools of this runtime, one file each."""

from opkit.runtimes.rknn.scons import (
    debugger,
    device_library,
    host,
    kernel,
    package,
    static_harness,
    vx_kernel,
)

TOOLS = (device_library, kernel, host, static_harness, package, vx_kernel, debugger)
