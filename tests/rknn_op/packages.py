"""Sample packages, and a writer."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from hypothesis import strategies as st

from opkit.runtimes.rknn import rknnop
from opkit.runtimes.rknn.rknnop import Package, pack

OP_YML = """\
name: Op
kernel_index: 1
inputs:
  a: {type: VX_TYPE_TENSOR}
  b: {type: VX_TYPE_TENSOR}
outputs: {c: {type: VX_TYPE_TENSOR}}
params:
  size: {type: VX_TYPE_INT32, default: 1}
  scale: {type: VX_TYPE_FLOAT32}
"""
PACKAGE = Package(
    version=2,
    program_binary=b"FULLPRGM....",
    libraries={"x64": b"\x7fELF", "aarch64": b"<html>", "armhf": b""},
    description=OP_YML,
    python="class Op:\n    pass\n",
)
VERSION_1 = dataclasses.replace(
    PACKAGE, version=1, libraries={"x64": b"\x7fELF", "aarch64": b"<html>"}
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
PACKAGES = st.sampled_from(sorted(rknnop.LIBRARIES)).flatmap(
    lambda version: st.builds(
        Package,
        version=st.just(version),
        program_binary=st.binary(),
        libraries=st.fixed_dictionaries({abi: st.binary() for abi in rknnop.LIBRARIES[version]}),
        description=TEXT,
        python=TEXT,
    )
)

LIBRARY = (
    "#include <stdlib.h>\n"
    '__attribute__((visibility("default"))) void *(*vx_kernel_Op_list[])(size_t) = {malloc, 0};\n'
)


def write(path: Path, package: Package) -> str:
    """Write a package, and return its path."""
    path.write_bytes(pack(package))
    return str(path)
