"""`rknn_kernel_<op>.c` and `.vx` of the vendor's tool: tables, lists, includes, parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from opkit.runtimes.rknn.boards import LIMITS
from rknn_op.runtimes.rknn.vendor.vendor_folder import VendorFile

# ---- The .c file ---------------------------------------------------------------------------------

_COMMENT_OR_STRING = re.compile(
    r"/\*.*?(?:\*/|\Z)|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL
)
_TABLE = re.compile(r"\bvx_param_description_t\s+(\w+)\s*\[[^\]]{0,99}\]\s*=\s*\{")
_ROW = re.compile(r"\{([^{}]*)\}")
_LIST = re.compile(
    r"\bvx_kernel_description_t\s*\*\s*(vx_kernel_\w+_list)\s*\[[^\]]{0,99}\]\s*=\s*\{"
)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
_INDEX = r"\w+\s*\[\s*(?P<index>\w+)\s*\]"
_TAKEN = (
    # input = (vx_tensor)parameters[0];
    re.compile(rf"\b(?P<name>\w+)\s*=\s*\(\s*vx_(?:tensor|array|scalar|reference)\s*\)\s*{_INDEX}"),
    # vxCopyScalar((vx_scalar)parameters[2], &scale, ...)
    re.compile(
        rf"\bvxCopyScalar\s*\(\s*\(\s*vx_scalar\s*\)\s*{_INDEX}\s*,\s*"
        r"(?:\([\w ]{1,40}\*[ ]?\)\s*)?&?\s*(?P<name>\w+)\s*,"
    ),
)
_SIGNED = re.compile(r"\b(?:int|int32_t|vx_int32)\s+([\w\s,]{1,200})")
_SHIFT_OF_SIGN = re.compile(r"\b(\w+)\s*<<=\s*16\b")
_HALF_CONVERSION = re.compile(
    r"\b(\w{0,40}?f(?:p|loat)?(?:32)?_?(?:to|2)_?(?:f(?:p|loat)?16|half)\w{0,40})[ \t]{0,9}\(",
    re.IGNORECASE,
)
_CONSTANT = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]{1,99}\(?(\d{1,4})\b", re.MULTILINE)


@dataclass(frozen=True)
class Row:
    """A row of the parameter table.

    Attributes:
        is_output: its direction.
        type: `VX_TYPE_...`.
        where: file:line.
        comment: the C comments on it.
    """

    is_output: bool
    type: str
    where: str
    comment: str

    @property
    def kind(self) -> str:
        """The kind of its parameter: input, output, array or scalar."""
        if self.type == "VX_TYPE_TENSOR":
            return "output" if self.is_output else "input"
        return "array" if self.type == "VX_TYPE_ARRAY" else "scalar"


@dataclass(frozen=True)
class KernelFile:
    """The C file of the kernels.

    Attributes:
        file: the file.
    """

    file: VendorFile

    @cached_property
    def _code(self) -> str:
        """The text with spaces in place of comments, so that offsets stay; strings stay, too."""

        def blank(match: re.Match[str]) -> str:
            text = match[0]
            return re.sub(r"[^\n]", " ", text) if text.startswith("/") else text

        return _COMMENT_OR_STRING.sub(blank, self.file.text)

    @cached_property
    def _table(self) -> tuple[str, int, int] | None:
        """The name of the parameter table, and the offsets of the begin and end of its rows."""
        tables = [*_TABLE.finditer(self._code)]
        tables.sort(key=lambda match: match[1] != "kernel_params")
        for match in tables[:1]:
            end = _closing(self._code, match.end())
            return match[1], match.end(), end
        return None

    @property
    def table_name(self) -> str:
        """The name of the parameter table with file:line, or an empty text."""
        return f"{self._table[0]}[] in {self.file.at(self._table[1])}" if self._table else ""

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The rows of the parameter table; none if it cannot be read."""
        if self._table is None:
            return ()
        _, begin, end = self._table
        found = [*_ROW.finditer(self._code, begin, end)]
        if len(found) > LIMITS.parameters:
            return ()
        comments = self._comments(begin, end, [match.start() for match in found])
        rows = []
        for match, comment in zip(found, comments, strict=True):
            direction = re.search(r"\bVX_(INPUT|OUTPUT)\b", match[1])
            type_ = re.search(r"\bVX_TYPE_\w+", match[1])
            if direction is None or type_ is None:
                return ()
            is_output = direction[1] == "OUTPUT"
            rows.append(Row(is_output, type_[0], self.file.at(match.start()), comment))
        return tuple(rows)

    def _comments(self, begin: int, end: int, rows: list[int]) -> list[str]:
        """Return the comments on each row: on its line, and alone above it."""
        text = self.file.text
        # A comment on the line of the last row may be behind the end of the table.
        end = text.find("\n", end) if "\n" in text[end:] else len(text)
        comments = [""] * len(rows)
        for match in _COMMENT_OR_STRING.finditer(text, begin, end):
            line = text.rfind("\n", 0, match.start())
            before = [i for i, row in enumerate(rows) if line < row < match.start()]
            after = [i for i, row in enumerate(rows) if row > match.start()]
            if match[0].startswith("/") and (before or after):
                comments[before[-1] if before else after[0]] += f" {match[0]}"
        return comments

    def positions(self, names: Iterable[str]) -> dict[str, int]:
        """Return parameter -> index, as far as the file is unambiguous.

        Args:
            names: the names in op.yml; case is ignored.
        """
        known = {name.lower(): name for name in names}
        found: dict[str, set[int]] = {}
        for index, row in enumerate(self.rows):
            words = {word.lower() for word in re.findall(r"\w+", row.comment)} & {*known}
            if len(words) == 1:
                found.setdefault(known[words.pop()], set()).add(index)
        # The variables that receive parameters, by index or by a constant with it.
        constants = dict(_CONSTANT.findall(self._code))
        for match in (match for pattern in _TAKEN for match in pattern.finditer(self._code)):
            variable, text = str(match["name"]).lower(), str(match["index"])
            text = constants.get(text, text)
            if variable in known and re.fullmatch(r"\d{1,4}", text):
                found.setdefault(known[variable], set()).add(int(text))
        certain = {name: indices.pop() for name, indices in found.items() if len(indices) == 1}
        taken = [*certain.values()]
        return {name: index for name, index in certain.items() if taken.count(index) == 1}

    @cached_property
    def kernel_list(self) -> tuple[str, str, int] | None:
        """The name of the kernel list, its file:line, and its number of kernels."""
        match = _LIST.search(self._code)
        if match is None:
            return None
        items = self._code[match.end() : _closing(self._code, match.end())].split(",")
        kernels = [item for item in items if item.strip() not in ("", "NULL", "0")]
        return match[1], self.file.at(match.start()), len(kernels)

    @property
    def shift_of_sign(self) -> str:
        """The file:line of a shift of a signed variable by 16, or empty.

        The vendor's conversion of a half moves the sign so, which is undefined in C.
        """
        lists = _SIGNED.findall(self._code)
        signed = {name.strip() for names in lists for name in names.split(",")}
        for match in _SHIFT_OF_SIGN.finditer(self._code):
            if match[1] in signed:
                return self.file.at(match.start())
        return ""

    @property
    def half_conversion(self) -> str:
        """The name of the kernel's own function from float to half, or empty."""
        match = _HALF_CONVERSION.search(self._code)
        return match[1] if match else ""


