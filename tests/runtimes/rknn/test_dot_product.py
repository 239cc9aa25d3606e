"""The configuration of dot products: expected words, and invalid arguments."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from clang_format import get_executable
from hypothesis import given
from hypothesis import strategies as st

from opkit.common.errors import OpkitError
from opkit.runtimes.rknn.dot_product import (
    FORMS,
    TYPES,
    Bin,
    Constant,
    Term,
    c_array,
    configuration,
)
from rknn_op.runtimes.rknn.dot_products import DOT_PRODUCTS, header
from tests.compiling import RKNN, compile_c
from tests.repositories import ROOT

ONE = Constant(1.0)


@pytest.mark.parametrize(
    ("form", "terms", "others", "words"),
    [
        (  # four halves to floats: + in slots 0, 4, 8, 12; lanes 0 to 3 of A; a constant of float16
            *("4x4", [Term(i, Bin(0, i), ONE) for i in range(4)], {}),
            (
                *(0x01010101, 0, 0x00010000, 0x00030002, 0x02020202, 0, 0, 0x00000100),
                *(0x00003C00, 0) * 4,
            ),
        ),
        (  # even elements of two registers
            *("2x8", [Term(i, Bin(i // 4, i % 4 * 2), ONE) for i in range(8)], {}),
            (
                *(0x11111111, 0x11110000, 0x06040200, 0x06040200, 0x22222222, 0, 0, 0x00000100),
                *(0x00003C00,) * 8,
            ),
        ),
        (
            *("16x1", [Term(0, Bin(0, i), Bin(1, 15 - i)) for i in range(16)], {"shift": 5}),
            (
                *(0x55555555, 0, 0x76543210, 0xFEDCBA98),
                *(0x55555555, 0x89ABCDEF, 0x01234567, 0x00000105, *(0,) * 8),
            ),
        ),
        (  # all kinds of terms
            "8x2",
            [
                Term(1, Bin(0, 3), Constant(-2), negative=True),
                Term(0, Bin(1, 1), Bin(0, 2)),
                Term(1, Bin(1, 2)),
            ],
            {"constant_type": "int8", "accumulator_type": "int32"},
            (
                *(2 << 16 | 3 << 18 | 1, 1 << 18 | 1, 0x00000001, 0x00000023),
                *(2 << 16, 2, 0, 0x00002400, 0, 0, 0, 0, 0x0000FFFE, 0, 0, 0),
            ),
        ),
    ],
)
def test_words(form: str, terms: list[Term], others: dict[str, Any], words: Any) -> None:
    assert configuration(form, terms, **others) == words


def test_thirty_two_terms() -> None:
    """Fields of five bits cross the words; the bins of the second operand follow the first's."""
    terms = [Term(i // 8, Bin(i // 16, 15 - i % 16), Constant(i - 16)) for i in range(32)]
    words = configuration("8x4", terms, shift=2, constant_type="int8")
    number = sum(word << 32 * index for index, word in enumerate(words))
    assert words[:2] == (0x55555555,) * 2
    assert [number >> 64 + 5 * i & 31 for i in range(32)] == [
        *range(15, -1, -1),
        *range(31, 15, -1),
    ]
    assert words[7] == 0x402
    assert list(number.to_bytes(64, "little")[32:]) == [(i - 16) % 256 for i in range(32)]


@pytest.mark.parametrize(
    ("type_", "value", "word"),
    [
        ("float16", 0.5, 0x3800),
        ("float16", 0.1, 0x2E66),
        ("float16", -65504, 0xFBFF),
        ("float16", 65519, 0x7BFF),
        ("int16", -32768, 0x8000),
        ("uint16", 65535, 0xFFFF),
        ("uint8", 255, 0x00FF),
        ("int8", 127, 0x007F),
    ],
)
def test_constants(type_: str, value: float, word: int) -> None:
    words = configuration("16x1", [Term(0, Bin(0, 0), Constant(value))], constant_type=type_)
    assert words[7:] == (TYPES[type_] << 8, word, 0, 0, 0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("4x16", []), "unknown dot product '4x16' (expected 16x1, 8x2, 4x4, 2x8, 32x1, 16x2, 8x4"),
        (
            ("4x8", [Term(0, Bin(0, 0), Bin(0, 1))], 0, "int8"),
            "DP4x8: the second factor of Term(output=0",
        ),
        (("4x8", [Term(0, Bin(0, 0))], 0, "int8"), "must be a Constant"),
        (
            ("8x4", [Term(0, Bin(0, 0), ONE)]),
            "DP8x4: a constant has 8 bits, so constant_type 'float",
        ),
        (("8x4", [Term(3, Bin(1, 16), ONE)], 0, "int8"), "DP8x4: lane 16 must be 0 to 15"),
        (("4x4", [Term(4, Bin(0, 0), ONE)]), "DP4x4: output 4 must be 0 to 3"),
        (("4x4", [Term(0, Bin(2, 0), ONE)]), "DP4x4: operand 2 must be 0 to 1"),
        (("4x4", [Term(0, Bin(0, 16), ONE)]), "DP4x4: lane 16 must be 0 to 15"),
        (("4x4", [Term(0, Bin(0, 0), Bin(0, -1))]), "DP4x4: lane -1 must be 0 to 15"),
        (
            ("2x8", [Term(7, Bin(0, 0), ONE)] * 3),
            "DP2x8: output 7 has more than the 2 terms of this form",
        ),
        (("4x4", [], 32), "DP4x4: shift 32 must be 0 to 31"),
        (("4x4", [], 0, "half"), "DP4x4: constant_type 'half' must be one of: float32, float16"),
        (
            ("4x4", [Term(0, Bin(0, 0), ONE)], 0, "int32"),
            "a constant has 16 bits, so constant_type 'int32' must be one of: float16, int16, int8",
        ),
        (("4x4", [], 0, "int8", "int4"), "DP4x4: accumulator_type 'int4' must be one of: float32"),
        (
            ("4x4", [Term(0, Bin(0, 0), Constant(65520))]),
            "DP4x4: the constant 65520 must be a finite float16",
        ),
        (
            ("4x4", [Term(0, Bin(0, 0), Constant(float("nan")))]),
            "DP4x4: the constant nan must be a finite float16",
        ),
        (
            ("4x4", [Term(0, Bin(0, 0), Constant(0.5))], 0, "int16"),
            "DP4x4: the constant 0.5 must be a whole number from -32768 to 32767, as constant_type",
        ),
        (
            ("4x4", [Term(0, Bin(0, 0), Constant(-1))], 0, "uint8"),
            "DP4x4: the constant -1 must be a whole number from 0 to 255, as constant_type",
        ),
        (
            ("4x4", [Term(0, Bin(0, 0), None, negative=True)]),
            "has no second factor, so it cannot be subtracted",
        ),
    ],
)
def test_invalid_configurations(arguments: tuple[str, list[Term]], problem: str) -> None:
    with pytest.raises(OpkitError) as error:
        configuration(*arguments)
    assert problem in str(error.value)


