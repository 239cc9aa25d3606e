"""The compiled VX kernel: from a file, or from an RKNN-Toolkit that the user has.

Only the vendor's compiler can make one, and it comes only with RKNN-Toolkit.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from opkit.build.command import run
from opkit.errors import OpkitError
from opkit.runtimes.rknn import rknnop

_NOT_COPIED = (".*", "build", "venv", "__pycache__", "*.rknnop")
_LAST_LINES = 20


class ShaderError(OpkitError):
    """No compiled VX kernel where one should be."""


def from_file(path: Path) -> bytes:
    """Return the compiled VX kernel that a file holds.

    Raises:
        ShaderError: the file cannot be read, or is not a compiled VX kernel.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ShaderError(f"{path}: cannot be read: {error.strerror}") from None
    return _checked(data, str(path))


def from_toolkit(python: str, repository: Path, name: str, description: str, work: Path) -> bytes:
    """Return the VX kernel that RKNN-Toolkit's own build command compiles.

    The command runs on a copy of the repository, because it writes beside the sources; the copy is
    removed in any case. The kernel is taken from the package that the command makes.

    Args:
        python: a Python that has RKNN-Toolkit: its path, or its name on PATH.
        repository: the operator's repository.
        name: the operator's name, for messages.
        description: the op.yml that the command gets to read, in the vendor's keys.
        work: a folder for the copy; made if it is not there.

    Raises:
        ShaderError: that Python is not there, its command fails, or makes no package with a
            compiled VX kernel.
    """
    program = shutil.which(python)
    if program is None:
        raise ShaderError(
            f"rknn_python={python}: no such program; pass the Python of the environment that "
            "RKNN-Toolkit 1.x is installed in, such as rknn_python=/opt/rknn/bin/python3"
        )
    # Not resolved: a virtual environment's Python is a link, and found by the link's place.
    program = str(Path(program).absolute())
    work.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="rknn-toolkit-", dir=work.absolute()) as folder:
        copy = Path(folder) / repository.absolute().name
        _copy(repository, copy, work)
        (copy / "op.yml").write_text(description, encoding="utf-8")
        _build(program, copy)
        return _shader_of(copy, name)


def _copy(repository: Path, copy: Path, work: Path) -> None:
    def left_out(folder: str, names: list[str]) -> set[str]:
        work_itself = {name for name in names if Path(folder, name).absolute() == work.absolute()}
        return work_itself | set(shutil.ignore_patterns(*_NOT_COPIED)(folder, names))

    try:
        shutil.copytree(repository, copy, ignore=left_out, ignore_dangling_symlinks=True)
    except OSError as error:
        raise ShaderError(f"{repository}: cannot be copied to {copy.parent}: {error}") from None


def _build(program: str, copy: Path) -> None:
    arguments = ["-m", "rknn.bin.custom_op", "--action", "build", "--op_path", str(copy)]
    shown = " ".join([program, *arguments])
    try:
        # Not inside the copy: `python -m` would import the repository's files before its own.
        finished = run([program, *arguments], folder=copy.parent)
    except OSError as error:
        raise ShaderError(f"{shown}\ncannot be run: {error.strerror}") from None
    if finished.returncode:
        last = "\n".join(f"  {line}" for line in finished.stdout.splitlines()[-_LAST_LINES:])
        raise ShaderError(
            f"{shown}\nfailed with status {finished.returncode}. The end of its output:\n"
            f"{last or '  (nothing)'}\n"
            "Check that this Python has RKNN-Toolkit 1.x: "
            f"{program} -c 'import rknn.bin.custom_op'"
        )


def _shader_of(copy: Path, name: str) -> bytes:
    made = sorted(copy.rglob("*.rknnop"))
    shaders = {
        rknnop.unpack(path.read_bytes(), str(path.relative_to(copy))).vx_binary for path in made
    }
    if not shaders:
        raise ShaderError(
            f"RKNN-Toolkit's build command made no package for {name}, though it did not fail; "
            "build the repository with it by hand and pass vx_binary=FILE"
        )
    if len(shaders) > 1:
        listed = ", ".join(str(path.relative_to(copy)) for path in made)
        raise ShaderError(
            f"RKNN-Toolkit's build command made packages for {name} with different VX kernels: "
            f"{listed}; pass the right one as vx_binary=FILE"
        )
    return _checked(shaders.pop(), f"the package that RKNN-Toolkit made for {name}")


def _checked(data: bytes, origin: str) -> bytes:
    if data.startswith(rknnop.SHADER_MAGICS):
        return data
    begins = f"begins with {data[:8]!r}" if data else "is empty"
    allowed = " or ".join(magic.decode() for magic in rknnop.SHADER_MAGICS)
    raise ShaderError(
        f"{origin}: the compiled VX kernel {begins}; one that RKNN-Toolkit compiled begins with "
        f"{allowed}"
    )
