"""The flags of optimization of every ABI, chosen by `python -m benchmarks.flags`."""

from __future__ import annotations

EXACT = ("-ffp-contract=off",)
"""No fused multiplication and addition, which rounds once instead of twice: an operator's own
arithmetic has the same bits on every ABI, so that a check on this PC holds for the board. With
`-std=c11` it is the default of GCC, but not of clang. clang fuses the functions of
opkit/compute/math.h all the same: they are within their error either way."""

# Four vectors side by side in each vectorized loop: a processor that executes instructions in order
# waits less for the result of the previous one.
_INTERLEAVE = ("-mllvm", "-force-vector-interleave=4")

_ZIG = {
    "x64": ("-O2", *_INTERLEAVE),
    "aarch64": ("-O2", *_INTERLEAVE),
    "armhf": ("-O2",),  # 16 vector registers are too few for four vectors side by side
    "riscv64": ("-O2",),  # RISC-V has vectors of any length, of several registers each
}

# At -O2, GCC before 12 vectorizes only when told. It vectorizes comparisons of floats only if they
# may set flags of the processor that the source does not set; no operator reads these flags.
_GNU = ("-O2", "-ftree-vectorize", "-fno-trapping-math")


def optimization(abi: str, toolchain: str) -> tuple[str, ...]:
    """Return the flags for fast code, to which EXACT belongs.

    Args:
        abi: the name of the ABI.
        toolchain: of the compiler, as in Compiler.
    """
    return _ZIG[abi] if toolchain == "zig" else _GNU
