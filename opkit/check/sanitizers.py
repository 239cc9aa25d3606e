"""The compiler's sanitizers: their flags, and short reports."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from opkit.common.errors import OpkitError

SANITIZERS = ("address", "undefined", "thread")
"""The values of `sanitize=`."""

FLAGS = {
    "address": ("-fsanitize=address", "-DHARNESS_ADDRESS_SANITIZER"),
    # gcc's `undefined` does not include the conversion of a float to an integer out of range, which
    # saturates on the devices' processors, but not on a PC's.
    "undefined": ("-fsanitize=undefined,float-cast-overflow",),
    "thread": ("-fsanitize=thread", "-DHARNESS_THREAD_SANITIZER"),
}
"""Sanitizer -> its flags for compiling and linking."""

NO_SANITIZERS = "none"
"""The value of `sanitize=` with which undefined behavior is not reported."""

INSTRUMENTED = (
    # A NULL pointer, an access beside a block and a division by zero end in a fault, which is
    # reported anyway. Unsigned integers wrap. gcc has the same names.
    "-fsanitize=alignment,bool,bounds,builtin,enum,float-cast-overflow,nonnull-attribute,"
    "returns-nonnull-attribute,shift,signed-integer-overflow,vla-bound",
)
"""The flags for calls of check/harness/memory/undefined.c where behavior is undefined."""

RECORDED_ACCESSES = "-fsanitize-coverage=edge,trace-loads,trace-stores"
"""clang's flag for calls of check/harness/memory/races.c before loads and stores."""

ENVIRONMENT = {
    # The sanitizer, not the host runtime, explains faults, with the line.
    "ASAN_OPTIONS": "detect_leaks=0:handle_segv=2:handle_sigbus=2:handle_sigfpe=2:handle_sigill=2",
    "UBSAN_OPTIONS": "print_stacktrace=0",
    # The harness explains faults. Each case has a process of its own, which starts threads.
    "TSAN_OPTIONS": "halt_on_error=1:die_after_fork=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0"
    ":handle_sigill=0:handle_abort=0:report_thread_leaks=0",
}
"""The environment of a sanitized process. The host runtime reports leaks, on the PC."""

_UNDEFINED = re.compile(r"^(?P<location>.+?:\d+):\d+: runtime error: (?P<what>.*)$", re.MULTILINE)
_ADDRESS = re.compile(
    r"^==\d+==ERROR: AddressSanitizer: (?P<what>.*?)(?: on (?:\w+ )*0x|: 0x| \(|$)", re.MULTILINE
)
_RACE = re.compile(r"^WARNING: ThreadSanitizer: (?P<what>.*?) \(pid=", re.MULTILINE)
_RACE_ACCESS = re.compile(r"(?i)((?:previous )?(?:atomic )?(?:read|write) of size \d+)")
_RACE_FRAME = re.compile(r"#\d+ (?P<function>.+?) (?P<location>\S+?:\d+)(?::\d+)? \(")
_FRAME = re.compile(r"#\d+ 0x[0-9a-f]+ in (?P<function>\S+) (?P<location>.+?:\d+)(:\d+)?$")
_MAX_FRAMES = 5  # an infinite recursion has hundreds
# Files outside of the repository, of the harness, and in subfolders of a runtime's folder.
_MACHINERY = re.compile(r"/|\.\.|(?:build/)?opkit/(check/harness|runtimes/\w+/\w+)/")
# The other lines of AddressSanitizer's report for the message.
_DETAILS = (
    (re.compile(r"((?:READ|WRITE) of size \d+)"), r"\1"),
    (re.compile(r"==\d+==(The signal is .*|Hint: .*)"), r"\1"),
    (re.compile(r"0x\w+ is located (.* region) "), r"the address is \1"),
    (re.compile(r"(?:previously )?(allocated|freed) by thread \w+ here:"), r"\1 here:"),
)


def parse_sanitizers(text: str) -> list[str]:
    """Return the sanitizers of `sanitize=`, without duplicates, in the order of the table.

    Raises:
        OpkitError: a name is unknown, or excludes another one.
    """
    if text.strip() == NO_SANITIZERS:
        return []
    names = {name.strip() for name in text.split(",") if name.strip()}
    for name in sorted(names - set(SANITIZERS)):
        allowed = ", ".join((*SANITIZERS, NO_SANITIZERS))
        raise OpkitError(f"sanitize={text}: unknown sanitizer '{name}' (expected {allowed})")
    if names >= {"address", "thread"}:
        raise OpkitError(
            f"sanitize={text}: compilers have no program with both 'address' and 'thread'; run one "
            "check after the other"
        )
    return [name for name in SANITIZERS if name in names]


def reports_undefined(sanitize: str, quick: bool) -> bool:
    """Return whether the check's own build of the kernel reports undefined behavior.

    Args:
        sanitize: the value of `sanitize=`.
        quick: the value of `quick=`.
    """
    return not quick and sanitize.strip() != NO_SANITIZERS


def explain(text: str, root: Path) -> str:
    """Return a short form of a sanitizer's report; empty if there is no report.

    Args:
        text: a process' stderr.
        root: the repository. Paths are relative to it; only its functions are listed.
    """
    undefined = _UNDEFINED.search(text)
    if undefined:
        return f"{_relative(undefined['location'], root)}: {undefined['what']}"
    race = _RACE.search(text)
    if race:
        return _explain_race(race["what"], text[race.end() :].partition("\nSUMMARY: ")[0], root)
    address = _ADDRESS.search(text)
    if not address:
        return ""
    lines = list(_shortened(text[address.end() :].partition("\nSUMMARY: ")[0], root))
    frames = [line for line in lines if line.startswith("  ")]
    where = frames[0].split()[-1] + ": " if frames else ""
    return "\n".join([where + address["what"], *lines])


def _explain_race(what: str, report: str, root: Path) -> str:
    """Return the two accesses of a data race, each with the line of the user's code."""
    lines = []
    is_open = False  # the stack of an access has no line yet
    for line in map(str.strip, report.splitlines()):
        if access := _RACE_ACCESS.match(line):
            lines.append(access[1])
            is_open = True
        elif not line:
            is_open = False
        elif is_open and (frame := _RACE_FRAME.match(line)):
            location = posixpath.normpath(_relative(frame["location"], root))
            if not _MACHINERY.match(location):
                lines.append(f"  in {frame['function']}, {location}")
                is_open = False
    frames = [line for line in lines if line.startswith("  ")]
    where = frames[0].split()[-1] + ": " if frames else ""
    return "\n".join([f"{where}{what}", *lines])


def _shortened(report: str, root: Path) -> Iterator[str]:
    frames = 0
    for line in map(str.strip, report.splitlines()):
        if frame := _FRAME.match(line):
            location = _relative(frame["location"], root)
            if not _MACHINERY.match(location) and (frames := frames + 1) <= _MAX_FRAMES:
                yield f"  in {frame['function']}, {location}"
            continue
        for pattern, replacement in _DETAILS:
            if match := pattern.match(line):
                frames = 0  # another stack follows
                yield match.expand(replacement)


def _relative(location: str, root: Path) -> str:
    return location.removeprefix(f"{root}/").removeprefix("./")
