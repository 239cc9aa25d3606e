"""An executor: the start command of a program with a kernel, on this PC or elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Executor:
    """The start command of a harness; check/harness/protocol.c has the protocol.

    Attributes:
        name: the name in the table of cases, for instance "armhf".
        command: the start command.
        environment: variables added to the environment of the process.
        measures: whether the kernel's time is meaningful there.
        runtime: the name of the runtime that calls the kernel there; empty: any.
        abi: the ABI of the program; empty: this PC's.
        sampled: whether only a sample of the cases runs there.
        settings: name -> value for the runtime's own kernel; see VendorKernel.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    measures: bool = False
    runtime: str = ""
    abi: str = ""
    sampled: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)
