"""The math's views of ppl.nn's tensors, without ppl.nn."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.compiling import C_SOURCES, build

# Type 3 is OPKIT_INT16. Rank 0 is a scalar, which has rank 1 in the math.
EXPECTED = """\
rank 0: type 3, rank 1, size 1, shape 1 1 1 1 1 1
rank 1: type 3, rank 1, size 2, shape 2 1 1 1 1 1
rank 2: type 3, rank 2, size 6, shape 2 3 1 1 1 1
rank 3: type 3, rank 3, size 24, shape 2 3 4 1 1 1
rank 4: type 3, rank 4, size 120, shape 2 3 4 5 1 1
rank 5: type 3, rank 5, size 720, shape 2 3 4 5 6 1
rank 6: type 3, rank 6, size 5040, shape 2 3 4 5 6 7
take 0: the shape rule must set the rank of every output, 1 to 6, rank 9, dims -1 -1 -1 -1 -1 -1
take 1: ok, rank 1, dims 2 -1 -1 -1 -1 -1
take 2: ok, rank 2, dims 2 3 -1 -1 -1 -1
take 3: ok, rank 3, dims 2 3 4 -1 -1 -1
take 4: ok, rank 4, dims 2 3 4 5 -1 -1
take 5: ok, rank 5, dims 2 3 4 5 6 -1
take 6: ok, rank 6, dims 2 3 4 5 6 7
take 7: the shape rule must set the rank of every output, 1 to 6, rank 9, dims -1 -1 -1 -1 -1 -1
known: 1 1 1 0
types: -1 2 4 6 -1 0 0 -1 -1 -1 1 3 5 7 2 -1
unknown: type 0, rank 1, size 1, shape 1 1 1 1 1 1
open: ok, types 0 0 0, in place 0 1 0 1 2 3
write: 3c00 4000 4200, 3c00 4000 4200, 5 6
open: ok, types 8 0 8, in place 1 1 1
write: 3c00 4000 4200, 7 7 7, 5 6
allocations: 2 0 0 0 2 0
large: not enough memory to convert the halves, 1 blocks, as halves: ok
0 blocks
"""


def test_views(tmp_path: Path) -> None:
    program = build(tmp_path / "tensors", C_SOURCES / "pplnn_tensors.c")
    assert subprocess.run([program], capture_output=True, text=True, check=True).stdout == EXPECTED
