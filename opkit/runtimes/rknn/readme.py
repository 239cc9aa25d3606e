"""This runtime's part of the README of a generated repository."""

from __future__ import annotations

from opkit.description.spec import OpSpec
from opkit.files.operator_texts import CASE_DTYPE, has_only
from opkit.runtimes.files import Readme
from opkit.runtimes.rknn.describe import DESCRIBE
from opkit.runtimes.rknn.settings import settings
from opkit.text import render

_PRODUCT = "builds and packs build/{target}/{name}.rknnop"
_COMMANDS = """\
| `scons target=rv1126` | builds and packs for that chip; `target=all`: for every chip |
"""
_VX_COMMANDS = """\
| `scons vx` | compiles the VX kernel for this PC |
| `scons vx-gdb case=NAME run=1` | stops in the VX kernel, in that case |
"""
_PAGES = """\
| chips, versions, errors on the board, conversion with RKNN-Toolkit 1.x | `rknn.md` |
"""
_VX_PAGES = """\
| the VX kernel, for the NPU | [docs/vx.md](docs/vx.md) |
"""


def readme(spec: OpSpec) -> Readme:
    """Return the README's text on kernels, chips and the toolkit's class."""
    lower, target = spec.lower, DESCRIBE.target_of(spec)
    both = settings(spec).has_vx_kernel
    vx = f"rknn_kernel_{lower}.vx"
    is_written = both and not spec.elementwise
    return Readme(
        runtime="Rockchip's RKNN-Toolkit 1.x",
        target=target,
        product=_PRODUCT.format(name=spec.name, target=target),
        files=(f"rknn_kernel_{lower}.c", *((vx,) if is_written else ())),
        generated=(
            f"rknn_op_{lower}.py",
            "makefile.linux.*",
            *((vx,) if both and spec.elementwise else ()),
        ),
        commands=_COMMANDS + (_VX_COMMANDS if both else ""),
        edit=_edit(spec, vx) if is_written else "",
        pages=(_VX_PAGES if both else "") + _PAGES,
    )


def _edit(spec: OpSpec, vx: str) -> str:
    """Return the paragraph on the same math in the VX kernel."""
    if has_only(spec, CASE_DTYPE):
        return render("runtimes/rknn/templates/README_edit.md", vx=vx)
    return (
        f"The VX kernel in `{vx}` needs the same math; without it, its cases fail. To go\n"
        "without such a kernel, write `kernels: [cpu]` in `op.yml`."
    )
