"""The parts of the report for RKNN-Toolkit 1.x: the chip, and the contents of the packages."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from opkit.description.spec import OpSpec, Param
from opkit.runtimes.report import Product, Report
from opkit.runtimes.rknn.boards import LIMITS, TARGETS
from opkit.runtimes.rknn.deliveries import DELIVERIES
from opkit.runtimes.rknn.rknnop import PackageError, program_binary_kind, sections, unpack
from opkit.runtimes.rknn.settings import settings

_KERNELS = ("the CPU kernel", "the VX kernel")  # by kernel_index


def properties(spec: OpSpec) -> Mapping[str, str]:
    """Return the operator's properties at the top of the report: term -> text."""
    index = settings(spec).kernel_index
    target = TARGETS.get(spec.target_platform)
    family = f" (family {target.family})" if target else ""
    return {
        "Target platform": f"{spec.target_platform}{family}",
        "Kernel index": f"{index}: the board runs {_KERNELS[index]}",
    }


def product(file: str, data: bytes) -> Product:
    """Return the size of each section of a package, or the reason why it cannot be read."""
    try:
        package = unpack(data, Path(file).name)
    except PackageError as error:
        return Product(file, str(error))
    return Product(
        file,
        cells={
            "version": str(package.version),
            **{name: len(content) for name, content in sections(package).items()},
            "kind of program binary": program_binary_kind(package.program_binary),
        },
    )


def _delivery(param: Param) -> tuple[str, str]:
    """Return the form and the type in which a kernel gets a param."""
    type_ = DELIVERIES[param.type.name].type
    if not param.type.is_list:
        return "a scalar of", type_
    return f"an array of {param.length or f'1 to {LIMITS.items}'}", type_


REPORT = Report(
    delivery=_delivery,
    properties=properties,
    built_products=lambda root: [
        product(path.relative_to(root).as_posix(), path.read_bytes())
        for path in sorted(root.glob("build/*/*.rknnop"))
    ],
)