@st.composite
def _terms(draw: st.DrawFn) -> tuple[str, list[Term]]:
    form = draw(st.sampled_from(sorted(form for form in FORMS if FORMS[form].slots == 16)))
    bins = st.builds(Bin, st.integers(0, 1), st.integers(0, 15))
    factors = st.one_of(bins, st.integers(-2048, 2048).map(Constant))
    terms = []
    for output in range(FORMS[form].outputs):
        for _ in range(draw(st.integers(0, FORMS[form].terms))):
            terms.append(Term(output, draw(bins), draw(factors), draw(st.booleans())))
    return form, terms


@given(_terms())
def test_configuration_round_trip(case: tuple[str, list[Term]]) -> None:
    form, terms = case
    words = configuration(form, terms, constant_type="int16")
    number = sum(word << (32 * index) for index, word in enumerate(words))

    def field(word: int, slot: int, bits: int) -> int:
        return number >> (32 * word + slot * bits) & (1 << bits) - 1

    found = []
    for slot in range(16):
        mode = field(0, slot, 2)
        if mode:
            b: Bin | Constant = Bin(field(4, slot, 2), field(5, slot, 4))
            if field(4, slot, 2) == 2:
                raw = field(8, slot, 16)
                b = Constant(raw - (raw >> 15 << 16))
            a = Bin(field(1, slot, 2), field(2, slot, 4))
            found.append(Term(slot // FORMS[form].terms, a, b, mode == 2))
    assert found == terms


def test_c_array_compiles_and_is_formatted(tmp_path: Path) -> None:
    text = c_array("spread", configuration("4x4", [Term(0, Bin(0, 0), ONE)]))
    assert text == (
        "static const vx_uint32 spread[16] = {\n"
        "    0x00000001, 0x00000000, 0x00000000, 0x00000000, 0x00000002, 0x00000000, 0x00000000,"
        " 0x00000100,\n"
        "    0x00003C00, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000,"
        " 0x00000000};\n"
    )
    source = tmp_path / "spread.c"
    source.write_text(text)
    (tmp_path / ".clang-format").write_text((ROOT / ".clang-format").read_text())
    formatted = subprocess.run(
        [get_executable("clang-format"), str(source)], check=True, capture_output=True, text=True
    )
    assert formatted.stdout == text


@pytest.mark.parametrize(
    ("name", "words"), [("1x", (0,) * 16), ("x", (0,) * 15), ("x", (2**32,) + (0,) * 15)]
)
def test_invalid_c_arrays(name: str, words: tuple[int, ...]) -> None:
    with pytest.raises(OpkitError, match=f"'{name}'"):
        c_array(name, words)


def test_named_dot_products_match_module() -> None:
    assert (RKNN / "dot_products.h").read_text() == header()


def test_named_dot_products_compile(tmp_path: Path) -> None:
    source = tmp_path / "named.c"
    uses = "".join(
        f'    OPKIT_TRY(opkit_set_uniform(call, "{name}", opkit_{name}));\n'
        for name in DOT_PRODUCTS
    )
    for body in ("    (void)call;\n", uses):
        source.write_text(
            '#include "opkit/runtimes/rknn/dot_products.h"\n'
            '#include "opkit/runtimes/rknn/launch.h"\n\n'
            "vx_status set(const struct opkit_call *call);\n"
            f"vx_status set(const struct opkit_call *call)\n{{\n{body}    return VX_SUCCESS;\n}}\n"
        )
        result = compile_c(tmp_path / "named.o", source, "-c")
        assert result.returncode == 0, result.stderr
