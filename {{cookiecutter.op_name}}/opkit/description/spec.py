"""op.yml -> OpSpec: the operator description, parsed and checked.

What the board's runtime would refuse, or silently get wrong, is refused here, with the file and
line. The rules were measured on driver and runtime 1.7.5.
"""

from __future__ import annotations

import difflib
import keyword
import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, NoReturn

import yaml

from opkit.description.build_keys import (
    RepositoryPath,
    flag_problem,
    path_problem,
    source_problem,
)
from opkit.description.types import PARAM_TYPES, TENSOR_TYPES, ParamType
from opkit.errors import OpkitError
from opkit.runtimes.rknn.chips import CHIPS

MAX_NAME = 127  # the runtime copies a name into 128 bytes without looking at its length
MAX_PARAMETERS = 128  # the runtime's table of references
MAX_ITEMS = 16  # the runtime refuses a longer array

KERNELS = ("cpu", "vx")  # in the order of the list that the runtime looks up

ParamValue = bool | int | float | tuple[int, ...]


REFUSED_TYPES: dict[str, str] = {
    "VX_TYPE_ENUM": "the board's runtime refuses it while loading the model; use VX_TYPE_INT32",
    "VX_TYPE_SIZE": "the board's runtime refuses it while loading the model; use VX_TYPE_UINT32",
    "VX_TYPE_FLOAT16": "the board's runtime refuses it when it makes the node; use VX_TYPE_FLOAT32",
    "VX_TYPE_TENSOR": "a tensor is an input or an output, not a param",
    "VX_TYPE_SCALAR": "name the scalar's own type, for instance VX_TYPE_INT32",
    "FLOATS": "RKNN-Toolkit delivers no list of floats; use several VX_TYPE_FLOAT32",
}


TENSOR_DTYPES = tuple(row.name for row in TENSOR_TYPES)
"""What the elements of a tensor may be, by numpy's names."""


@dataclass(frozen=True)
class Tensor:
    """An input or an output.

    Attributes:
        name: its name, a C identifier.
        doc: one sentence for the reader of the generated code.
        dtype: of an output, one of TENSOR_DTYPES; None: that of the first input.
    """

    name: str
    doc: str = ""
    dtype: str | None = None


@dataclass(frozen=True)
class Param:
    """A param: a scalar, or an array of int32.

    Attributes:
        name: its name, a C identifier.
        type: what it is.
        doc: one sentence for the reader of the generated code.
        default: used when the model does not hold the param; None: the model must.
        source: `const:<name>` when the value is the constant input of that name.
        length: how many items an array has; None: any number from 1 to 16.
    """

    name: str
    type: ParamType
    doc: str = ""
    default: ParamValue | None = None
    source: str | None = None
    length: int | None = None


@dataclass(frozen=True)
class OpSpec:
    """The operator description, checked. Order is that of the file, everywhere.

    The last three say what is compiled besides the operator's kernel list: sources, folders that
    are searched for headers, and flags for the compilers.
    """

    name: str
    framework: str
    target_platform: str
    kernel_index: int
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    params: tuple[Param, ...] = field(default=())
    kernels: tuple[str, ...] = KERNELS
    sources: tuple[RepositoryPath, ...] = field(default=())
    include: tuple[RepositoryPath, ...] = field(default=())
    cflags: tuple[str, ...] = field(default=())

    @property
    def has_vx_kernel(self) -> bool:
        """Whether there is a VX kernel besides the CPU kernel."""
        return "vx" in self.kernels

    @property
    def lower(self) -> str:
        """The name in lower case: of the files, the C identifiers and the kernels."""
        return self.name.lower()

    @property
    def parameters(self) -> tuple[Tensor | Param, ...]:
        """Inputs, outputs and params in the order in which the kernel gets them."""
        return (*self.inputs, *self.outputs, *self.params)


class DescriptionError(OpkitError):
    """The operator description cannot be used; the message says where and why."""


def parse(text: str, file: str = "op.yml") -> OpSpec:
    """Read an operator description.

    Args:
        text: the YAML.
        file: the name by which messages call it.

    Raises:
        DescriptionError: the first thing that is wrong, with file, line and field.
    """
    return _Reader(file).operator(text)


