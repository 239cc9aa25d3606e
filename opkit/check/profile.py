"""Where the time of a kernel's call goes, by phase."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

PHASES = ("copy", "conversion", "math", "allocation", "other")
"""The phases of a call, in the order of profile.h. copy: between the memory of the runtime and the
kernel's; conversion: of halves and other types; math: the user's C; allocation: malloc and free,
with the system's work for new pages."""

SECONDS = 0.01  # of the calls of a profile, all together
MIN_CALLS, MAX_CALLS = 3, 1000


@dataclass(frozen=True)
class CallProfile:
    """One call.

    Attributes:
        seconds: its time.
        ticks: phase -> its ticks; only their ratios have a meaning.
    """

    seconds: float
    ticks: Mapping[str, int]

    @classmethod
    def parse(cls, record: str) -> CallProfile:
        """Return the call in a record of the harness: `<seconds> <phase> <ticks> ...`."""
        seconds, *words = record.split()
        return cls(float(seconds), dict(zip(words[::2], map(int, words[1::2]), strict=True)))


@dataclass(frozen=True)
class Profile:
    """The time of a kernel's call by phase.

    Attributes:
        nanoseconds: phase -> its time in a call; the sum is the time of the call.
        elements: the number of elements of the case's largest tensor.
        calls: the number of measured calls.
    """

    nanoseconds: Mapping[str, float]
    elements: int
    calls: int

    @classmethod
    def read(cls, fields: Mapping[str, Any] | None) -> Profile | None:
        """Return the profile in the fields of dataclasses.asdict, also after JSON."""
        return None if fields is None else cls(**fields)

    @property
    def total(self) -> float:
        """The nanoseconds of a call."""
        return sum(self.nanoseconds.values())

    @property
    def per_element(self) -> dict[str, float]:
        """Phase -> its nanoseconds per element, in the order of PHASES."""
        return {phase: self.nanoseconds[phase] / self.elements for phase in PHASES}


def calls_for(seconds: float) -> int:
    """Return the number of calls for a profile, given the time of one."""
    return round(min(max(SECONDS / max(seconds, 1e-9), MIN_CALLS), MAX_CALLS))


def profile_of(calls: Sequence[CallProfile], elements: int) -> Profile:
    """Return the mean of the middle half of the calls, by their time.

    Unlike medians of the phases, these means sum to the time of a call.

    Args:
        calls: at least one.
        elements: see Profile.
    """
    ordered = sorted(calls, key=lambda call: call.seconds)
    left_out = (len(ordered) + 1) // 4
    middle = ordered[left_out : len(ordered) - left_out]
    return Profile(
        {
            phase: sum(_nanoseconds(call, phase) for call in middle) / len(middle)
            for phase in PHASES
        },
        elements,
        len(ordered),
    )


def _nanoseconds(call: CallProfile, phase: str) -> float:
    return 1e9 * call.seconds * call.ticks[phase] / max(sum(call.ticks.values()), 1)
