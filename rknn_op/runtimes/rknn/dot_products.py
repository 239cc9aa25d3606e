"""Common dot products by name: the content of dot_products.h.

`python3 -m rknn_op.runtimes.rknn.dot_products` prints that file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from opkit.runtimes.rknn.dot_product import Bin, Constant, Term, c_array, configuration

_ONE = Constant(1)
_FIRST, _SECOND = 0, 1  # operands

_HEAD = """\
/*
 * Dot products that many VX kernels use, for opkit_set_uniform (launch.h). In the .vx file:
 *
 *     _viv_uniform VXC_512Bits low_halves_to_floats;
 *
 *     VXC_DP4x4(low, halves, halves, VXC_MODIFIER(0, 3, 0, VXC_RM_TowardZero, 0),
 *               low_halves_to_floats);
 *
 * and in the .c file:
 *
 *     opkit_set_uniform(call, "low_halves_to_floats", opkit_low_halves_to_floats)
 *
 * A and B are the first and the second operand. Written by rknn_op/runtimes/rknn/dot_products.py.
 */
#ifndef OPKIT_DOT_PRODUCTS_H
#define OPKIT_DOT_PRODUCTS_H

#include <VX/vx.h>

"""


class DotProduct(NamedTuple):
    """A configuration with a name.

    Attributes:
        form: the instruction, as in opkit.runtimes.rknn.dot_product.FORMS.
        doc: a description of its outputs.
        terms: the products to add up.
        constant_type: the type of its constants.
        accumulator_type: the type of its sums.
    """

    form: str
    doc: str
    terms: Sequence[Term]
    constant_type: str = "float16"
    accumulator_type: str = "float32"

    def words(self) -> tuple[int, ...]:
        """Return the 16 words."""
        return configuration(
            self.form,
            self.terms,
            constant_type=self.constant_type,
            accumulator_type=self.accumulator_type,
        )


def _copies(first: int) -> list[Term]:
    return [Term(i, Bin(_FIRST, first + i), _ONE) for i in range(4)]


def _sum(elements: int) -> list[Term]:
    return [Term(0, Bin(_FIRST, i), _ONE) for i in range(elements)]


def _products(first: int) -> list[Term]:
    return [Term(i, Bin(_FIRST, first + i), Bin(_SECOND, first + i)) for i in range(4)]


DOT_PRODUCTS = {
    "low_halves_to_floats": DotProduct(
        "4x4", "elements 0 to 3 of A: halves become floats", _copies(0)
    ),
    "high_halves_to_floats": DotProduct(
        "4x4", "elements 4 to 7 of A: halves become floats", _copies(4)
    ),
    # An element of a half4 has 32 bits, so two lanes.
    "pack_halves": DotProduct(
        "2x8",
        "the elements of A, then those of B, which are half4: one half8",
        [Term(i, Bin(i // 4, i % 4 * 2), _ONE) for i in range(8)],
    ),
    "low_bytes_to_floats": DotProduct(
        "4x4", "elements 0 to 3 of A: bytes become floats", _copies(0)
    ),
    "high_bytes_to_floats": DotProduct(
        "4x4", "elements 4 to 7 of A: bytes become floats", _copies(4)
    ),
    "pack_ints_to_bytes": DotProduct(
        "2x8",
        "the elements of A, then those of B, which are int4: 8 bytes",
        [Term(i, Bin(i // 4, i % 4)) for i in range(8)],
        "int8",
        "int32",
    ),
    "low_products_of_halves": DotProduct(
        "4x4", "A * B of elements 0 to 3, as floats", _products(0)
    ),
    "high_products_of_halves": DotProduct(
        "4x4", "A * B of elements 4 to 7, as floats", _products(4)
    ),
    "sum_of_halves": DotProduct("16x1", "the sum of the 8 halves of A", _sum(8)),
    "dot_product_of_halves": DotProduct(
        "16x1",
        "the sum of A * B of all 8 halves",
        [Term(0, Bin(_FIRST, i), Bin(_SECOND, i)) for i in range(8)],
    ),
    "sum_of_bytes": DotProduct("16x1", "the sum of the 16 bytes of A", _sum(16), "uint8"),
}
"""name -> configuration, without the prefix that it has in C."""


def header() -> str:
    """Return the text of dot_products.h."""
    tables = (
        f"/* For VXC_DP{table.form}: {table.doc}. */\n{c_array(f'opkit_{name}', table.words())}\n"
        for name, table in DOT_PRODUCTS.items()
    )
    return f"{_HEAD}{''.join(tables)}#endif\n"


if __name__ == "__main__":
    print(header(), end="")
