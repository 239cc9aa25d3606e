"""The library of ready operators: one folder each, with a description and the user's files.

`library.yml` of a folder has the facts that the description has no keys for: `onnx`, the first
opset of ONNX whose operator of that name it computes, for operators of ONNX; `domain`, for those of
another domain, whose schema has the names of inputs, outputs and params, too; `max_inputs`, if it
has a varying count of inputs, with names that end with an index from 0; `dtypes`, the tensors that
have one of some dtypes in models, which op.yml declares then; `refuses`, the modes, types and
shapes that it refuses by an error; and `templates`, the folders of `templates/` with the text that
it has in common with other operators. A file `NAME.part.SUFFIX` is the operator's own part of a
template's `NAME.SUFFIX`, where `OP` is the operator's name in lower case. `measured.yml` of the
library has what `python -m benchmarks.operators` measured of each operator of ONNX.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from opkit import runtimes
from opkit.common.code_layout import LINE_LENGTH
from opkit.common.errors import OpkitError
from opkit.common.text import did_you_mean, printable, shortened, wrapped
from opkit.description.file import read_description
from opkit.description.spec import OpSpec
from opkit.files.skeletons import once_only_files
from opkit.version import VERSION
from rknn_op import template
from rknn_op.creation import new_repository
from rknn_op.creation.choices import Choices
from rknn_op.creation.description_texts import with_dtype, with_repeated_input
from rknn_op.creation.new_repository import Plan

_FACTS = "library.yml"
MEASURED = "measured.yml"
_TEMPLATES = "templates"
_OWN_KERNEL = re.compile(r"_(?!cpu_)[a-z]+_kernel\b")
"""A function of tests that not every runtime has, such as `check_vx_kernel`."""


@dataclass(frozen=True)
class Measured:
    """The error and the speed of an operator, compared with onnxruntime.

    Attributes:
        onnxruntime: its version.
        vectors: the widest that onnxruntime took.
        rtol: the relative tolerance of the random calls of the library's tests.
        atol: the absolute one.
        inputs: of the call whose time was measured, with their shapes.
        times: vector instructions of x86-64 -> time relative to onnxruntime's, with one thread.
    """

    onnxruntime: str
    vectors: str
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
        domain: the domain of the operator of that name in ONNX models; empty: ONNX's own, or none.
        refuses: the modes, types and shapes that it refuses.
        max_inputs: the maximum count of inputs, if that varies; else 0.
        dtypes: input or output -> its dtypes that op.yml must declare if a model has them. Other
            dtypes are those of op.yml, or the runtimes know them.
        templates: the folders of templates that its files are made from.
        measured: compared with onnxruntime; None: not measured.
    """

    folder: Path
    text: str
    spec: OpSpec
    onnx: int | None = None
    domain: str = ""
    refuses: Sequence[str] = ()
    max_inputs: int = 0
    dtypes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    templates: Sequence[str] = ()
    measured: Measured | None = None

    @property
    def models(self) -> str:
        """The models that have it."""
        if self.onnx:
            return f"ONNX, opset {self.onnx} and later"
        if self.domain:
            return f"ONNX, domain {self.domain}"
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

    def with_dtypes(self, dtypes: Mapping[str, str]) -> LibraryOperator:
        """Return the operator with dtypes that op.yml declares.

        Args:
            dtypes: input or output -> one of those of `dtypes`.
        """
        text = self.text
        for name, dtype in dtypes.items():
            text = with_dtype(text, name, dtype)
        return replace(self, text=text, spec=runtimes.parse(text, str(self.folder)))

    def files(self, spec: OpSpec) -> dict[str, bytes]:
        """Return path -> content of its files for an operator with other runtimes.

        Args:
            spec: the operator, adapted to the runtimes.
        """
        lines = (
            textwrap.fill(line, LINE_LENGTH, initial_indent="* ", subsequent_indent="  ")
            for line in source_lines(self)
        )
        source = "## Source of the math\n\n" + "".join(f"{line}\n" for line in lines)
        written = once_only_files(spec, runtimes.selected(spec), source)
        found = {
            name: text.encode()
            for name, text in {"README.md": written["README.md"], **self._rendered(spec)}.items()
        }
        for path in sorted(self.folder.rglob("*")):
            is_part = path.stem.endswith(".part")
            if path.is_file() and path.suffix not in (".yml", ".pyc") and not is_part:
                found[path.relative_to(self.folder).as_posix()] = path.read_bytes()
        absent = {
            name: each for name, each in runtimes.available().items() if name not in spec.runtimes
        }
        foreign = {name for name in found if name.partition("/")[0] in absent}
        # The parts with files and functions of tests take long to import, and are needed rarely.
        if extra := found.keys() - written.keys() - foreign:
            lost = [each for each in runtimes.selected(self.spec) if each.name in absent]
            foreign |= extra & {*(once_only_files(self.spec, lost) if lost else ())}
        tests = {
            name: data.decode()
            for name, data in found.items()
            if name.startswith("tests/") and name.endswith(".py")
        }
        kernels = [name for each in runtimes.available().values() for name in each.describe.kernels]
        missing = [kernel for kernel in kernels if kernel not in spec.kernels]
        of_all = once_only_files(
            spec._replace(kernels=(*spec.kernels, *missing)), runtimes.selected(spec)
        )
        foreign |= found.keys() & of_all.keys() - written.keys()
        if any(map(_OWN_KERNEL.search, tests.values())):
            functions = {name for each in absent.values() for name in each.check.test_functions}
            functions |= {f"check_{kernel}_kernel" for kernel in missing}
            foreign |= {
                name
                for name, text in tests.items()
                if any(function in text for function in functions)
            }
        return {name: data for name, data in found.items() if name not in foreign}

    def _rendered(self, spec: OpSpec) -> dict[str, str]:
        """Return path -> text of the files that are made from templates."""
        from jinja2 import Environment, StrictUndefined  # not for the other operators

        environment = Environment(
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        skeletons = once_only_files(spec, runtimes.selected(spec))
        docstring, _, _ = skeletons[f"{spec.lower}_reference.py"].partition("\n\nimport ")
        found = {}
        for folder in (self.folder.parent / _TEMPLATES / name for name in self.templates):
            for source in sorted(path for path in folder.rglob("*.*") if path.is_file()):
                name = source.relative_to(folder).as_posix().replace("OP", spec.lower)
                path = self.folder / name
                part = path.with_suffix(f".part{path.suffix}")
                own = {"own": part.read_text(encoding="utf-8").rstrip()} if part.is_file() else {}
                found[name] = environment.from_string(source.read_text(encoding="utf-8")).render(
                    spec=spec,
                    lower=spec.lower,
                    upper=spec.lower.upper(),
                    docstring=docstring,
                    **own,
                )
        return found


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
            f"Speed: the time of the CPU kernel relative to that of {program} with "
            f"{found.vectors} is {times}, on one thread of an x86-64 PC ({found.inputs})."
        )


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