_BUILD_KEYS = ("sources", "include", "cflags")
_TOP_KEYS = (
    *("name", "framework", "target_platform", "kernels", "kernel_index"),
    *("inputs", "outputs", "params"),
    *_BUILD_KEYS,
)
# What a package's op.yml holds besides; the build writes these anew.
_PACKAGE_KEYS = ("out_binary", "op_py_file", "vx_file", "op_version")
_TENSOR_KEYS = ("type", "doc", "dtype")
_PARAM_KEYS = ("type", "doc", "default", "source", "length")

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_C_WORDS = frozenset(
    """
    auto break case char const continue default do double else enum extern float for goto if inline
    int long register restrict return short signed sizeof static struct switch typedef union
    unsigned void volatile while _Alignas _Alignof _Atomic _Bool _Complex _Generic _Imaginary
    _Noreturn _Static_assert _Thread_local asm
    bool true false NULL EOF INFINITY NAN errno stdin stdout stderr
    """.split()
)
_OPENCL_WORDS = frozenset(
    """
    half quad complex imaginary uchar ushort uint ulong size_t ptrdiff_t intptr_t uintptr_t
    kernel __kernel global __global local __local constant __constant private __private generic
    __generic read_only __read_only write_only __write_only read_write __read_write uniform pipe
    image1d_t image1d_buffer_t image1d_array_t image2d_t image2d_array_t image3d_t image2d_depth_t
    image2d_array_depth_t sampler_t event_t queue_t vec_step
    """.split()
)
_OPENCL_VECTOR = re.compile(
    r"(bool|u?char|u?short|u?int|u?long|half|float|double|quad)(2|3|4|8|16)"
)


def keyword_of(name: str) -> str | None:
    """Return the language of which the name is a reserved word, or None."""
    if name in _C_WORDS:
        return "C"
    if name in _OPENCL_WORDS or _OPENCL_VECTOR.fullmatch(name) or name.startswith("vx_array_"):
        return "OpenCL"
    if keyword.iskeyword(name):
        return "Python"
    return None


