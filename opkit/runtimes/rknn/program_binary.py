"""The program binary of a VX kernel: from a file, or from RKNN-Toolkit on the user's machine.

Only the vendor's compiler can make one, and it comes only with RKNN-Toolkit.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from opkit.build.compiler_output import run
from opkit.common import file_io
from opkit.common.errors import OpkitError
from opkit.common.scratch import scratch_folder
from opkit.runtimes.rknn import rknnop

_IGNORED = (".*", "build", "venv", "__pycache__", "*.rknnop")
_LAST_LINES = 20
_MAGICS = " or ".join(magic.decode() for magic in rknnop.PROGRAM_BINARY_MAGICS)


class ProgramBinaryError(OpkitError):
    """A program binary is missing or invalid."""


def from_file(path: Path) -> bytes:
    """Return the program binary in a file.

    Raises:
        OpkitError: the file cannot be read, or is not a program binary.
    """
    expected = f"a program binary, which begins with {_MAGICS}"
    return _validated(file_io.read_bounded(path, expected), str(path))


def from_toolkit(python: str, repository: Path, name: str, description: str, work: Path) -> bytes:
    """Compile the program binary with RKNN-Toolkit's own build command.

    The command runs on a copy of the repository, because it writes beside the sources; the copy is
    removed in any case. The binary is taken from the package that the command makes.

    Args:
        python: a Python that has RKNN-Toolkit: its path, or its name on PATH.
        repository: the operator's repository.
        name: the operator's name, for messages.
        description: the op.yml that the command reads, in the vendor's keys.
        work: a folder for the copy; created if it does not exist.

    Raises:
        ProgramBinaryError: that Python does not exist, or its command fails or makes no package
            with a program binary.
    """
    program = shutil.which(python)
    if program is None:
        raise ProgramBinaryError(
            f"rknn_python={python}: no such program; pass the Python of the environment that "
            "RKNN-Toolkit 1.x is installed in, such as rknn_python=/opt/rknn/bin/python3"
        )
    # Not resolved: a virtual environment's Python is a link, and the link's folder identifies it.
    program = str(Path(program).absolute())
    with scratch_folder(work) as folder:
        copy = folder / repository.absolute().name
        _copy(repository, copy, work)
        (copy / "op.yml").write_text(description, encoding="utf-8")
        _build(program, copy)
        return _binary_in(copy, name)


def _copy(repository: Path, copy: Path, work: Path) -> None:
    def ignore(folder: str, names: list[str]) -> set[str]:
        work_itself = {name for name in names if Path(folder, name).absolute() == work.absolute()}
        return work_itself | set(shutil.ignore_patterns(*_IGNORED)(folder, names))

    try:
        shutil.copytree(repository, copy, ignore=ignore, ignore_dangling_symlinks=True)
    except OSError as error:
        raise ProgramBinaryError(
            f"{repository}: cannot be copied to {copy.parent}: {error}"
        ) from None


def _build(program: str, copy: Path) -> None:
    arguments = ["-m", "rknn.bin.custom_op", "--action", "build", "--op_path", str(copy)]
    command_line = " ".join([program, *arguments])
    try:
        # Not inside the copy: `python -m` would import the repository's files before its own.
        finished = run([program, *arguments], folder=copy.parent)
    except OSError as error:
        raise ProgramBinaryError(f"{command_line}\ncannot be run: {error.strerror}") from None
    if finished.returncode:
        last = "\n".join(f"  {line}" for line in finished.stdout.splitlines()[-_LAST_LINES:])
        raise ProgramBinaryError(
            f"{command_line}\nfailed with status {finished.returncode}. The end of its output:\n"
            f"{last or '  (nothing)'}\n"
            "Check that this Python has RKNN-Toolkit 1.x: "
            f"{program} -c 'import rknn.bin.custom_op'"
        )


def _binary_in(copy: Path, name: str) -> bytes:
    packages = sorted(copy.rglob("*.rknnop"))
    binaries = {
        rknnop.unpack(
            file_io.read_bounded(path, "a package (.rknnop)"), str(path.relative_to(copy))
        ).program_binary
        for path in packages
    }
    if not binaries:
        raise ProgramBinaryError(
            f"RKNN-Toolkit's build command made no package for {name}, though it did not fail; "
            "build the repository with it by hand and pass vx_binary=FILE"
        )
    if len(binaries) > 1:
        listed = ", ".join(str(path.relative_to(copy)) for path in packages)
        raise ProgramBinaryError(
            f"RKNN-Toolkit's build command made packages for {name} with different program "
            f"binaries: {listed}; pass the right one as vx_binary=FILE"
        )
    return _validated(binaries.pop(), f"the package that RKNN-Toolkit made for {name}")


def _validated(data: bytes, origin: str) -> bytes:
    if data.startswith(rknnop.PROGRAM_BINARY_MAGICS):
        return data
    found = f"begins with {data[:8]!r}" if data else "is empty"
    raise ProgramBinaryError(
        f"{origin}: invalid program binary: {found} (expected {_MAGICS}); pass one that "
        "RKNN-Toolkit compiled"
    )
