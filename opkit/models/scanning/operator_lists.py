"""The operators that a target's converter and runtime have, read from the lists in lists/."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from opkit.errors import OpkitError

_LISTS = Path(__file__).parent / "lists"


@dataclass(frozen=True)
class OperatorList:
    """The operators of a target.

    Attributes:
        framework: the framework of the models, `onnx` or `tensorflow`.
        source: the programs and versions that the list is about.
        place: where the operators run, for messages, such as `rk3588's NPU`.
        operators: the names of the operators there.
        cpu: the names of the operators that the runtime runs on the CPU instead.
        names: an operator's name in models -> its name in `operators` and `cpu`, if it differs.
        left: an operator's name in models -> the names after the conversion, if they differ.
        refused: operators that the converter refuses -> reason.
        constant: operator -> positions of the inputs that must be constant.
        opsets: operator -> first and last version of the domain, if restricted.
        structure: names of nodes without computation.
        max_opset: the maximum version of ONNX's own domain; 0: without restriction.
        max_ir_version: the maximum version of the file format; 0: without restriction.
        ways: how a custom operator may be named in the model, the default first: `rename` to a
            name of its own, `keep` its name.
    """

    framework: str
    source: str
    place: str
    operators: frozenset[str]
    ways: tuple[str, ...]
    cpu: frozenset[str] = frozenset()
    names: Mapping[str, str] = field(default_factory=dict)
    left: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    constant: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    opsets: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    structure: frozenset[str] = frozenset()
    max_opset: int = 0
    max_ir_version: int = 0

    def missing(self, op_type: str) -> str:
        """Return the first missing name of an operator; empty if the target has the operator."""
        known = self.operators | self.cpu
        return next((name for name in self._left(op_type) if name not in known), "")

    def is_on_cpu(self, op_type: str) -> bool:
        """Whether the runtime runs an operator, or a part of it, on the CPU."""
        left = self._left(op_type)
        return any(name in self.cpu and name not in self.operators for name in left)

    def _left(self, op_type: str) -> list[str]:
        return [self.names.get(name, name) for name in self.left.get(op_type, (op_type,))]


def rknn2(target: str) -> OperatorList:
    """Return the list of a chip of RKNN-Toolkit2."""
    data = _read("rknn2.yml")
    chips = {chip: names for key, names in data["npu"].items() for chip in key.split(", ")}
    return OperatorList(
        "onnx",
        f"{data['toolkit']}, {data['runtime']}",
        f"{target}'s NPU",
        frozenset(chips[target]),
        ("rename", "keep"),
        frozenset(data["cpu"]),
        data["names"],
        {name: tuple(left) for name, left in data["left"].items()},
        data["refused"],
        {name: tuple(positions) for name, positions in data["constant"].items()},
        max_opset=data["max_opset"],
        max_ir_version=data["max_ir_version"],
    )


def rknn(target: str) -> OperatorList:
    """Return the list of a chip of RKNN-Toolkit 1.x."""
    data = _read("rknn.yml")
    return OperatorList(
        "tensorflow",
        data["toolkit"],
        data["toolkit"],
        frozenset(name for names in data["operators"].values() for name in names),
        ("keep",),
        structure=frozenset(data["structure"]),
    )


_ENGINES = {"riscv64": "riscv", "x64-pplnn": "x86"}
_REGISTRATION = re.compile(
    r'RegisterOptKernelCreator<\w+>\(\s*"([^"]*)"\s*,\s*"(\w+)"\s*,\s*(\d+)\s*,\s*(\d+)\s*\)'
)


def pplnn(target: str, checkout: Path) -> OperatorList:
    """Return the list of a target of PPLNN: the registrations in a checkout of ppl.nn.

    Raises:
        OpkitError: the folder is not a checkout of ppl.nn.
    """
    engine = _ENGINES[target]
    file = checkout / f"src/ppl/nn/engines/{engine}/optimizer/{engine}_ops.cc"
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        raise OpkitError(
            f"PPLNN_SRC={checkout}: not a checkout of ppl.nn v0.9.0 or later: {file} is missing"
        ) from None
    found = _REGISTRATION.findall(text)
    opsets = {name: (int(first), int(last)) for domain, name, first, last in found if not domain}
    return OperatorList(
        "onnx",
        f"the checkout {checkout}",
        f"PPLNN's engine for {engine}",
        frozenset(opsets),
        ("keep",),
        opsets=opsets,
    )


def _read(name: str) -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load((_LISTS / name).read_text(encoding="utf-8"))
    return data
