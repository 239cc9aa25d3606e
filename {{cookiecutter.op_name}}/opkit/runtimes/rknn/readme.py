"""The README of a generated repository."""

from __future__ import annotations

from opkit.description.spec import OpSpec
from opkit.runtimes.rknn import target_table
from opkit.text import fill

_VX_FILE = """\
| `rknn_kernel_{lower}.vx` | the program for the NPU's PPU; not needed with `kernels: [cpu]` in \
`op.yml` | yours |
"""
_VX_COMMANDS = """\
| `scons vx` | compiles the VX kernel for this PC and shows what is wrong with it |
| `scons vx-gdb case=NAME run=1` | starts gdb at the first line of the VX kernel, in the case of \
that name |
"""
_VX_GDB = """\
    scons vx-gdb case=NAME run=1     # the VX kernel, in the emulator
"""
_VX_EDITOR = """
The `.vx` file is OpenCL C, which the editor has to be told: in VS Code
`"files.associations": {"*.vx": "c"}`, in Vim `autocmd BufRead *.vx setfiletype c`.
"""
_ADD_VX_KERNEL = """
This operator runs on the CPU alone. To give it a kernel for the NPU, write `kernels: [cpu, vx]` in
`op.yml` and run `scons`: it writes the file for it and says what else to add.
"""


def readme(spec: OpSpec) -> str:
    """Return the text of README.md."""
    both = spec.has_vx_kernel
    return fill(
        "README.md",
        name=spec.name,
        lower=spec.lower,
        target=spec.target_platform,
        targets=target_table.markdown(),
        kernel_file="the launch of the VX kernel, tables, set-up" if both else "tables, set-up",
        vx_file=_VX_FILE.format(lower=spec.lower) if both else "",
        vx_commands=_VX_COMMANDS if both else "",
        or_vx=" or of the VX kernel" if both else "",
        vx_gdb=_VX_GDB if both else "",
        suffixes="`.c`, `.h` and `.vx`" if both else "`.c` and `.h`",
        vx_editor=_VX_EDITOR if both else "",
        vx_kernel=fill("README_vx.md", lower=spec.lower) + "\n" if both else "",
        add_vx_kernel="" if both else _ADD_VX_KERNEL,
    )
