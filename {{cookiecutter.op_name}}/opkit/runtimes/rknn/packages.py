"""What a report says of this runtime: the chip, and what is in the packages."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from opkit.description.spec import OpSpec
from opkit.runtimes.interface import Product
from opkit.runtimes.rknn.chips import TARGETS
from opkit.runtimes.rknn.rknnop import Package, PackageError, shader_kind, unpack
from opkit.runtimes.rknn.settings import settings

_KERNELS = ("the CPU kernel", "the VX kernel")  # by kernel_index


def facts(spec: OpSpec) -> Mapping[str, str]:
    """Return what the report says of the operator at its top."""
    index = settings(spec).kernel_index
    target = TARGETS.get(spec.target_platform)
    family = f" (family {target.family})" if target else ""
    return {
        "Target platform": f"{spec.target_platform}{family}",
        "Kernel index": f"{index}: the board runs {_KERNELS[index]}",
    }


def packages_made(root: Path) -> list[Product]:
    """Return what is in the packages of a repository."""
    return [
        product(path.relative_to(root).as_posix(), path.read_bytes())
        for path in sorted(root.glob("build/*/*.rknnop"))
    ]


def product(file: str, data: bytes) -> Product:
    """Return what is in a package, or why it cannot be read."""
    try:
        return Product(file, cells=_cells(unpack(data, Path(file).name)))
    except PackageError as error:
        return Product(file, str(error))


def _cells(package: Package) -> dict[str, int | str]:
    """Return the size of each section in bytes, in the order of the file."""
    return {
        "version": str(package.version),
        "VX kernel": len(package.vx_binary),
        **{f"{abi} library": len(library) for abi, library in package.libraries.items()},
        "op.yml": len(package.description.encode()),
        "Python file": len(package.python.encode()),
        "kind of VX kernel": shader_kind(package.vx_binary),
    }
