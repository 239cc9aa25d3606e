"""Read `rknn_kernel_<op>.vx`: the names and order of the parameters, and empty kernels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rknn_op.runtimes.rknn.vendor.files import VendorFile

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*", re.DOTALL)
_KERNEL = re.compile(r"\b(?:__)?kernel\b[^;{}]{0,200}?\bvoid\s+\w+\s*\(([^(){}]*)\)\s*\{")

_CLOSED = re.compile(r"[\s;]*\}")


@dataclass(frozen=True)
class VxSignature:
    """The list of parameters of a VX kernel.

    Attributes:
        where: file:line.
        positions: name of a parameter of op.yml -> its index.
    """

    where: str
    positions: dict[str, int]


def vx_signature(file: VendorFile, names: Sequence[str]) -> VxSignature | None:
    """Return the list of parameters of the kernel that matches op.yml.

    Args:
        file: the .vx file.
        names: of all parameters of op.yml; case is ignored.

    Returns:
        The list of the kernel with this number of parameters and most of the names; None if no
        kernel has any of the names, or if the best kernels differ.
    """
    known = {name.lower(): name for name in names}
    found = []
    for match in _KERNEL.finditer(_code(file)):
        words = [re.findall(r"\w+", parameter) for parameter in match[1].split(",")]
        variables = [each[-1].lower() if each else "" for each in words]
        positions = {known[name]: i for i, name in enumerate(variables) if name in known}
        if len(variables) == len(names) and positions:
            found.append(VxSignature(file.at(match.start()), positions))
    found.sort(key=lambda each: -len(each.positions))
    best = [each for each in found if len(each.positions) == len(found[0].positions)]
    return best[0] if len({(*each.positions.items(),) for each in best}) == 1 else None


def empty_kernel(file: VendorFile) -> str:
    """Return file:line of the first kernel if none has a statement, else an empty text.

    The vendor's tool writes such kernels, for the user to fill in.
    """
    code = _code(file)
    found = [*_KERNEL.finditer(code)]
    is_empty = all(_CLOSED.match(code, match.end()) for match in found)
    return file.at(found[0].start()) if found and is_empty else ""


def _code(file: VendorFile) -> str:
    """Return the text with spaces in place of comments, so that offsets stay."""
    return _COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), file.text)
