"""The .vx file as a mutable source of `scons check mutate=`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from opkit.description.spec import OpSpec
from opkit.errors import OpkitError
from opkit.runtimes.rknn.settings import settings
from opkit.runtimes.rknn.skeletons import vx_file
from opkit.runtimes.rknn.vx import clang
from opkit.runtimes.rknn.vx.compiler import compile_vx
from opkit.toolchains.clang_ast import DUMP


class VxSource:
    """The .vx file of an operator. It is a MutableSource."""

    def __init__(self, spec: OpSpec) -> None:
        self.path = vx_file(spec)
        self.root = spec.lower
        self.vx_version = settings(spec).vx_version

    def tree(self, repository: Path) -> str:
        """Return its syntax tree, without parts that clang accepts only after a correction."""
        folder = (repository / clang.FOLDER).resolve()
        flags = (*clang.language(self.vx_version), *clang.code(sanitize=False, debug=False))
        run = clang.run_unchecked(
            *(clang.zig(), "clang", "-x", "cl", *flags, *clang.prelude(folder, flags)),
            *("-iquote", ".", "-fsyntax-only", "-w", *DUMP, self.path),
            folder=repository,
        )
        if not run.stdout:
            raise OpkitError(f"{self.path} cannot be read:\n{run.stderr.strip()}")
        return run.stdout

    def build(self, repository: Path) -> Sequence[Path]:
        """Compile the kernel without sanitizers: their code contains line numbers."""
        program = compile_vx(
            repository / self.path,
            repository / clang.FOLDER,
            sanitize=False,
            vx_version=self.vx_version,
            kernels=(self.root,),
        )
        return [program.library]
