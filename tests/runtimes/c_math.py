"""The math of operators in C, for tests that need little of it."""

from __future__ import annotations


def compute_text(name: str, body: str, before: str = "") -> str:
    """Return the text of `<name>_compute.h`.

    Args:
        name: the operator's name in lower case.
        body: the statements of its function, which returns NULL after them.
        before: declarations that they need.
    """
    parameters = [f"const struct {name}_{each} *{each}" for each in ("inputs", "params")]
    return (
        "#pragma once\n#include <stdio.h>\n#include <string.h>\n"
        f'#include "generated/{name}.h"\n{before}\n'
        f"static const char *{name}_compute({', '.join(parameters)},"
        f" struct {name}_outputs *outputs)\n{{\n"
        f"(void)inputs, (void)params, (void)outputs;\n{body}\nreturn NULL;\n}}\n"
    )
