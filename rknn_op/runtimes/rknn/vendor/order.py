"""Find the order of the parameters of a vendor's kernel.

The vendor's tool writes the keys of op.yml, and even the inputs, in random order. The C file of the
kernel was written for one order, which is used as far as the file states it. Otherwise the names in
the .vx file count: both kernels get the same list.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from opkit.description.spec import OpSpec, Param, Tensor
from rknn_op.runtimes.rknn.vendor.kernel_files import KernelFile, Row, vx_signature
from rknn_op.runtimes.rknn.vendor.vendor_folder import VendorFile

GROUPS = ("inputs", "outputs", "params")
_GROUP_OF = {"input": "inputs", "output": "outputs", "array": "params", "scalar": "params"}

Parameter = Tensor | Param


@dataclass(frozen=True)
class _Slot:
    """A position in the list of parameters, with its row if the table fits op.yml."""

    index: int
    row: Row | None


def in_order(
    spec: OpSpec, kernel: KernelFile, lines: Mapping[str, str], vx_file: VendorFile | None = None
) -> tuple[OpSpec, list[str]]:
    """Return the operator with its parameters in the kernel's order, and warnings.

    Args:
        spec: the operator, in the order of its op.yml.
        kernel: its C file.
        lines: group of op.yml -> its file:line.
        vx_file: its .vx file, if there is one.
    """
    names = [parameter.name for parameter in spec.parameters]
    in_c = kernel.positions(names)
    signature = vx_signature(vx_file, names) if vx_file else None
    in_vx = signature.positions if signature else {}
    added = {n: i for n, i in in_vx.items() if n not in in_c and i not in in_c.values()}
    positions = {**in_c, **added}
    has_same = Counter(row.kind for row in kernel.rows) == _expected(spec)
    warnings = [*_table_warnings(spec, kernel, has_same)]
    for name, index in in_vx.items():
        if signature and in_c.get(name, index) != index:
            warnings.append(
                f"{signature.where}: takes {name} as parameter {index}, but {kernel.file.label} "
                f"says {in_c[name]}: took that of the C file; both get the same list, so that one "
                "of them is wrong"
            )
    found: dict[str, tuple[Parameter, ...]] = {}
    first = 0
    for group in GROUPS:
        members: tuple[Parameter, ...] = getattr(spec, group)
        if has_same:
            rows = [_Slot(i, r) for i, r in enumerate(kernel.rows) if _GROUP_OF[r.kind] == group]
        else:
            rows = [_Slot(first + i, None) for i in range(len(members))]
        first += len(members)
        found[group], is_certain = _arranged(members, rows, positions)
        for member, slot in zip(found[group], rows, strict=True):
            if isinstance(member, Param) and slot.row is not None and not _fits(member, slot.row):
                warnings.append(
                    f"{slot.row.where}: {slot.row.type} for {member.name}, which is "
                    f"{member.type.name} in op.yml; the runtime refuses that"
                )
        by_vx = signature is not None and any(each.name in added for each in members)
        source = signature.where if signature and by_vx else kernel.table_name
        warnings += _order_warnings(
            f"{lines.get(group, '')}: {group}",
            members,
            found[group],
            "" if not is_certain else source or kernel.file.label,
            kernel,
        )
    inputs, outputs, params = (found[group] for group in GROUPS)
    spec = spec._replace(
        inputs=tuple(each for each in inputs if isinstance(each, Tensor)),
        outputs=tuple(each for each in outputs if isinstance(each, Tensor)),
        params=tuple(each for each in params if isinstance(each, Param)),
    )
    return spec, warnings


def _expected(spec: OpSpec) -> Counter[str]:
    """Return the count of parameters of each kind."""
    params = ["array" if param.type.is_list else "scalar" for param in spec.params]
    tensors = ["input"] * len(spec.inputs) + ["output"] * len(spec.outputs)
    return Counter(tensors + params)


def _arranged(
    members: Sequence[Parameter], slots: Sequence[_Slot], positions: Mapping[str, int]
) -> tuple[tuple[Parameter, ...], bool]:
    """Return the members of a group in the order of its slots, and whether it is unambiguous."""
    indices = {slot.index for slot in slots}
    placed = {
        positions[member.name]: member
        for member in members
        if positions.get(member.name) in indices
    }
    rest = [member for member in members if member not in placed.values()]
    is_certain = True
    for slot in slots:
        if slot.index not in placed:
            fitting = [member for member in rest if _fits(member, slot.row)]
            is_certain = is_certain and 1 in (len(fitting), len(rest))
            placed[slot.index] = (fitting or rest)[0]
            rest.remove(placed[slot.index])
    return tuple(placed[slot.index] for slot in slots), is_certain


def _fits(member: Parameter, row: Row | None) -> bool:
    """Return whether a row of the table may describe a parameter of its group."""
    if row is None or isinstance(member, Tensor):
        return True
    if member.type.is_list:
        return row.kind == "array"
    # The runtime passes a bool as a byte.
    types = {"VX_TYPE_SCALAR", member.type.name}
    types |= {"VX_TYPE_UINT8"} if member.type.name == "VX_TYPE_BOOL" else set()
    return row.kind == "scalar" and row.type in types


def _order_warnings(
    where: str,
    before: Sequence[Parameter],
    now: Sequence[Parameter],
    source: str,
    kernel: KernelFile,
) -> Iterator[str]:
    """Yield the source of the order if it differs from op.yml's, or is a guess: no source."""
    listed, taken = (", ".join(each.name for each in members) for members in (before, now))
    if not source:
        numbers = "" if _numbers_rise(now) else ", though their numbers say otherwise"
        yield (
            f"{where}: the vendor's tool lists them in random order, and {kernel.file.label} does "
            f"not say in which it takes them; took {taken}{numbers}: compare with the kernel"
        )
    elif taken != listed:
        yield f"{where}: listed as {listed}, but {source} says {taken}: took that"


def _numbers_rise(members: Sequence[Parameter]) -> bool:
    """Return whether names that differ only in their last digits are in numeric order."""
    numbers: dict[str, list[int]] = {}
    for member in members:
        if match := re.fullmatch(r"(\w*?)(\d+)", member.name):
            numbers.setdefault(match[1], []).append(int(match[2]))
    return all(each == sorted(each) for each in numbers.values())


def _table_warnings(spec: OpSpec, kernel: KernelFile, has_same: bool) -> Iterator[str]:
    file, rows = kernel.file, kernel.rows
    if not rows:
        yield (
            f"{file.label}:1: no table of vx_param_description_t that can be read; how many "
            "parameters the kernel takes, and in which order, was not compared with op.yml"
        )
    elif not has_same:
        table, where = kernel.table_name.split(" in ")
        has, expected = (
            ", ".join(
                f"{count[kind]} {kind}{'' if count[kind] == 1 else 's'}" for kind in _GROUP_OF
            )
            for count in (Counter(row.kind for row in rows), _expected(spec))
        )
        yield (
            f"{where}: {table} has {has}, op.yml {expected}; the runtime refuses a kernel with "
            "other parameters"
        )
    else:
        groups = [GROUPS.index(_GROUP_OF[row.kind]) for row in rows]
        for row, group, before in zip(rows[1:], groups[1:], groups, strict=False):
            if group < before:
                yield (
                    f"{row.where}: an {row.kind} behind {GROUPS[before]}; the runtime's order "
                    "is inputs, outputs, params"
                )
