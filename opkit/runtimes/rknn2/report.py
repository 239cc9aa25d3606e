"""What the report shows of RKNN-Toolkit2: the operator's name in models, and the plugins."""

from __future__ import annotations

from opkit.description.spec import Param
from opkit.runtimes.report import Report
from opkit.runtimes.rknn2.plugins import built_plugins
from opkit.runtimes.rknn2.settings import settings


def _delivery(param: Param) -> tuple[str, str]:
    """Return where a kernel gets a param from, and of which type."""
    kind = f"an attribute of kind {param.type.onnx}"
    return "a constant input" if param.source else kind, param.type.c_type


REPORT = Report(
    delivery=_delivery,
    properties=lambda spec: {"Type in models": settings(spec).op_type},
    built_products=built_plugins,
)
