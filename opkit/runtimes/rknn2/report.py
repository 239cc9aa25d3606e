"""RKNN-Toolkit2's part of the report: the operator's name in models, and the plugins."""

from __future__ import annotations

from pathlib import Path

from opkit.description.spec import Param
from opkit.runtimes.report import Product, Report
from opkit.runtimes.rknn2.describe import settings
from opkit.toolchains import elf


def built_plugins(root: Path) -> list[Product]:
    """Return the report's rows of the built plugins of a repository."""
    return [
        product(path.relative_to(root).as_posix(), path.read_bytes())
        for path in sorted(root.glob("build/*/librkcst_*.so"))
    ]


def product(file: str, data: bytes) -> Product:
    """Return the report's row of a plugin: size, architecture and glibc, or the problem."""
    try:
        library = elf.read(data)
    except elf.ElfError as error:
        return Product(file, str(error))
    is_android = "libc.so" in library.needed
    glibc = "none: Android" if is_android else elf.newest_glibc(library) or "any"
    return Product(
        file, cells={"plugin": len(data), "compiled for": library.architecture, "glibc": glibc}
    )


def _delivery(param: Param) -> tuple[str, str]:
    """Return the source of a param in the model, and its C type."""
    kind = f"an attribute of kind {param.type.onnx}"
    return "a constant input" if param.source else kind, param.type.c_type


REPORT = Report(
    delivery=_delivery,
    properties=lambda spec: {"Type in models": settings(spec).op_type},
    built_products=built_plugins,
)