def named_operator(library: Path, name: str) -> LibraryOperator:
    """Return an operator of a library.

    Args:
        library: the folder of the library.
        name: the operator's name in any letter case, or that of its folder.

    Raises:
        OpkitError: the library does not have it.
    """
    if operator := in_library(library, name):
        return operator
    hint = did_you_mean(name, [each.spec.name for each in operators(library)])
    raise OpkitError(
        f"the library has no operator '{printable(shortened(name))}'; "
        f"{hint or '`rknn-op library` lists them'}"
    )


def in_library(library: Path, name: str) -> LibraryOperator | None:
    """Return an operator of a library by its name, as named_operator; None if it has none."""
    file = next((each for each in descriptions(library) if is_name_of(each.stem, name)), None)
    return _operator(file, measured(library)) if file else None  # reading all takes longer


def is_name_of(folder: str, name: str) -> bool:
    """Whether a word is the name of a folder's operator; the folder has it in snake case."""
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
        facts.get("domain", ""),
        facts.get("refuses", ()),
        facts.get("max_inputs", 0),
        facts.get("dtypes", {}),
        facts.get("templates", ()),
        found.get(spec.name),
    )


# ---- For `rknn-op create --library` and `rknn-op library` ----------------------------------------

WIDTH = 80
_NAME_WIDTH = 17  # few names are longer


def plan(name: str, folder: Path | None, choices: Choices, parent: Path = Path()) -> Plan:
    """Return the plan of a repository with an operator of the library.

    Args:
        name: the operator's name in any letter case, or that of its folder.
        folder: the repository to make; None: in `parent`, with the operator's name.
        choices: the user's other choices.
        parent: the folder of the repository if `folder` is None.

    Raises:
        OpkitError: the library does not have it, a choice is invalid, or the path exists.
    """
    operator = named_operator(template.EXAMPLES, name)
    return plan_operator(operator, folder or parent / operator.spec.name, choices)


def plan_operator(operator: LibraryOperator, folder: Path | None, choices: Choices) -> Plan:
    """Return the plan of a repository with a given operator of the library.

    Raises:
        OpkitError: a choice is invalid, the library does not have a chosen kernel, or the path
            exists.
    """
    source = f"the library's {operator.spec.name}"
    planned = new_repository.plan_text(operator.text.rstrip("\n"), source, folder, Path(), choices)
    files = {**planned.files, **operator.files(planned.spec)}
    tests = b"".join(data for name, data in files.items() if name.startswith("tests/"))
    for kernel in choices.kernels:
        if f"check_{kernel}_kernel".encode() not in tests:
            raise OpkitError(
                f"--kernel {kernel}: {source} has no such kernel; leave the option out, and add "
                f"{kernel} to `kernels` in op.yml to write one"
            )
    return replace(planned, files=files, warnings=())  # the user did not write the description