def includes(file: VendorFile) -> Iterator[tuple[str, str]]:
    """Yield the quoted includes of a C or VX file, each with file:line of its first use."""
    seen: set[str] = set()
    for match in _INCLUDE.finditer(file.text):
        if match[1] not in seen:
            seen.add(match[1])
            yield match[1], file.at(match.start())


def _closing(code: str, begin: int) -> int:
    """Return the offset of the brace that closes the one before `begin`."""
    depth = 1
    for match in re.compile(r"[{}]").finditer(code, begin):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.start()
    return len(code)


# ---- The .vx file --------------------------------------------------------------------------------

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*", re.DOTALL)
_KERNEL = re.compile(r"\b(?:__)?kernel\b[^;{}]{0,200}?\bvoid\s+\w+\s*\(([^(){}]*)\)\s*\{")

_CLOSED = re.compile(r"[\s;]*\}")


@dataclass(frozen=True)
class VxSignature:
    """The list of parameters of a VX kernel.

    Attributes:
        where: file:line.
        positions: name of a parameter of op.yml -> its index.
    """

    where: str
    positions: dict[str, int]


def vx_signature(file: VendorFile, names: Sequence[str]) -> VxSignature | None:
    """Return the list of parameters of the kernel that matches op.yml.

    Args:
        file: the .vx file.
        names: of all parameters of op.yml; case is ignored.

    Returns:
        The list of the kernel with this number of parameters and most of the names; None if no
        kernel has any of the names, or if the best kernels differ.
    """
    known = {name.lower(): name for name in names}
    found = []
    for match in _KERNEL.finditer(_code_of(file)):
        words = [re.findall(r"\w+", parameter) for parameter in match[1].split(",")]
        variables = [each[-1].lower() if each else "" for each in words]
        positions = {known[name]: i for i, name in enumerate(variables) if name in known}
        if len(variables) == len(names) and positions:
            found.append(VxSignature(file.at(match.start()), positions))
    found.sort(key=lambda each: -len(each.positions))
    best = [each for each in found if len(each.positions) == len(found[0].positions)]
    return best[0] if len({(*each.positions.items(),) for each in best}) == 1 else None


def empty_kernel(file: VendorFile) -> str:
    """Return file:line of the first kernel if none has a statement, else an empty text.

    The vendor's tool writes such kernels, for the user to fill in.
    """
    code = _code_of(file)
    found = [*_KERNEL.finditer(code)]
    is_empty = all(_CLOSED.match(code, match.end()) for match in found)
    return file.at(found[0].start()) if found and is_empty else ""


def _code_of(file: VendorFile) -> str:
    """Return the text with spaces in place of comments, so that offsets stay."""
    return _COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), file.text)
