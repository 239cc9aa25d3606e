"""PPLNN, the runtime of OpenPPL: its riscv and x86 engines."""
