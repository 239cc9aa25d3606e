"""The configuration of a dot-product instruction, VXC_DP16x1 to VXC_DP2x16.

Such an instruction computes each of its outputs as a sum of products. Its configuration, 16 words
of 32 bits, selects the factors: elements of its two operands, or constants. The kernel declares the
words as `_viv_uniform VXC_512Bits`, and the .c file sets them with opkit_set_uniform:

    # Four halves of a register as floats: output i is element i of the first operand, times 1.
    words = configuration(
        "4x4", [Term(output=i, a=Bin(0, i), b=Constant(1.0)) for i in range(4)]
    )
    print(c_array("low_halves_to_floats", words))

dot_products.h beside this file has common configurations. The layout of the words is that of the
vendor's headers; for 32 terms (32x1 to 2x16), that of published kernels.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from opkit.common.errors import OpkitError

WORDS = 16
SLOTS = 16  # products of one instruction; some forms have 32, with constants of 8 bits

# type -> its number in the configuration
TYPES = {
    "float32": 0,
    "float16": 1,
    "int32": 2,
    "int16": 3,
    "int8": 4,
    "uint32": 5,
    "uint16": 6,
    "uint8": 7,
}
MAX_SHIFT = 31
MAX_LANE = 15

_PLUS, _MINUS, _ALONE = 1, 2, 3  # the mode of a term; 0: unused
_CONSTANT = 2  # the source of the second factor; 0 and 1 are the operands


class _Form(NamedTuple):
    terms: int  # of each output
    outputs: int

    @property
    def slots(self) -> int:
        return self.terms * self.outputs


FORMS = {
    "16x1": _Form(16, 1),
    "8x2": _Form(8, 2),
    "4x4": _Form(4, 4),
    "2x8": _Form(2, 8),
    "32x1": _Form(32, 1),
    "16x2": _Form(16, 2),
    "8x4": _Form(8, 4),
    "4x8": _Form(4, 8),
    "2x16": _Form(2, 16),
}
"""The instructions without their VXC_DP; 2x16 exists in VX_VERSION 1 only."""


@dataclass(frozen=True)
class Bin:
    """An element of an operand.

    Attributes:
        operand: 0 for the instruction's first source register, 1 for its second.
        lane: the index of the element, 0 to 15, in elements of the operand's type.
    """

    operand: int
    lane: int


@dataclass(frozen=True)
class Constant:
    """A number in the configuration itself, of its constant type."""

    value: float


@dataclass(frozen=True)
class Term:
    """A summand of an output: a product, or an element alone.

    Attributes:
        output: the index of the output, from 0.
        a: the first factor.
        b: the second factor; None adds `a` alone. Then the lane of `a` counts elements of the
            accumulator's type, not of the operand's: with int32, lane 1 of eight uint16 is
            elements 2 and 3. That reading is very likely: many published kernels need it.
        negative: subtract the product.
    """

    output: int
    a: Bin
    b: Bin | Constant | None = None
    negative: bool = False


def configuration(
    form: str,
    terms: Iterable[Term],
    shift: int = 0,
    constant_type: str = "float16",
    accumulator_type: str = "float32",
) -> tuple[int, ...]:
    """Return the 16 words of a configuration.

    Args:
        form: one of FORMS: terms of each output x outputs.
        terms: the summands; the terms of an output take its slots in the order given.
        shift: the right shift of every sum, 0 to 31 bits.
        constant_type: the type of all constants: "float16", "int16", "int8", "uint16" or "uint8".
            Constants are rounded to float16; an integer type accepts exact values only. With 32
            terms it is "int8" or "uint8", and every second factor is a constant.
        accumulator_type: the type of the sums, as encoded in the words; one of TYPES.

    Raises:
        OpkitError: the instruction has no such form, output, lane, shift or constant.
    """
    if form not in FORMS:
        raise OpkitError(f"unknown dot product '{form}' (expected {', '.join(FORMS)})")
    _check_range(form, "shift", shift, 0, MAX_SHIFT)
    for what, type_ in (("constant_type", constant_type), ("accumulator_type", accumulator_type)):
        if type_ not in TYPES:
            raise OpkitError(f"DP{form}: {what} '{type_}' must be one of: {', '.join(TYPES)}")

    types = TYPES[constant_type] << 8 | TYPES[accumulator_type] << 12
    slots = _slots(form, terms, constant_type)
    if len(slots) > SLOTS:
        return (
            *_pack([slot.mode for slot in slots], 2),
            *_pack([slot.a.operand * SLOTS + slot.a.lane for slot in slots], 5),
            shift | types,
            *_pack([slot.constant % 256 for slot in slots], 8),
        )
    return (
        *_pack([slot.mode for slot in slots], 2),
        *_pack([slot.a.operand for slot in slots], 2),
        *_pack([slot.a.lane for slot in slots], 4),
        *_pack([slot.b.operand for slot in slots], 2),
        *_pack([slot.b.lane for slot in slots], 4),
        shift | types,
        *_pack([slot.constant for slot in slots], 16),
    )


class _Slot(NamedTuple):
    """A product of the instruction, as the configuration has it."""

    mode: int = 0
    a: Bin = Bin(0, 0)
    b: Bin = Bin(0, 0)  # of a constant the operand is _CONSTANT
    constant: int = 0


def _slots(form: str, terms: Iterable[Term], constant_type: str) -> list[_Slot]:
    """Return the slots of all outputs; the terms of an output take its slots in their order."""
    per_output, outputs = FORMS[form]
    slots = [_Slot() for _ in range(FORMS[form].slots)]
    taken = [0] * outputs
    for term in terms:
        _check_range(form, "output", term.output, 0, outputs - 1)
        if taken[term.output] == per_output:
            raise OpkitError(
                f"DP{form}: output {term.output} has more than the {per_output} terms of this form"
            )
        index = term.output * per_output + taken[term.output]
        taken[term.output] += 1
        _check_bin(form, term.a)
        if term.b is None and term.negative:
            raise OpkitError(f"DP{form}: {term} has no second factor, so it cannot be subtracted")
        mode = _ALONE if term.b is None else _MINUS if term.negative else _PLUS
        if isinstance(term.b, Constant):
            constant = _constant(form, term.b, constant_type)
            slots[index] = _Slot(mode, term.a, Bin(_CONSTANT, 0), constant)
        elif len(slots) > SLOTS:
            raise OpkitError(f"DP{form}: the second factor of {term} must be a Constant")
        elif term.b is None:
            slots[index] = _Slot(mode, term.a)
        else:
            _check_bin(form, term.b)
            slots[index] = _Slot(mode, term.a, term.b)
    return slots


def c_array(name: str, words: Sequence[int]) -> str:
    """Return the C definition of a configuration, for opkit_set_uniform.

    Raises:
        OpkitError: the name is not a C identifier, or the words are not a configuration.
    """
    if not (name.isidentifier() and name.isascii()):
        raise OpkitError(f"'{name}' is not a C identifier")
    if len(words) != WORDS or not all(0 <= word < 2**32 for word in words):
        raise OpkitError(f"'{name}' must have {WORDS} words of 32 bits: {list(words)}")
    rows = [", ".join(f"0x{word:08X}" for word in words[i : i + 8]) for i in range(0, WORDS, 8)]
    lines = ",\n".join(f"    {row}" for row in rows)
    return f"static const vx_uint32 {name}[{WORDS}] = {{\n{lines}}};\n"


def _constant(form: str, constant: Constant, type_: str) -> int:
    """Return the 16 bits of a constant."""
    value = constant.value
    if FORMS[form].slots > SLOTS and type_ not in ("int8", "uint8"):
        raise OpkitError(
            f"DP{form}: a constant has 8 bits, so constant_type '{type_}' must be one of: int8, "
            "uint8"
        )
    if type_ == "float16":
        try:
            (bits,) = struct.unpack("<H", struct.pack("<e", float(value)))
        except OverflowError:
            bits = 0x7C00
        if not math.isfinite(value) or bits & 0x7C00 == 0x7C00:
            raise OpkitError(f"DP{form}: the constant {value} must be a finite float16")
        return int(bits)
    if type_ not in ("int8", "int16", "uint8", "uint16"):
        raise OpkitError(
            f"DP{form}: a constant has 16 bits, so constant_type '{type_}' must be one of: "
            "float16, int16, int8, uint16, uint8"
        )
    bits = int(type_.lstrip("uint"))
    low, high = (0, 2**bits - 1) if type_[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    if not low <= value <= high or value != int(value):
        raise OpkitError(
            f"DP{form}: the constant {value} must be a whole number from {low} to {high}, as "
            f"constant_type is {type_}"
        )
    return int(value) % 2**16


def _check_bin(form: str, bin_: Bin) -> None:
    _check_range(form, "operand", bin_.operand, 0, 1)
    _check_range(form, "lane", bin_.lane, 0, MAX_LANE)


def _check_range(form: str, what: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise OpkitError(f"DP{form}: {what} {value} must be {low} to {high}")


def _pack(fields: list[int], bits: int) -> Iterable[int]:
    """Pack fields of `bits` bits into words of 32 bits, the first into the lowest bits."""
    packed = sum(field << index * bits for index, field in enumerate(fields))
    for start in range(0, len(fields) * bits, 32):
        yield packed >> start & 0xFFFFFFFF
