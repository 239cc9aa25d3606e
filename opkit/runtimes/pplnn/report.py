"""PPLNN's part of the report: the sizes of the libraries."""

from __future__ import annotations

from pathlib import Path

from opkit.runtimes.pplnn.describe import DESCRIBE
from opkit.runtimes.report import Product, Report


def _libraries(root: Path) -> list[Product]:
    return [
        Product(path.relative_to(root).as_posix(), cells={"size": path.stat().st_size})
        for target in DESCRIBE.targets
        for path in sorted(root.glob(f"build/{target}/{DESCRIBE.product_pattern}"))
    ]


REPORT = Report(built_products=_libraries)
