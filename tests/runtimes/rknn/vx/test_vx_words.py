"""Notes about words of the language that no published kernel uses."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from opkit.runtimes.rknn.vx.drift import unpublished

PUBLISHED = os.environ.get("PUBLISHED_VX", "")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("float8 f;", ["float8"]),
        ("vxc_half8 h = convert_half8(f);", ["convert_half8"]),
        ("float4 y = tanh(x) + tanh(y);", ["tanh"]),
        ("float4 y = exp(x); int8 d; int4 i = convert_int4_rte(y);", []),
        ("/* tanh(x) */ int tanh = 3; // float8", []),
        ("#define tanh(x) x\ny = tanh(x);", []),
        ("static float tanh(float x);\ny = tanh(x);", []),
        ("__kernel void tanh(image2d_t x) { }", []),
        ("    return tanh(x);", ["tanh"]),
        ("vload_half4(0, p); vload_half3(0, p);", ["vload_half3"]),
    ],
)
def test_words_that_no_published_kernel_uses(code: str, words: list[str]) -> None:
    assert unpublished(f"\n{code}", "k.vx") == [
        f"k.vx:{2 + code.count(chr(10))}: note: no published kernel uses '{word}'" for word in words
    ]


@pytest.mark.skipif(not PUBLISHED, reason="PUBLISHED_VX names no folder")
def test_published_kernels_have_no_notes() -> None:
    for source in Path(PUBLISHED).glob("*.vx"):
        assert unpublished(source.read_text(errors="replace"), source.name) == []
