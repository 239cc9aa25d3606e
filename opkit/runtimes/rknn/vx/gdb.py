"""Prints a gdb command that stops in the VX kernel, for `scons vx-gdb`.

`python -m opkit.runtimes.rknn.vx.gdb CASE [run]`, as opkit.check.debug.
"""

from __future__ import annotations

import sys

from opkit.check import debug
from opkit.check.operators import Operator
from opkit.runtimes.invocation import Invocation
from opkit.runtimes.rknn.vx_checks import vx_kernel


def vx_kernel_command(operator: Operator, invocation: Invocation) -> list[str]:
    """Return the gdb command that stops at the VX kernel's first line.

    Raises:
        OpkitError: the kernel or its initializer is wrong.
    """
    return vx_kernel(operator).gdb_command(invocation, operator.root / "build" / "vx" / "gdb")


if __name__ == "__main__":
    sys.exit(debug.main(sys.argv[1:], vx_kernel_command))
