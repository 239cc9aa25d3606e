"""The names and types of an operator in the form of ppl.nn's own operators."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from opkit.common.text import escape_comment, render
from opkit.description.spec import OpSpec, Tensor
from opkit.description.types import ELEMENT_TYPES
from opkit.runtimes.pplnn.describe import settings
from opkit.runtimes.pplnn.tree_names import names
from opkit.runtimes.pplnn.upstream.helpers import Math, Reader, self_contained

TEMPLATES = "runtimes/pplnn/templates/upstream_"
LINE_LENGTH = 120
"""ColumnLimit of ppl.nn's .clang-format. ppl.kernel.cpu has no such file."""
_INDENT = 4


def file_text(template: str, author: str, /, **values: str) -> str:
    """Return a template's text below the license header."""
    header = render(f"{TEMPLATES}license.txt", author=author)
    return f"{header}\n{render(f'{TEMPLATES}{template}', **values)}"


def guard(path: str, prefix: str) -> str:
    """Return the macro that guards a header."""
    name = path.replace("/", "_").replace(".", "_").upper()
    return f"{prefix}{name}_"


def filled(opening: str, items: Sequence[str], closing: str) -> str:
    """Return a call or a declaration, with as many items a line as fit.

    Lines are aligned after the opening; or, if those are fewer, all items are below it.

    Args:
        opening: the text before the first item, with its indentation: `    call(`.
        items: the texts that commas separate.
        closing: the text after the last item: `);`.
    """
    aligned = _filled(opening, items, closing, ", ", len(opening))
    indent = " " * (len(opening) - len(opening.lstrip()) + _INDENT)
    below = f"{opening}\n{_filled(indent, items, closing, ', ', len(indent))}"
    return below if below.count("\n") < aligned.count("\n") else aligned


def joined(opening: str, conditions: Sequence[str], closing: str, indent: int) -> str:
    """Return conditions joined by the operator `&&` or `||`, continued with an indentation."""
    return _filled(opening, conditions, closing, " && ", indent)


def _filled(opening: str, items: Sequence[str], closing: str, separator: str, indent: int) -> str:
    lines, line = [], opening
    for index, item in enumerate(items):
        end = closing if index == len(items) - 1 else separator
        is_first = line == opening or not line.strip()
        if not is_first and len(line + item + end.rstrip()) > LINE_LENGTH:
            lines.append(line.rstrip())
            line = " " * indent
        line += item + end
    return "\n".join([*lines, line if items else opening + closing])


