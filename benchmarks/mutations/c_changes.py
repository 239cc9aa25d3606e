"""The small changes of the project's sources in C: of opkit.mutation."""

from __future__ import annotations

import subprocess
from itertools import chain
from pathlib import Path

from opkit import toolchains
from opkit.mutation import c_source
from opkit.mutation.mutants import Change
from opkit.mutation.mutants import changes as changes_of_tree
from opkit.mutation.plan import c_tree
from opkit.toolchains.abi import ABIS

_ARGUMENTS = (
    *("-D_GNU_SOURCE=", "-I.", "-std=c11"),
    *("-Iopkit/runtimes/rknn/include", "-Iopkit/runtimes/rknn2/include"),
)
_THREADS = {
    "opkit/compute/": ("-DOPKIT_THREADS=0",),
    "opkit/runtimes/rknn2/custom_op.h": (
        "-DOPKIT_THREADS=0",
        "-include",
        "opkit/compute/parallel.h",
    ),
}
"""The beginning of a path -> the arguments for the code of operators with `threads`."""


def changes(root: Path, file: str) -> list[Change]:
    """Return all changes of a source.

    Args:
        root: the folder of the project.
        file: the path of the source in it.

    Raises:
        OpkitError: clang cannot read the source alone.
    """
    threads = [words for start, words in _THREADS.items() if file.startswith(start)]
    arguments = [*_ARGUMENTS, *chain.from_iterable(threads)]
    tree = c_source.read(c_tree(file, arguments, root), file)
    return changes_of_tree(tree, (root / file).read_bytes(), file)


def compiled(root: Path, file: str) -> bytes | None:
    """Return the object code of a source without debug information; None: it does not compile."""
    compiler = toolchains.find("zig", ABIS["x64"])
    flags = ("-x", "c", "-w", "-O2", "-g0", "-fno-sanitize=undefined", "-c", "-o")
    made = root / "object.o"
    command = [*compiler.command, *compiler.flags, *_ARGUMENTS, *flags, str(made), file]
    if subprocess.run(command, cwd=root, capture_output=True, check=False).returncode:
        return None
    code = made.read_bytes()
    made.unlink()
    return code
