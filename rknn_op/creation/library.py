"""The library of ready operators: one folder each, with a description and the user's files.

`library.yml` of a folder has the facts that the description has no keys for: `onnx`, the first
opset of ONNX whose operator of that name it computes, for operators of ONNX; `max_inputs`, if it
has a varying count of inputs, with names that end with an index from 0; and `refuses`, the modes,
types and shapes that it refuses by an error. `measured.yml` of the library has what
`python -m benchmarks.operators` measured of each operator of ONNX.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from opkit import runtimes
from opkit.code_layout import LINE_LENGTH
from opkit.description.file import read_description
from opkit.description.spec import OpSpec
from opkit.errors import OpkitError
from opkit.files.skeletons import once_only_files
from opkit.text import did_you_mean, printable, shortened
from opkit.version import VERSION
from rknn_op.creation.rewriting import with_repeated_input

_FACTS = "library.yml"
MEASURED = "measured.yml"


@dataclass(frozen=True)
class Measured:
    """An operator beside onnxruntime.

    Attributes:
        onnxruntime: its version.
        rtol: the relative tolerance of the random calls of the library's tests.
        atol: the absolute one.
        inputs: of the call whose time was measured, with their shapes.
        times: vector instructions of x86-64 -> time relative to onnxruntime's, with one thread.
    """

    onnxruntime: str
    rtol: float
    atol: float
    inputs: str
    times: Mapping[str, float]


@dataclass(frozen=True)
class LibraryOperator:
    """An operator of the library.

    Attributes:
        folder: its folder.
        text: its description.
        spec: the same, parsed.
        onnx: the first opset of ONNX's operator of that name; None: not an operator of ONNX.
        refuses: the modes, types and shapes that it refuses.
        max_inputs: the maximum count of inputs, if that varies; else 0.
        measured: beside onnxruntime; None: nothing was measured.
    """

    folder: Path
    text: str
    spec: OpSpec
    onnx: int | None = None
    refuses: Sequence[str] = ()
    max_inputs: int = 0
    measured: Measured | None = None

    @property
    def models(self) -> str:
        """The models that have it."""
        if self.onnx:
            return f"ONNX, opset {self.onnx} and later"
        return f"models of {self.spec.framework}"

    @property
    def summary(self) -> str:
        """The first line of the description, a comment."""
        return self.text.partition("\n")[0].removeprefix("# ")

    def with_inputs(self, count: int) -> LibraryOperator:
        """Return the operator with another count of inputs; itself if that does not vary.

        Args:
            count: the count of inputs, from 1 to max_inputs.
        """
        if not self.max_inputs or count == len(self.spec.inputs):
            return self
        text = with_repeated_input(self.text, count)
        return replace(self, text=text, spec=runtimes.parse(text, str(self.folder)))

    def files(self, spec: OpSpec) -> dict[str, bytes]:
        """Return path -> content of its files for an operator with other runtimes.

        Args:
            spec: the operator, adapted to the runtimes.
        """
        own = {*once_only_files(self.spec, runtimes.selected(self.spec))}
        written = once_only_files(spec, runtimes.selected(spec), source_section(self))
        foreign = own - {*written}
        folders = {*runtimes.available()} - {*spec.runtimes}
        found = {"README.md": written["README.md"].encode()}
        for path in sorted(self.folder.rglob("*")):
            name = path.relative_to(self.folder).as_posix()
            is_foreign = name in foreign or name.partition("/")[0] in folders
            if path.is_file() and path.suffix not in (".yml", ".pyc") and not is_foreign:
                found[name] = path.read_bytes()
        return {
            name: data
            for name, data in found.items()
            if not (_is_test(name) and _uses_others(data.decode(), spec))
        }


def _is_test(name: str) -> bool:
    return name.startswith("tests/") and name.endswith(".py")


def source_section(operator: LibraryOperator) -> str:
    """Return the README's section on an operator's source, limits, error and speed."""
    lines = (
        textwrap.fill(line, LINE_LENGTH, initial_indent="* ", subsequent_indent="  ")
        for line in source_lines(operator)
    )
    return "## Source of the math\n\n" + "".join(f"{line}\n" for line in lines)


def source_lines(operator: LibraryOperator) -> Iterator[str]:
    """Yield the source, limits, error and speed of an operator as far as known, a line each."""
    name, models = operator.spec.name, operator.models
    yield f"Source: {name} of the operator library of rknn-op {VERSION}, for {models}."
    if operator.refuses:
        yield f"Refused by an error: {'; '.join(operator.refuses)}."
    if found := operator.measured:
        program = f"onnxruntime {found.onnxruntime}"
        limits = [f"{found.atol:g}"] if found.atol else []
        limits += [f"{found.rtol:g} of the result"] if found.rtol else []
        bound = f"differ by at most {' + '.join(limits)}" if limits else "are equal"
        yield f"Error: in random calls the results {bound}, compared with {program}."
        times = ", ".join(f"{time:.2f} x with {name}" for name, time in found.times.items())
        yield (
            f"Speed: the time of the CPU kernel relative to that of {program} is {times}, on one "
            f"thread of an x86-64 PC ({found.inputs})."
        )


def _uses_others(test: str, spec: OpSpec) -> bool:
    """Whether a file of tests calls the functions of a runtime that an operator lacks."""
    names = {
        name
        for runtime in runtimes.available().values()
        if runtime.name not in spec.runtimes
        for name in runtime.check.test_functions
    }
    return any(name in test for name in names)


def descriptions(library: Path) -> list[Path]:
    """Return the paths of the descriptions of a library, sorted; each is `NAME/NAME.yml`."""
    return sorted(path for path in library.glob("*/*.yml") if path.stem == path.parent.name)


def operators(library: Path) -> list[LibraryOperator]:
    """Return the operators of a library, sorted by name."""
    found = measured(library)
    every = (_operator(file, found) for file in descriptions(library))
    return sorted(every, key=lambda each: each.spec.name.lower())


def measured(library: Path) -> dict[str, Measured]:
    """Return operator -> its measured facts."""
    file = library / MEASURED
    entries = yaml.safe_load(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return {name: Measured(**entry) for name, entry in entries.items()}


def operator(library: Path, name: str) -> LibraryOperator:
    """Return an operator of a library.

    Args:
        library: the folder of the library.
        name: the operator's name in any letter case, or that of its folder.

    Raises:
        OpkitError: the library does not have it.
    """
    for file in descriptions(library):
        if is_name_of(file.stem, name):  # reading all takes longer
            return _operator(file, measured(library))
    hint = did_you_mean(name, [each.spec.name for each in operators(library)])
    raise OpkitError(
        f"the library has no operator '{printable(shortened(name))}'; "
        f"{hint or '`rknn-op library` lists them'}"
    )


def is_name_of(folder: str, name: str) -> bool:
    """Whether a word names the operator of a folder, whose name is the operator's in snake case."""
    return folder.replace("_", "") == name.lower().replace("_", "")


def _operator(file: Path, found: Mapping[str, Measured]) -> LibraryOperator:
    text = read_description(file)
    spec = runtimes.parse(text, str(file))
    facts: Mapping[str, Any] = {}
    if (path := file.with_name(_FACTS)).is_file():
        facts = yaml.safe_load(path.read_text(encoding="utf-8"))
    return LibraryOperator(
        file.parent,
        text,
        spec,
        facts.get("onnx"),
        facts.get("refuses", ()),
        facts.get("max_inputs", 0),
        found.get(spec.name),
    )
