"""Texts of users in generated code are data."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from opkit.common.text import c_comment, c_float, c_string
from tests.compiling import build

TEXTS = (
    "",
    *(chr(code) for code in range(1, 0x180)),
    *('"; exit(1); "', "??/", "a\\", "\x011", "é\n\t", "\U0001f600", "%s{{ x }}$name"),
)


def test_c_strings_hold_every_text(tmp_path: Path) -> None:
    rows = "".join(f"    {c_string(text)},\n" for text in TEXTS)
    source = tmp_path / "texts.c"
    source.write_text(
        "#include <stdio.h>\n#include <string.h>\n"
        f"static const char *const texts[] = {{\n{rows}}};\n"
        "int main(void)\n{\n"
        "    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {\n"
        "        fwrite(texts[i], 1, strlen(texts[i]) + 1, stdout);\n"
        "    }\n    return 0;\n}\n"
    )
    program = build(tmp_path / "texts", source)
    printed = subprocess.run([program], capture_output=True, check=True).stdout
    assert printed == b"".join(text.encode() + b"\0" for text in TEXTS)


@given(st.text("*/?a ", max_size=12))
@example("ends with ??/")
@example("/*/")
@example("*??/")
def test_comments_end_where_they_should(text: str) -> None:
    inside = c_comment(text)[3:-3]
    for mark in ("/*", "*/", "??/"):  # the latter would be a backslash
        assert mark not in inside
    assert inside.replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize(
    ("value", "bits", "text"),
    [
        (0.1, 32, "0.1f"),
        (0.1, 64, "0.1"),
        (-1e-200, 32, "-0.0f"),
        (1e-200, 64, "1e-200"),
        (2e-45, 32, "2e-45f"),
        (3.4028234663852886e38, 32, "3.4028234663852886e+38f"),
    ],
)
def test_floats_too_small_for_their_type_are_0(value: float, bits: int, text: str) -> None:
    assert c_float(value, bits, "f") == text
