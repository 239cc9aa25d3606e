"""The files of an operator repository on disk: written once, or anew at every build."""

from __future__ import annotations

from pathlib import Path

from opkit.description.spec import DescriptionError, OpSpec, parse
from opkit.errors import OpkitError
from opkit.runtimes.rknn import emit


def read_description(path: Path) -> str:
    """Return the text of an operator description.

    Raises:
        DescriptionError: the file cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise DescriptionError(f"{path}:{line}: this is not UTF-8") from None
    except OSError as error:
        raise DescriptionError(f"{path}: cannot be read: {error.strerror}") from None


def load(root: Path) -> OpSpec:
    """Return the operator of this repository.

    Raises:
        DescriptionError: op.yml is missing or wrong.
    """
    return parse(read_description(root / "op.yml"), "op.yml")


def update(root: Path) -> OpSpec:
    """Bring the repository's files in line with op.yml and return the operator.

    The first time, when nothing is generated yet, the user's files are written too, each that is
    not there, and sources that op.yml lists may still be missing. Later they are only looked at,
    but for the .vx file: it is written when op.yml has been given a VX kernel.

    Raises:
        OpkitError: op.yml or the reference is wrong, or a file of the user's is missing.
    """
    spec = load(root)
    skeletons = emit.skeleton_files(spec)
    if (root / "generated").is_dir():
        _require_what_is_compiled(root, spec)
    else:
        for path, text in skeletons.items():
            if not (root / path).exists():
                _write(root / path, text)
    _require(root, spec)
    vx_file = emit.vx_file(spec)
    if vx_file in skeletons and not (root / vx_file).exists():
        _write(root / vx_file, skeletons[vx_file])
        print(f"write {vx_file}: op.yml names a VX kernel, and there was no such file")
    reference = root / f"{spec.lower}_reference.py"
    generated = emit.generated_files(spec, reference.read_text(encoding="utf-8"))
    for path, text in generated.items():
        _write(root / path, text)
    for stale in (root / "generated").iterdir():
        if f"generated/{stale.name}" not in generated:
            stale.unlink()
    return spec


def _write(path: Path, text: str) -> None:
    """Write the text unless it is there already, so that nothing looks newer than it is."""
    data = text.encode()
    if not path.is_file() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _require(root: Path, spec: OpSpec) -> None:
    needed = (
        f"{spec.lower}_compute.h",
        f"{spec.lower}_reference.py",
        f"rknn_kernel_{spec.lower}.c",
    )
    missing = [name for name in needed if not (root / name).is_file()]
    if missing and spec.has_vx_kernel and not (root / emit.vx_file(spec)).is_file():
        missing.append(emit.vx_file(spec))
    if missing:
        raise OpkitError(
            f"op.yml names the operator {spec.name}, but there is no {', '.join(missing)}. "
            "Bring the file back (`git checkout`), or rename yours if the operator has a new name "
            "(`git mv`), or delete the folder generated/ to have missing files written afresh."
        )


def _require_what_is_compiled(root: Path, spec: OpSpec) -> None:
    for source in spec.sources:
        if not (root / source.path).is_file():
            raise OpkitError(f"{source.where}: there is no file {source.path} in the repository")
    for folder in spec.include:
        if not (root / folder.path).is_dir():
            raise OpkitError(f"{folder.where}: there is no folder {folder.path} in the repository")
