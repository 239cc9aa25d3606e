"""The files of an operator repository on disk: written once, or anew at every build."""

from __future__ import annotations

import re
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
    not there, and sources that op.yml lists may still be missing. Later they are only looked at.

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
    reference = root / f"{spec.lower}_reference.py"
    generated = emit.generated_files(spec, reference.read_text(encoding="utf-8"))
    for path, text in generated.items():
        _write(root / path, text)
    for stale in (root / "generated").iterdir():
        if f"generated/{stale.name}" not in generated:
            stale.unlink()
    return spec


def misfits(root: Path, spec: OpSpec) -> list[str]:
    """Return what in the user's files no longer fits op.yml, each with the text that would."""
    path = root / f"rknn_kernel_{spec.lower}.vx"
    if not path.is_file():
        return []
    wanted = emit.vx_arguments(spec)
    found = _vx_parameter_list(path.read_text(encoding="utf-8", errors="replace"), spec.lower)
    if found is not None and [_kind_and_name(a) for a in found] == [
        _kind_and_name(a) for a in wanted
    ]:
        return []
    problem = (
        f"{path.name}: there is no `__kernel void {spec.lower}(...)`"
        if found is None
        else f"{path.name}: the arguments of {spec.lower} are not those of op.yml"
    )
    right = ",\n".join(f"    {argument}" for argument in wanted)
    return [f"{problem}; write\n\n__kernel void {spec.lower}(\n{right}\n)\n"]


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


_ATTRIBUTES = r"(?:__attribute__\s*\(\([^;{]*?\)\)\s*)*"
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_QUALIFIERS = frozenset(
    "__read_only __write_only __read_write read_only write_only read_write const".split()
)


def _vx_parameter_list(source: str, function: str) -> list[str] | None:
    code = _COMMENT.sub(" ", source)
    match = re.search(
        rf"\b(?:__)?kernel\s+{_ATTRIBUTES}void\s+{_ATTRIBUTES}{function}\s*\(([^)]*)\)", code
    )
    if match is None:
        return None
    return [argument.strip() for argument in match[1].split(",")]


def _kind_and_name(argument: str) -> tuple[str, str]:
    """What of an argument has to agree with op.yml: image, array or scalar, and its name."""
    words = [word for word in re.findall(r"\w+", argument) if word not in _QUALIFIERS]
    if not words:
        return "", ""
    kind = next(
        (kind for kind in ("image", "vx_array") if any(w.startswith(kind) for w in words)), "scalar"
    )
    return kind, words[-1]
