"""The math's C without files beside it: the user's text, and what it uses of the headers.

A header is a list of paragraphs, separated by blank lines outside of comments, braces and #if. The
used ones are found by the names that they define.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from opkit.common.errors import OpkitError

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)".*\n', re.MULTILINE)
_SYSTEM_INCLUDE = re.compile(r"^#include <[^>]+>$", re.MULTILINE)
_GUARD = re.compile(r"^#ifndef (\w+)\n#define \1\n(.*)^#endif[^\n]*\n*\Z", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_NOTICE = re.compile(r"\A/\* Generated from [^\n]*\n")
_RULER = re.compile(r"^/\* ---- .* ---- ?\*/$|^/\* ---- [^\n]*\*/\n", re.MULTILINE)
_NAME = re.compile(r"\b[A-Za-z_]\w*")
_DEFINED = re.compile(
    r"#\s*define\s+(\w+)"  # a macro
    r"|\b(?:struct|union|enum)\s+(\w+)\s*@"  # with its body as @
    r"|\btypedef\b[^;]*\(\*(\w+)\)|\btypedef\b[^;()]*\b(\w+)\s*;"
    r"|\b(?!typedef|void)(\w+)\s*(?=\()"  # a function
    r"|\b(\w+)(?:\s*\[[^]]*\])*\s*="  # a constant
)
_THREADS = re.compile(r"^#ifdef OPKIT_THREADS.*?^#endif\n", re.MULTILINE | re.DOTALL)
_NO_DEFINITION = re.compile(
    r"^\s*#\s*(?:if|elif)\b(?:.*\\\n)*.*$|__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)",
    re.MULTILINE,
)
_OURS = re.compile(r"opkit|rknn|op\.yml|generated/|_reference\.py|scons", re.IGNORECASE)
_OF_PROJECT = re.compile(r"opkit/|rknn|op\.yml|generated|scons|benchmarks/", re.IGNORECASE)
_PREFIX = re.compile(r"\b(opkit|OPKIT)_")

Reader = Callable[[str], "str | None"]
"""Path in a repository -> the file's text; None: there is no such file."""


@dataclass(frozen=True)
class Math:
    """C text without includes of the repository.

    Attributes:
        helpers: the used parts of headers.
        own: the text of the user's file.
        prefix: the prefix of the helpers' names.
    """

    helpers: str
    own: str
    prefix: str


def self_contained(path: str, read: Reader, headers: Sequence[str], used: str, stem: str) -> Math:
    """Return the text of a C file, and the used parts of its headers.

    Args:
        path: the file, in the repository.
        read: reads files of the repository.
        headers: the start of the paths of headers that can be merged.
        used: other text that uses the headers.
        stem: the prefix of the names in place of the project's.

    Raises:
        OpkitError: the file is missing, includes others, or names the project.
    """
    text = read(path)
    if text is None:
        raise OpkitError(f"{path}: file not found in the repository; run `scons`")
    included: dict[str, str] = {}
    _collect(path, text, read, headers, included)
    bare = _INCLUDE.sub("", _unguarded(_NOTICE.sub("", text)))
    # The paragraphs of the first comment that name files of the repository go.
    if first := re.match(r"\s*/\*\n(.*?)\n? \*/\n", bare, re.DOTALL):
        kept = [each for each in re.split(r"\n \*\n", first[1]) if not _OURS.search(each)]
        comment = "/*\n" + "\n *\n".join(kept) + "\n */\n" if kept else ""
        bare = comment + bare[first.end() :]
    own = re.sub(r"\n{3,}", "\n\n", bare).strip("\n")
    for line in own.splitlines():
        if match := _OURS.search(_PREFIX.sub("", line)):
            index = text.splitlines().index(line)
            raise OpkitError(
                f"{path}:{index + 1}: names '{match[0]}', which ppl.nn does not have; remove it"
            )
    roots = {*_NAME.findall(_COMMENT.sub("", own)), *_NAME.findall(used)}
    helpers = _used(included, roots)
    prefix = _free_prefix(stem, f"{helpers}\n{own}")
    return Math(_renamed(helpers, prefix), _renamed(own, prefix), prefix)


