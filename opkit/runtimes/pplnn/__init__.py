"""PPLNN, the runtime of OpenPPL: its riscv and x86 engines."""

from opkit.runtimes.pplnn.runtime import Pplnn

RUNTIME = Pplnn()