def find(word: str = "", runtime: str = "") -> list[LibraryOperator]:
    """Return operators of the library, sorted by name.

    Args:
        word: the name of one in any letter case, or a text in names and summaries; empty: all.
        runtime: a runtime that each one has; empty: any.

    Raises:
        OpkitError: no operator matches.
    """
    every = operators(template.EXAMPLES)
    having = [each for each in every if not runtime or runtime in each.spec.runtimes]
    named = [each for each in having if is_name_of(each.folder.name, word)]
    found = named or [
        each for each in having if word.lower() in f"{each.spec.name} {each.summary}".lower()
    ]
    if not found:
        where = f" for {runtime}" if runtime else ""
        hint = did_you_mean(word, [each.spec.name for each in having])
        raise OpkitError(
            f"the library has no operator{where} with '{printable(shortened(word))}' in its name "
            f"or summary; {hint or '`rknn-op library` lists all'}"
        )
    return found


def entries(found: Iterable[LibraryOperator]) -> list[dict[str, Any]]:
    """Return the properties of operators."""
    return [
        {
            "operator": each.spec.name,
            "onnx": each.onnx,
            "framework": each.spec.framework,
            "runtimes": [*each.spec.runtimes],
            "summary": each.summary,
            "refuses": [*each.refuses],
        }
        for each in found
    ]


def listing(found: Iterable[LibraryOperator]) -> str:
    """Return a line of at most 80 characters for each operator: name and summary, shortened."""
    lines = []
    for each in found:
        name = f"{each.spec.name:{_NAME_WIDTH}}  "
        short = each.summary.removesuffix(f" ONNX's {each.spec.name}.").rstrip(":.")
        lines.append(name + textwrap.shorten(short, WIDTH - len(name), placeholder="..."))
    return "".join(f"{line}\n" for line in lines)


def details(operator: LibraryOperator) -> str:
    """Return all properties of an operator, in lines of at most 80 characters."""
    spec = operator.spec
    lines = [
        f"{spec.name}: {operator.models}, for {', '.join(spec.runtimes)}",
        operator.summary,
        f"Inputs: {', '.join(each.name for each in spec.inputs)}.",
        f"Outputs: {', '.join(each.name for each in spec.outputs)}.",
        *([f"Params: {', '.join(each.name for each in spec.params)}."] if spec.params else []),
        *list(source_lines(operator))[1:],
        f"Make it: rknn-op create --library {spec.name} -p ./{spec.name}",
    ]
    return "".join(f"{wrapped(line, WIDTH)}\n" for line in lines)


_PAGE = """\
# The operator library

Ready operators: the math in C and in numpy, cases, and the shape rule in C where a runtime calls
it. One command makes a repository of an operator, which is yours from then on:

```sh
rknn-op create --library OneHot -p ./OneHot
cd OneHot && scons check
```

`rknn-op library` prints a line for each operator, also as `--json`, and `rknn-op library NAME` the
rest of one. A word that is no name selects the operators with it in their name or summary, and
`--runtime` those for a runtime:

```console
$ rknn-op library scatter
ScatterElements    Data with some elements replaced or changed by updates at...
ScatterND          Data with some elements or slices replaced or changed by...
$ rknn-op library topk
{topk}...
```

`rknn-op create --from MODEL` takes the operators of a model from the library.
`rknn-op library --markdown` makes this page from the folders in `operators/`.

{frameworks}

The chips' runtimes fix all shapes when they load a model. So Unique and NonZero, and Compress with
a condition that is not constant, cannot be custom operators: their shapes depend on data. Where an
upper bound is enough, as in NonMaxSuppression here, the output has that size, and another output
the count of valid rows. `--why` names the reason for each operator of ONNX that is not here, and
what to do instead, or the chip's own operator; without a name, for all:

```console
$ rknn-op library --why Loop
Loop: a custom operator has no body with nodes of its own: export the model with
...
```

| operator | models | runtimes | math | refused by name |
| --- | --- | --- | --- | --- |
"""


_TITLES = {"onnx": "ONNX", "tensorflow": "TensorFlow"}


def page(found: Iterable[LibraryOperator]) -> str:
    """Return the page of the documentation about operators, as Markdown."""
    rows = [
        f"| [{each.spec.name}](../operators/{each.folder.name}) | {each.models} "
        f"| {', '.join(each.spec.runtimes)} | {each.summary} | {'; '.join(each.refuses)} |"
        for each in found
    ]
    topk = details(named_operator(template.EXAMPLES, "TopK"))
    parts = [runtime.describe for runtime in runtimes.available().values()]
    others = " or ".join(f"`--runtime {each.name}`" for each in parts if "onnx" in each.frameworks)
    frameworks = "\n".join(
        textwrap.fill(
            f"With `{each.name}` among the runtimes, a repository is for models of "
            f"{' and '.join(_TITLES[name] for name in each.frameworks)}, because {each.title} has "
            f"custom operators for them alone. For ONNX's operator of that name, pass {others}.",
            100,
            break_on_hyphens=False,
        )
        for each in parts
        if "onnx" not in each.frameworks
    )
    text = _PAGE.format(topk="".join(topk.splitlines(keepends=True)[:3]), frameworks=frameworks)
    return text + "".join(f"{row}\n" for row in rows)