def _collect(
    path: str, text: str, read: Reader, headers: Sequence[str], found: dict[str, str]
) -> None:
    """Collect the headers of a file, each after the headers of its own."""
    for match in _INCLUDE.finditer(text):
        header = posixpath.normpath(posixpath.join(posixpath.dirname(path), match[1]))
        if read(header) is None:
            header = posixpath.normpath(posixpath.join("include", match[1]))
        content = read(header)
        if content is None or not header.startswith(tuple(headers)):
            line = text.count("\n", 0, match.start()) + 1
            raise OpkitError(
                f"{path}:{line}: includes {match[1]}; in ppl.nn's own form, the math is one file: "
                f"move what it needs into {path}"
            )
        if header not in found:
            content = _THREADS.sub("", content)
            _collect(header, content, read, headers, found)
            found[header] = content


def _unguarded(text: str) -> str:
    """Return a header without its include guard."""
    match = _GUARD.search(text)
    return text[: match.start()] + match[2] if match else text


def _paragraphs(text: str) -> Iterator[str]:
    """Yield the parts of a C text that blank lines separate at its top level."""
    part: list[str] = []
    braces = conditions = 0
    in_comment = False
    for line in text.splitlines():
        part.append(line)
        code = _COMMENT.sub("", line)
        if in_comment:
            in_comment = "*/" not in line
            continue
        if "/*" in code:
            in_comment = True
            code = code.partition("/*")[0]
        word = code.strip()
        conditions += word.startswith("#if")
        conditions -= word.startswith("#endif")
        braces += code.count("{") - code.count("}")
        if not word and not line.strip() and braces == conditions == 0:
            yield "\n".join(part[:-1])
            part = []
    yield "\n".join(part)


def _without_project_comments(text: str) -> str:
    """Remove the comments that speak of the project."""
    return re.sub(
        r"[ \t]*/\*.*?\*/\n?",
        lambda m: (
            "\n" * m[0].endswith("\n") * (not m[0].startswith("/"))
            if _OF_PROJECT.search(m[0])
            else m[0]
        ),
        text,
        flags=re.DOTALL,
    )


def _used(headers: Mapping[str, str], roots: Iterable[str]) -> str:
    """Return the paragraphs of headers with the definitions that the names need."""
    parts: list[tuple[str, set[str], set[str], str]] = []
    for header, text in headers.items():
        for part in _paragraphs(_RULER.sub("", _unguarded(_NOTICE.sub("", text)))):
            code = _COMMENT.sub("", part)
            parts.append((part.strip("\n"), _definitions(code), {*_NAME.findall(code)}, header))
    names, kept = set(roots), set[int]()
    pending = True
    while pending:
        pending = False
        for index, (_, defined, used, _) in enumerate(parts):
            if index not in kept and defined & names:
                kept.add(index)
                names |= used
                pending = True
    sources = {parts[index][3] for index in kept}
    system = {each for name in sources for each in _SYSTEM_INCLUDE.findall(headers[name])}
    unconditional = {
        each
        for part, _, _, _ in parts
        if not part.startswith("#if")
        for each in _SYSTEM_INCLUDE.findall(part)
    }
    return "\n\n".join(
        [
            *(["\n".join(sorted(system & unconditional))] if system & unconditional else []),
            *(_without_project_comments(parts[index][0]) for index in sorted(kept)),
        ]
    )


def _definitions(code: str) -> set[str]:
    """Return the names that a paragraph without comments defines."""
    code = _NO_DEFINITION.sub("", code)
    outer, before = code, ""
    while outer != before:
        before, outer = outer, re.sub(r"\{[^{}]*\}", "@", outer)
    found = {name for match in _DEFINED.findall(outer) for name in match if name}
    enumerators = re.findall(r"\benum\b[^{;()]*\{([^{}]*)\}", code)
    return found | {name for body in enumerators for name in _NAME.findall(body)}


def _free_prefix(stem: str, text: str) -> str:
    """Return a prefix for the names with the project's prefix that makes no name twice."""
    names = {*_NAME.findall(text)}
    for prefix in (f"{stem}_", f"{stem}_math_"):
        renamed = {_renamed(name, prefix) for name in names if _PREFIX.match(name)}
        if not renamed & names:
            return prefix
    return f"{stem}_math_helper_"


def _renamed(text: str, prefix: str) -> str:
    """Replace the project's prefix of names."""
    return _PREFIX.sub(lambda m: prefix if m[1].islower() else prefix.upper(), text)
