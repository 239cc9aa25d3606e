"""The .vx file as a source that `scons check mutate=` changes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from opkit.description.spec import OpSpec
from opkit.errors import OpkitError
from opkit.runtimes.rknn.settings import settings
from opkit.runtimes.rknn.skeletons import vx_file
from opkit.runtimes.rknn.vx import clang
from opkit.runtimes.rknn.vx.compiler import compile_vx

_TREE = ("-fsyntax-only", "-w", "-Xclang", "-ast-dump=json")


class VxSource:
    """The .vx file of an operator. It is a MutableSource."""

    def __init__(self, spec: OpSpec) -> None:
        self.path = vx_file(spec)
        self.root = spec.lower
        self.vx_version = settings(spec).vx_version

    def tree(self, repository: Path) -> str:
        """Return its syntax tree; what clang takes only as it is corrected is not in it."""
        flags = (*clang.language(self.vx_version), *clang.code(sanitize=False, debug=False))
        header = clang.precompiled((repository / "build/vx").resolve(), flags)
        run = clang.run_unchecked(
            *(clang.zig(), "clang", "-x", "cl", *flags, "-include-pch", str(header), *_TREE),
            *("-iquote", ".", "-I", str(clang.PRELUDE), self.path),
            folder=repository,
        )
        if not run.stdout:
            raise OpkitError(f"{self.path} cannot be read:\n{run.stderr.strip()}")
        return run.stdout

    def build(self, repository: Path) -> Sequence[Path]:
        """Compile the kernel, without what differs with the place of an instruction: checks."""
        program = compile_vx(
            repository / self.path,
            repository / "build/vx",
            sanitize=False,
            vx_version=self.vx_version,
            kernels=(self.root,),
        )
        return [program.library]
