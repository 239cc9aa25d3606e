"""This runtime's part of the README of a generated repository."""

from __future__ import annotations

from opkit.description.spec import OpSpec
from opkit.runtimes.files import Readme
from opkit.runtimes.rknn import target_table
from opkit.runtimes.rknn.describe import DESCRIBE
from opkit.runtimes.rknn.settings import settings
from opkit.text import render

_PARTS = "the kernels, and the class with which the toolkit converts models"
_PRODUCT = "builds and packs build/{target}/{name}.rknnop"
_FILE = """\
| `rknn_kernel_{lower}.c` | {holds}; works as generated | yours |
"""
_SERIAL = f"With {DESCRIBE.title}, {DESCRIBE.single_thread}; there the math runs in that thread."
_COMMANDS = """\
| `scons target=rv1126` | builds and packs for that chip; `target=all`: for every chip; \
`target=x64`: the PC's library |
"""
_VX_FILE = """\
| `rknn_kernel_{lower}.vx` | the program for the NPU's PPU; not needed with `kernels: [cpu]` in \
`op.yml` | yours |
"""
_VX_COMMANDS = """\
| `scons vx` | compiles the VX kernel for this PC and prints errors and warnings |
| `scons vx-gdb case=NAME run=1` | starts gdb at the first line of the VX kernel, in the case of \
that name |
"""
_VX_GDB = """\
    scons vx-gdb case=NAME run=1     # the VX kernel, in the emulator
"""
_VX_EDITOR = """\
The `.vx` file is OpenCL C. Tell the editor so: in VS Code
`"files.associations": {"*.vx": "c"}`, in Vim `autocmd BufRead *.vx setfiletype c`.
"""
_ADD_VX_KERNEL = """\
## A kernel for the NPU

This operator runs on the CPU alone. To give it a kernel for the NPU, write `kernels: [cpu, vx]` in
`op.yml` and run `scons`: it writes the kernel and prints the other parts to add.
"""


def readme(spec: OpSpec) -> Readme:
    """Return the README's text on kernels, chips and the toolkit's class."""
    both = settings(spec).has_vx_kernel
    target = DESCRIBE.target_of(spec)
    names = {"name": spec.name, "lower": spec.lower, "target": spec.target_platform}
    vx = "README_vx_elementwise.md" if spec.elementwise else "README_vx.md"
    holds = "the launch of the VX kernel, tables, set-up" if both else "tables, set-up"
    key = f" 'vx_file: rknn_kernel_{spec.lower}.vx'" if both else ""
    common = render(
        "runtimes/rknn/templates/README_rknn.md",
        targets=target_table.markdown(),
        vx_key=key,
        **names,
    )
    sections = (
        [_VX_EDITOR, render(f"runtimes/rknn/templates/{vx}", lower=spec.lower), common]
        if both
        else [_ADD_VX_KERNEL, common]
    )
    return Readme(
        runtime="Rockchip's RKNN-Toolkit 1.x",
        parts=_PARTS,
        target=target,
        product=_PRODUCT.format(name=spec.name, target=target),
        files=_FILE.format(holds=holds, **names)
        + (_VX_FILE.format(**names) if both and not spec.elementwise else ""),
        generated=(
            f"rknn_op_{spec.lower}.py",
            "makefile.linux.*",
            *((f"rknn_kernel_{spec.lower}.vx",) if both and spec.elementwise else ()),
        ),
        commands=_COMMANDS + (_VX_COMMANDS if both else ""),
        debugging=_VX_GDB if both else "",
        suffixes=(".vx",) if both else (),
        serial=_SERIAL,
        sections="\n".join(text.strip("\n") + "\n" for text in sections),
    )
