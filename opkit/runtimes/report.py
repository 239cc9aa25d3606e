"""The fifth part of a runtime's interface: its contents of `scons report`.

Used once for a report, after the cases have run. May import numpy and opkit.toolchains. Nothing
here fails a build: an unreadable product is a row with a problem.
A runtime returns, in its module `report`:

    REPORT = Report(
        properties=lambda spec: {"Chip": spec.target_platform},
        built_products=lambda root: [Product("build/stick/op.bin", cells={"size": 1024})],
    )
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from opkit.description.spec import OpSpec, Param


@dataclass(frozen=True)
class Product:
    """A row of the report's table of products: the facts of a file, or its problem.

    Attributes:
        file: the path, relative to the repository.
        problem: the reason why it cannot be read; empty: it can.
        cells: title of a column -> text, or a size in bytes.
    """

    file: str
    problem: str = ""
    cells: Mapping[str, int | str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Report:
    """A runtime's part of the report.

    Attributes:
        delivery: (param) -> the kernel's argument: a description, and the type.
        properties: (operator) -> term -> text, for the top of the report.
        built_products: (repository) -> the rows of the table of products.
    """

    delivery: Callable[[Param], tuple[str, str]] = lambda param: ("", param.type.c_type)
    properties: Callable[[OpSpec], Mapping[str, str]] = lambda spec: {}
    built_products: Callable[[Path], Sequence[Product]] = lambda root: ()
