"""Where the time of kernels goes: a bar of phases for the largest case of each kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from opkit.check.profile import PHASES, Profile
from opkit.check.results import Record
from opkit.report.rendering import render

WIDTH, HEIGHT = 1000, 20  # SVG units of a bar; the page stretches it

EXPLANATIONS: Mapping[str, str] = {
    "copy": "between the memory of the runtime and the kernel's",
    "conversion": "of halves and of other types",
    "math": "your C",
    "allocation": "malloc and free, with the system's work for new pages",
    "other": "the rest of the call, and the measurement",
}
"""Phase -> its meaning, for the page."""


@dataclass(frozen=True)
class Segment:
    """A phase of a bar.

    Attributes:
        phase: its name.
        x: its begin, in SVG units.
        width: in SVG units.
        time: nanoseconds per element, as text.
        percent: of the call, as text.
    """

    phase: str
    x: float
    width: float
    time: str
    percent: str


@dataclass(frozen=True)
class Bar:
    """The profile of a kernel on a case.

    Attributes:
        record: the index of the record.
        kernel: the kernel's name.
        case: the case's name.
        dtypes: of the inputs.
        elements: of the largest tensor.
        time: nanoseconds per element, as text.
        calls: the number of measured calls.
        segments: its phases that take time.
    """

    record: int
    kernel: str
    case: str
    dtypes: str
    elements: int
    time: str
    calls: int
    segments: Sequence[Segment]

    @property
    def content(self) -> Markup:
        """The inside of the SVG element."""
        return render("profile.svg", segments=self.segments, height=HEIGHT)

    @property
    def description(self) -> str:
        """The segments, as one line of text."""
        return ", ".join(f"{each.phase} {each.time} ns ({each.percent})" for each in self.segments)


def bars(records: Iterable[Record]) -> list[Bar]:
    """Return a bar for the largest profiled case of each kernel and dtypes, in their order."""
    largest: dict[tuple[str, str], tuple[int, Record, Profile]] = {}
    for index, record in enumerate(records):
        profile = record.result.profile
        key = record.result.kernel, _dtypes(record)
        if profile and (key not in largest or profile.elements > largest[key][2].elements):
            largest[key] = index, record, profile
    return [
        Bar(
            record=index,
            kernel=kernel,
            case=record.result.case,
            dtypes=dtypes,
            elements=profile.elements,
            time=time_text(profile.total / profile.elements),
            calls=profile.calls,
            segments=_segments(profile),
        )
        for (kernel, dtypes), (index, record, profile) in largest.items()
    ]


def _dtypes(record: Record) -> str:
    """Return the dtypes of the inputs, each once."""
    return ", ".join(dict.fromkeys(text.partition(" ")[0] for text in record.inputs.values()))


def _segments(profile: Profile) -> list[Segment]:
    found, begin = [], 0.0
    for phase in PHASES:
        nanoseconds = profile.nanoseconds[phase]
        share = nanoseconds / profile.total if profile.total else 0.0
        if share > 0:
            width = WIDTH * share
            time = time_text(nanoseconds / profile.elements)
            percent = f"{share:.0%}" if share >= 0.005 else "< 1%"
            found.append(Segment(phase, round(begin, 1), round(width, 1), time, percent))
            begin += width
    return found


def time_text(nanoseconds: float) -> str:
    """Return nanoseconds with three digits, and at most two behind the point."""
    if 0 < nanoseconds < 0.005:
        return "< 0.01"
    return f"{nanoseconds:.{2 if nanoseconds < 10 else 1 if nanoseconds < 100 else 0}f}"
