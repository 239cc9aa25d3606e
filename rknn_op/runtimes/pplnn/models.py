"""ONNX models for PPLNN: the list of operators is in a checkout of ppl.nn."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from opkit.common.errors import OpkitError
from opkit.description.spec import OpSpec
from opkit.runtimes.pplnn.describe import settings
from rknn_op.runtimes.models import Form, Models, OperatorList

_CHECKOUT = "PPLNN_SRC"
_ENGINES = {"riscv64": "riscv", "x64-pplnn": "x86"}
_REGISTRATION = re.compile(
    r'RegisterOptKernelCreator<\w+>\(\s*"([^"]*)"\s*,\s*"(\w+)"\s*,\s*(\d+)\s*,\s*(\d+)\s*\)'
)


def _operators(target: str, checkout: Path | None) -> OperatorList:
    """Return the registrations of a target's engine."""
    if checkout is None:
        raise OpkitError(
            f"--target {target}: the list of operators is in ppl.nn's source; set {_CHECKOUT} to a "
            "checkout of ppl.nn"
        )
    engine = _ENGINES[target]
    file = checkout / f"src/ppl/nn/engines/{engine}/optimizer/{engine}_ops.cc"
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        raise OpkitError(
            f"{_CHECKOUT}={checkout}: not a checkout of ppl.nn v0.9.0 or later: {file} is missing"
        ) from None
    found = _REGISTRATION.findall(text)
    opsets = {name: (int(first), int(last)) for domain, name, first, last in found if not domain}
    return OperatorList(
        f"the checkout {checkout}",
        f"PPLNN's engine for {engine}",
        frozenset(opsets),
        opsets=opsets,
    )


def _form(spec: OpSpec) -> Form:
    chosen = settings(spec)
    return Form(spec.name, chosen.domain, chosen.opset)


def _keys(domain: str, version: int) -> Mapping[str, Any]:
    return {"domain": domain, "opset": [version, version]}


MODELS = Models(
    framework="onnx",
    suffix=".onnx",
    operators=_operators,
    checkout_variable=_CHECKOUT,
    keys=_keys,
    form=_form,
)
