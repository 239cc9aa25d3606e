"""Linaro's GCC, unpacked into `~/.rknn` as in the vendor's guide."""

from __future__ import annotations

import shlex

from opkit.toolchains.abi import Abi
from opkit.toolchains.compiler import Compiler, Missing, Options, described, first_program

RELEASE = "gcc-linaro-6.3.1-2017.05-x86_64"
DOWNLOADS = "https://releases.linaro.org/components/toolchain/binaries/6.3-2017.05"
"""Assumed, not evidenced: where Linaro keeps that release."""
_TRIPLES = frozenset(
    {"aarch64-linux-gnu", "arm-linux-gnueabihf"}
)  # of the compilers in the release


def find(abi: Abi, options: Options) -> Compiler | Missing | None:
    """Return the compiler of the release, or None for an ABI that the release does not support."""
    if abi.triple not in _TRIPLES:
        return None
    release = f"{RELEASE}_{abi.triple}"
    folder = options.home / ".rknn"
    place = str(folder / release / "bin" / f"{abi.triple}-gcc")
    program = first_program([place])
    if program is None:
        unpack = shlex.join(["tar", "-xf", f"{release}.tar.xz", "-C", str(folder)])
        make = shlex.join(["mkdir", "-p", str(folder)])
        archive = f"{DOWNLOADS}/{abi.triple}/{release}.tar.xz"
        remedy = f"{make} && {unpack}\n  after downloading {archive}"
        return Missing("linaro's gcc", (described(place),), remedy)
    return Compiler("linaro", abi.name, (program,), abi.gnu_flags)
