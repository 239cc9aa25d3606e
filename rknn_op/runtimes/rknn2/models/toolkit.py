"""RKNN-Toolkit2 in a Python of its own."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path

from opkit.description.spec import OpSpec
from opkit.runtimes.rknn2.converter_class import FOLDER
from opkit.runtimes.rknn2.describe import settings
from opkit.runtimes.rknn2.toolkit2 import DISTRIBUTION, PACKAGES
from rknn_op.runtimes.models import Toolkit

_NOT_OPERATORS = frozenset(("InputOperator", "OutputOperator"))


def _left(package: bytes) -> Iterator[str]:
    """Yield the names of operators in a .rknn file: strings `<type>:<node>`, after their length."""
    for found in re.finditer(rb"(?<=\0)([A-Za-z]\w*):[^\0]*(?=\0)", package):
        start = found.start()
        length = struct.unpack_from("<I", package, start - 4)[0] if start >= 4 else 0
        name = found[1].decode()
        if length == len(found[0]) and name not in _NOT_OPERATORS:
            yield name


def _class_file(spec: OpSpec) -> str:
    return "" if settings(spec).is_standard else f"{FOLDER}/{spec.lower}_custom_op.py"


TOOLKIT = Toolkit(
    name="RKNN-Toolkit2",
    distribution=DISTRIBUTION,
    packages=PACKAGES,
    module="rknn",
    suffix=".rknn",
    build=Path(__file__).with_name("toolkit_worker.py"),
    left=_left,
    simulate=Path(__file__).with_name("simulation_worker.py"),
    scripts=FOLDER,
    class_file=_class_file,
    simulated_types={"float16": "float32", "float64": "float32"},
)
