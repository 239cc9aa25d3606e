"""The fifth part of a runtime's interface: what `scons report` shows.

Asked once for a report, after the cases have run. May import numpy and opkit.toolchains. Nothing
here fails a build: a product that cannot be read is a row with a problem.
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
    """A row of the report's table of products: what is wrong with a file, or what is in it.

    Attributes:
        file: its path, as seen from the repository.
        problem: why it cannot be read.
        cells: title of a column -> what is in it; numbers are sizes in bytes.
    """

    file: str
    problem: str = ""
    cells: Mapping[str, int | str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Report:
    """What the report shows of a runtime.

    Attributes:
        delivery: (param) -> what a kernel gets for it: in words, and the type of it.
        properties: (operator) -> its properties at the top of the report: term -> text.
        built_products: (repository) -> what is in the built products.
    """

    delivery: Callable[[Param], tuple[str, str]] = lambda param: ("", param.type.c_type)
    properties: Callable[[OpSpec], Mapping[str, str]] = lambda spec: {}
    built_products: Callable[[Path], Sequence[Product]] = lambda root: ()