def line_comment(text: str, indent: int) -> str:
    """Return a comment in lines of `//`, each with an end of line; empty without a text."""
    margin = f"{' ' * indent}// "
    lines = textwrap.wrap(
        escape_comment(" ".join(text.split())),
        width=LINE_LENGTH,
        initial_indent=margin,
        subsequent_indent=margin,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "".join(line.rstrip(" \\") + "\n" for line in lines)  # a \ would continue the comment


ELEMENT_FOLDERS = {"float32": "fp32", "bool": "bool", "int32": "int32", "int64": "int64"}
"""dtype -> the folder of ppl.kernel.cpu for such operators on x86."""

_HEADERS = ("include/opkit/compute/",)
_LOCALS = frozenset(
    "ctx info param_ status isa i k row rest axis length offsets problem ppl std kernel".split()
)
"""Names in the functions around those of tensors and params."""
_LOWER_TO_UPPER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True)
class Form:
    """An operator, and its names in the two repositories.

    Attributes:
        spec: the operator.
        author: the name in the license header.
        read: reads files of the operator's repository.
    """

    spec: OpSpec
    author: str
    read: Reader

    @property
    def title(self) -> str:
        """The name in classes and functions."""
        return names(self.spec).title

    @property
    def stem(self) -> str:
        """The name of files, in snake case as ppl.nn's."""
        return _LOWER_TO_UPPER.sub("_", self.spec.name).lower()

    @property
    def space(self) -> str:
        """The folder and namespace of the domain; of ONNX's own operators it is onnx."""
        return names(self.spec).folder if settings(self.spec).domain else "onnx"

    @property
    def element(self) -> str:
        """The folder of the math in ppl.kernel.cpu."""
        dtypes = [self.dtype(each) for each in (*self.spec.inputs, *self.spec.outputs)]
        return ELEMENT_FOLDERS["float32" if "float32" in dtypes else dtypes[0]]

    @property
    def function(self) -> str:
        """The name of the math's function in ppl.kernel.cpu."""
        return f"{self.stem}_{'' if self.takes_any_layout else 'ndarray_'}{self.element}"

    @property
    def takes_any_layout(self) -> bool:
        """Whether tensors with channels in blocks are taken as they are."""
        return settings(self.spec).takes_any_layout and len(self.spec.inputs) == 1

    @property
    def shaped(self) -> tuple[Tensor, ...]:
        """The tensors with their shapes among the arguments of the math's function."""
        if self.spec.elementwise and len(self.spec.inputs) == 1:
            return self.spec.inputs
        return (*self.spec.inputs, *self.spec.outputs)

    @cached_property
    def locals(self) -> dict[str, str]:
        """Name of an input, output or param -> the name of the variable."""
        taken = set(_LOCALS)
        found = {}
        for each in self.spec.parameters:
            name = each.name
            while {name, f"{name}_shape", f"{name}_count"} & taken:
                name += "_"
            taken |= {name, f"{name}_shape", f"{name}_count"}
            found[each.name] = name
        return found

    def dtype(self, tensor: Tensor) -> str:
        """Return the dtype of a tensor; float32 if the description leaves it to the model."""
        if tensor.dtype or tensor in self.spec.inputs:
            return tensor.dtype or "float32"
        return self.spec.inputs[0].dtype or "float32"

    def c_type(self, tensor: Tensor) -> str:
        """Return the C type of a tensor's elements in memory."""
        return ELEMENT_TYPES[self.stored_as(tensor)].c_type

    def stored_as(self, tensor: Tensor) -> str:
        """Return the name of the type of a tensor's elements in the math."""
        stored = ELEMENT_TYPES[self.dtype(tensor)].computed_as
        assert stored is not None
        return stored

    def math(self, path: str, used: str, *headers: str) -> Math:
        """Return a file of the user's with the used parts of its headers.

        Args:
            path: the file in the repository.
            used: text beside it that uses the same headers.
            *headers: files of the user's that it may include.
        """
        known = (*_HEADERS, f"generated/{self.spec.lower}.h", *headers)
        return self_contained(path, self.read, known, used, self.stem)


def refusals(spec: OpSpec) -> Iterable[str]:
    """Yield the reasons why an operator does not fit into the form."""
    own = "in ppl.nn's own form, the math is one C file without flags and folders of its own"
    for path in (*spec.sources, *spec.include):
        yield f"{path.where}: {path.path}: {own}"
    for flag in spec.cflags:
        yield f"op.yml: cflags: {flag}: {own}"
    if spec.has_threads:
        yield (
            "op.yml: threads: the math of ppl.nn's own operators uses OpenMP, not the project's "
            "threads; delete the key"
        )
    for tensor in (*spec.inputs, *spec.outputs):
        if tensor.dtype in ("float16", "float64"):
            yield (
                f"op.yml: {tensor.name}: dtype: {tensor.dtype} is not supported by ppl.nn's x86 "
                "engine (expected float32, an integer type or bool)"
            )
    dtypes = [each.dtype or "float32" for each in (*spec.inputs, *spec.outputs)]
    if "float32" not in dtypes and dtypes[0] not in ELEMENT_FOLDERS:
        yield (
            f"op.yml: {spec.inputs[0].name}: dtype: ppl.kernel.cpu has no folder for x86 operators "
            f"of {dtypes[0]} alone (expected {', '.join(ELEMENT_FOLDERS)})"
        )
