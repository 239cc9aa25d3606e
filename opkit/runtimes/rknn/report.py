"""What the report shows of RKNN-Toolkit 1.x: the chip, and what is in the packages."""

from __future__ import annotations

from opkit.description.spec import Param
from opkit.runtimes.report import Report
from opkit.runtimes.rknn.deliveries import DELIVERIES
from opkit.runtimes.rknn.limits import LIMITS
from opkit.runtimes.rknn.packages import built_packages, properties


def _delivery(param: Param) -> tuple[str, str]:
    """Return what librknn_runtime makes of a param."""
    type_ = DELIVERIES[param.type.name].type
    if not param.type.is_list:
        return "a scalar of", type_
    return f"an array of {param.length or f'1 to {LIMITS.items}'}", type_


REPORT = Report(delivery=_delivery, properties=properties, built_products=built_packages)
