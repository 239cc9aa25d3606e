"""An executor: where a program with a kernel runs, and how it is started."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Executor:
    """How the harness is started; check/harness/protocol.c has the protocol.

    Attributes:
        name: its name in the table of cases, for instance "armhf".
        command: what starts it.
        environment: variables added to its environment.
        measures: whether the time of the kernel is meaningful there.
        runtime: the name of the runtime that calls the kernel there; empty: any.
        abi: the ABI of the program; empty: this PC's.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    measures: bool = False
    runtime: str = ""
    abi: str = ""