class _Reader:
    """Walks the YAML tree, which knows the line of every key and value."""

    def __init__(self, file: str) -> None:
        self.file = file

    def fail(self, node: yaml.Node | None, where: str, problem: str) -> NoReturn:
        line = node.start_mark.line + 1 if node is not None else 1
        raise DescriptionError(f"{self.file}:{line}: {where}: {problem}")

    def operator(self, text: str) -> OpSpec:
        root = self.root(text)
        entries = self.mapping(root, "description", _TOP_KEYS + _PACKAGE_KEYS)
        for key in ("name", "inputs", "outputs"):
            if key not in entries:
                self.fail(root, key, f"is missing; write `{_EXAMPLES[key]}`")
        name = self.operator_name(entries["name"])
        kernels = self.kernels(entries.get("kernels"))
        seen: dict[str, str] = {}
        return OpSpec(
            name=name,
            framework=self.choice(entries, "framework", ("tensorflow",), "tensorflow"),
            target_platform=self.choice(entries, "target_platform", CHIPS, "rk1808"),
            kernel_index=self.kernel_index(entries, kernels),
            inputs=tuple(self.tensors(entries["inputs"], "inputs", seen)),
            outputs=tuple(self.tensors(entries["outputs"], "outputs", seen)),
            params=tuple(self.params(entries.get("params"), seen)),
            kernels=kernels,
            sources=tuple(self.paths(entries.get("sources"), "sources", source_problem)),
            include=tuple(self.paths(entries.get("include"), "include", path_problem)),
            cflags=tuple(
                text for _, _, text in self.items(entries.get("cflags"), "cflags", flag_problem)
            ),
        )

    def root(self, text: str) -> yaml.Node:
        try:
            root = yaml.compose(text, Loader=yaml.SafeLoader)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = mark.line + 1 if mark else 1
            problem = " ".join(str(error.problem or error.context).split())
            raise DescriptionError(f"{self.file}:{line}: this is not YAML: {problem}") from None
        except yaml.reader.ReaderError as error:
            line = text.count("\n", 0, error.position) + 1
            problem = f"the character {error.character!r} is not allowed"
            raise DescriptionError(f"{self.file}:{line}: this is not YAML: {problem}") from None
        except (RecursionError, OverflowError, ValueError) as error:
            problem = "nested too deeply" if isinstance(error, RecursionError) else str(error)
            raise DescriptionError(f"{self.file}:1: this is not YAML: {problem}") from None
        if root is None:
            self.fail(None, "description", f"is empty; write at least `{_EXAMPLES['name']}`")
        return root

    def mapping(
        self, node: yaml.Node, where: str, known: Sequence[str] | None
    ) -> dict[str, yaml.Node]:
        """Return the entries in order; refuse a key that is there twice or that nobody knows."""
        if not isinstance(node, yaml.MappingNode):
            self.fail(node, where, f"must be `key: value` lines, not {_shown(node)}")
        entries: dict[str, yaml.Node] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.fail(key, where, f"a key must be a name, not {_shown(key)}")
            name = key.value
            if key.tag == "tag:yaml.org,2002:merge":
                self.fail(key, where, "merge keys (`<<`) are not supported; write the lines out")
            if key.tag != "tag:yaml.org,2002:str":
                self.fail(key, where, f"YAML reads the key {name} as no text; quote it: '{name}'")
            path = name if where == "description" else f"{where}.{name}"
            if known is not None and name not in known:
                nearest = difflib.get_close_matches(name.lower(), known, 1, 0.5)
                hint = f"; did you mean '{nearest[0]}'?" if nearest else "."
                allowed = ", ".join(key for key in known if key not in _PACKAGE_KEYS)
                self.fail(key, path, f"unknown key {name!r}{hint} Allowed: {allowed}")
            if name in entries:
                self.fail(key, path, "is there twice; delete one of them")
            entries[name] = value
        return entries

    def text(self, node: yaml.Node, where: str) -> str:
        if not isinstance(node, yaml.ScalarNode) or _is_null(node):
            self.fail(node, where, f"must be one word or text, not {_shown(node)}")
        return str(node.value)

    def choice(
        self, entries: dict[str, yaml.Node], key: str, allowed: Sequence[str], default: str
    ) -> str:
        if key not in entries:
            return default
        value = self.text(entries[key], key)
        if value.lower() not in allowed:
            self.fail(entries[key], key, f"unknown value {value!r}; allowed: {', '.join(allowed)}")
        return value.lower()

    def kernels(self, node: yaml.Node | None) -> tuple[str, ...]:
        """Return the kernels of the operator, in the order of KERNELS."""
        if node is None:
            return KERNELS
        allowed = "allowed: [cpu] or [cpu, vx]"
        if not isinstance(node, yaml.SequenceNode):
            self.fail(node, "kernels", f"must be a list, not {_shown(node)}; {allowed}")
        found: list[str] = []
        for index, item in enumerate(node.value):
            where = f"kernels[{index}]"
            kernel = self.text(item, where).lower()
            if kernel not in KERNELS:
                known = ", ".join(KERNELS)
                self.fail(item, where, f"unknown kernel {_shown(item)}; allowed: {known}")
            if kernel in found:
                self.fail(item, where, f"duplicate kernel '{kernel}'; delete one of them")
            found.append(kernel)
        if not found:
            self.fail(node, "kernels", f"is empty; {allowed}")
        if "cpu" not in found:
            self.fail(node, "kernels", f"has no cpu, the runtime's kernel 0; {allowed}")
        return tuple(kernel for kernel in KERNELS if kernel in found)

    def kernel_index(self, entries: dict[str, yaml.Node], kernels: tuple[str, ...]) -> int:
        index = int(self.choice(entries, "kernel_index", ("0", "1"), "0"))
        if index >= len(kernels):
            line = entries["kernels"].start_mark.line + 1
            self.fail(
                entries["kernel_index"],
                "kernel_index",
                f"{index} is the VX kernel, but kernels in line {line} is [{', '.join(kernels)}]; "
                "write `kernel_index: 0`, or `kernels: [cpu, vx]`",
            )
        return index

    def name(self, node: yaml.Node, where: str, name: str) -> str:
        if not _IDENTIFIER.fullmatch(name):
            self.fail(
                node,
                where,
                f"{_shortened(name)!r} is no name in C; allowed are letters (a to z), digits "
                "and _, beginning with a letter",
            )
        if len(name) > MAX_NAME:
            self.fail(node, where, f"has {len(name)} characters; the board allows {MAX_NAME}")
        language = keyword_of(name)
        if language:
            self.fail(
                node, where, f"'{name}' is a reserved word of {language}; choose another name"
            )
        return name

    def operator_name(self, node: yaml.Node) -> str:
        name = self.text(node, "name")
        if "." in name or ":" in name:
            self.fail(
                node,
                "name",
                f"{name!r} has '.' or ':', by which the board's driver splits kernel names; "
                "allowed are letters (a to z), digits and _",
            )
        self.name(node, "name", name)
        language = keyword_of(name.lower())
        if language in ("C", "OpenCL"):
            self.fail(
                node,
                "name",
                f"{name!r} gives the kernel the name '{name.lower()}', a reserved word of "
                f"{language}; choose another name",
            )
        if name.lower() in ("opkit", "vx") or name.lower().startswith("opkit_"):
            self.fail(node, "name", f"{name!r} is taken by the generated code; choose another name")
        return name

    def entries(
        self, node: yaml.Node, where: str, keys: Sequence[str], seen: dict[str, str]
    ) -> Iterator[tuple[str, yaml.Node, dict[str, yaml.Node]]]:
        """Yield name, node and keys of each input, output or param; names are unique in all."""
        members = self.mapping(node, where, None)
        for (key, value), name in zip(node.value, members, strict=True):
            path = f"{where}.{name}"
            self.name(key, path, name)
            before = seen.get(name.lower())
            if before is not None:
                how = "is there already" if before.endswith(f".{name}") else "differs only in case"
                self.fail(key, path, f"{how}: {before}; choose another name")
            seen[name.lower()] = path
            if len(seen) > MAX_PARAMETERS:
                self.fail(key, path, f"the board takes {MAX_PARAMETERS} parameters at most")
            details = self.mapping(value, path, keys)
            if "type" not in details:
                self.fail(key, f"{path}.type", f"is missing; write `{name}: {{type: VX_TYPE_...}}`")
            yield name, value, details

    def tensors(self, node: yaml.Node, where: str, seen: dict[str, str]) -> Iterator[Tensor]:
        if _is_null(node) or (isinstance(node, yaml.MappingNode) and not node.value):
            self.fail(node, where, f"is empty; write `{_EXAMPLES[where]}`")
        for name, _, details in self.entries(node, where, _TENSOR_KEYS, seen):
            type_ = self.text(details["type"], f"{where}.{name}.type")
            if type_.upper() != "VX_TYPE_TENSOR":
                self.fail(
                    details["type"],
                    f"{where}.{name}.type",
                    f"{type_!r} cannot be; allowed: VX_TYPE_TENSOR",
                )
            dtype = self.dtype(details.get("dtype"), where, f"{where}.{name}.dtype")
            yield Tensor(name, self.doc(details, f"{where}.{name}"), dtype)

    def dtype(self, node: yaml.Node | None, group: str, where: str) -> str | None:
        if node is None:
            return None
        if group != "outputs":
            problem = (
                "only an output has a dtype; an input has what the model and the cases give it"
            )
            self.fail(node, where, problem)
        dtype = self.text(node, where)
        if dtype not in TENSOR_DTYPES:
            self.fail(node, where, f"invalid {dtype!r} (expected {', '.join(TENSOR_DTYPES)})")
        return dtype

    def params(self, node: yaml.Node | None, seen: dict[str, str]) -> Iterator[Param]:
        if node is None or _is_null(node):
            return
        for name, _, details in self.entries(node, "params", _PARAM_KEYS, seen):
            where = f"params.{name}"
            type_ = self.param_type(details["type"], f"{where}.type")
            length = self.length(details.get("length"), f"{where}.length", type_)
            yield Param(
                name,
                type_,
                self.doc(details, where),
                self.default(details.get("default"), f"{where}.default", type_, length),
                self.source(details.get("source"), f"{where}.source"),
                length,
            )

    def items(
        self, node: yaml.Node | None, where: str, problem_of: Callable[[str], str | None]
    ) -> Iterator[tuple[yaml.Node, str, str]]:
        """Yield node, field and text of each item of a list of texts; no key is an empty list."""
        if node is None or _is_null(node):
            return
        if not isinstance(node, yaml.SequenceNode):
            self.fail(node, where, f"must be a list, as `{_EXAMPLES[where]}`, not {_shown(node)}")
        for index, item in enumerate(node.value):
            text = self.text(item, f"{where}[{index}]")
            problem = problem_of(text)
            if problem:
                self.fail(item, f"{where}[{index}]", f"{_shortened(text)!r} {problem}")
            yield item, f"{where}[{index}]", text

    def paths(
        self, node: yaml.Node | None, where: str, problem_of: Callable[[str], str | None]
    ) -> Iterator[RepositoryPath]:
        seen: set[str] = set()
        for item, place, text in self.items(node, where, problem_of):
            path = str(PurePosixPath(text))
            if path in seen:
                self.fail(item, place, f"{text!r} is there twice; delete one of them")
            seen.add(path)
            yield RepositoryPath(path, f"{self.file}:{item.start_mark.line + 1}: {place}")

    def param_type(self, node: yaml.Node, where: str) -> ParamType:
        name = self.text(node, where)
        allowed = [row.name for row in PARAM_TYPES.values() if row.delivered is not None]
        type_ = PARAM_TYPES.get(name.upper())
        if type_ is None or type_.name not in allowed:
            reason = REFUSED_TYPES.get(name.upper())
            nearest = difflib.get_close_matches(name.upper(), allowed, 1)
            if reason is None and nearest:
                reason = f"did you mean {nearest[0]}?"
            self.fail(
                node,
                where,
                f"{name!r} cannot be{': ' + reason if reason else ''}. "
                f"Allowed: {', '.join(allowed)}",
            )
        return type_

    def doc(self, details: dict[str, yaml.Node], where: str) -> str:
        if "doc" not in details:
            return ""
        doc = " ".join(self.text(details["doc"], f"{where}.doc").split())
        if not doc.isprintable():
            self.fail(details["doc"], f"{where}.doc", "holds a character that cannot be printed")
        return doc

    def source(self, node: yaml.Node | None, where: str) -> str | None:
        if node is None:
            return None
        source = self.text(node, where)
        if not re.fullmatch(r"const:\S+", source) or not source.isprintable():
            self.fail(node, where, f"{source!r} cannot be; allowed: const:<name of the input>")
        return source

    def length(self, node: yaml.Node | None, where: str, type_: ParamType) -> int | None:
        if node is None:
            return None
        if not type_.is_array:
            self.fail(node, where, f"only a VX_TYPE_ARRAY has a length, not a {type_.name}")
        length = self.value(node, where)
        if type(length) is not int or not 1 <= length <= MAX_ITEMS:
            self.fail(node, where, f"{_shown(node)} cannot be; allowed: 1 to {MAX_ITEMS}")
        return length

    def default(
        self, node: yaml.Node | None, where: str, type_: ParamType, length: int | None
    ) -> ParamValue | None:
        if node is None or _is_null(node):
            return None
        value = self.value(node, where)
        if not type_.is_array:
            return self.scalar(node, where, type_, value)
        if not isinstance(node, yaml.SequenceNode):
            self.fail(node, where, f"must be a list of whole numbers, not {_shown(node)}")
        if not 1 <= len(node.value) <= MAX_ITEMS:
            self.fail(node, where, f"has {len(node.value)} items; the board takes 1 to {MAX_ITEMS}")
        if length is not None and len(node.value) != length:
            self.fail(node, where, f"has {len(node.value)} items, but length is {length}")
        return tuple(
            int(self.scalar(item, f"{where}[{index}]", type_, value[index]))
            for index, item in enumerate(node.value)
        )

    def scalar(
        self, node: yaml.Node, where: str, type_: ParamType, value: Any
    ) -> bool | int | float:
        if type_.is_bool:
            if type(value) is not bool:
                self.fail(node, where, f"must be true or false, not {_shown(node)}")
            return value
        if type_.limits is None:
            if isinstance(value, str) and _is_number(value):
                number = yaml.safe_dump(float(value)).split()[0]
                self.fail(node, where, f"YAML reads {value} as text; write {number}")
            if type(value) not in (int, float):
                self.fail(node, where, f"must be a number, not {_shown(node)}")
            if not abs(value) <= _LARGEST[type_.name]:
                self.fail(node, where, f"{_shown(node)} is no finite {type_.name}")
            return float(value)
        low, high = type_.limits
        if type(value) is not int or not low <= value <= high:
            self.fail(
                node, where, f"must be a whole number from {low} to {high}, not {_shown(node)}"
            )
        return value

    def value(self, node: yaml.Node, where: str) -> Any:
        try:
            return yaml.SafeLoader("").construct_document(node)
        except (yaml.YAMLError, ValueError, OverflowError, LookupError, TypeError, AttributeError):
            self.fail(node, where, f"{_shown(node)} cannot be read as a value")


_LARGEST = {"VX_TYPE_FLOAT32": 3.4028234663852886e38, "VX_TYPE_FLOAT64": sys.float_info.max}

_EXAMPLES = {
    "name": "name: ResizeArea",
    "inputs": "inputs: {input: {type: VX_TYPE_TENSOR}}",
    "outputs": "outputs: {output: {type: VX_TYPE_TENSOR}}",
    "sources": "sources: [src/area.c]",
    "include": "include: [src]",
    "cflags": "cflags: [-DSTEPS=4, -ffast-math]",
}


def _is_null(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null"


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:50]}... ({len(text)} characters)"


def _shown(node: yaml.Node) -> str:
    """The value as the user wrote it, in few words."""
    if isinstance(node, yaml.ScalarNode):
        return repr(_shortened(node.value)) if node.value else "nothing"
    return "a list" if isinstance(node, yaml.SequenceNode) else "`key: value` lines"
