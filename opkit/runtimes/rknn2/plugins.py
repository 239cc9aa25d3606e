"""This runtime's part of the report: what is in the plugins."""

from __future__ import annotations

from pathlib import Path

from opkit.runtimes.report import Product
from opkit.toolchains import elf


def built_plugins(root: Path) -> list[Product]:
    """Return what is in the plugins that a repository has built."""
    return [
        product(path.relative_to(root).as_posix(), path.read_bytes())
        for path in sorted(root.glob("build/*/librkcst_*.so"))
    ]


def product(file: str, data: bytes) -> Product:
    """Return what is in a plugin, or why it cannot be read."""
    try:
        library = elf.read(data)
    except elf.ElfError as error:
        return Product(file, str(error))
    glibc = elf.newest_glibc(library) or "any"
    return Product(
        file, cells={"plugin": len(data), "compiled for": library.architecture, "glibc": glibc}
    )
