"""The operators of the tests with PPLNN_BUILD, in the checkout that was built.

    python -m tests.runtimes.pplnn.built_operators PPLNN

lays them over the checkout of ppl.nn in the folder PPLNN; then run cmake, and build it again.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from opkit import runtimes
from opkit.runtimes.pplnn import apply
from tests.repositories import generate_example
from tests.runtimes.pplnn.operators import make_repository

EXAMPLES = ("compress", "einsum", "is_nan", "top_k")
"""Operators of the library, with cases."""

ELEMENTWISE = {
    "DenseInverse": ("x", "ndarray", "1.0f / x"),
    "Inverse": ("x", "any", "1.0f / x"),
    "Product": ("x z", "any", "x * z"),
}
"""Name -> inputs, layout, math in C. The inverse of the padding, 0, is infinite."""


def _make_elementwise(folder: Path, name: str) -> Path:
    """Write the repository of an operator of ELEMENTWISE, and return it."""
    inputs, layout, math = ELEMENTWISE[name]
    tensors = ", ".join(f"{each}: {{type: VX_TYPE_TENSOR}}" for each in inputs.split())
    description = (
        f"name: {name}\nruntimes: [pplnn]\nelementwise: true\nlayout: {layout}\n"
        f"inputs: {{{tensors}}}\noutputs: {{y: {{type: VX_TYPE_TENSOR}}}}\n"
    )
    lower = runtimes.parse(description).lower
    root = make_repository(folder / name, description)
    arguments = "".join(f"float {each}, " for each in inputs.split())
    (root / f"{lower}_scalar.h").write_text(
        f'#pragma once\n#include "generated/{lower}.h"\n'
        f"static inline float {lower}_of({arguments}const struct {lower}_params *params)\n"
        f"{{\n    (void)params;\n    return {math};\n}}\n"
    )
    return root


def repositories(folder: Path) -> Iterator[Path]:
    """Write the repository of each operator into a folder."""
    for name in EXAMPLES:
        yield generate_example(folder, name, "pplnn").path
    for name in ELEMENTWISE:
        yield _make_elementwise(folder, name)


def main() -> None:
    """Lay the operators over a checkout."""
    with TemporaryDirectory() as folder:
        for root in repositories(Path(folder)):
            if status := apply.main([sys.argv[1]], root):
                sys.exit(status)


if __name__ == "__main__":
    main()
