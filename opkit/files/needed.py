"""The generated files that exist only for the files that name them: headers, and CI's steps."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from functools import lru_cache

HEADERS = "include/"
"""The folder of opkit's headers in a repository."""
_OPKIT = f"{HEADERS}opkit/"
WORKFLOWS = ".github/workflows/"
ACTION = ".github/actions/operator/action.yml"
_SUFFIXES = (
    *(".c", ".cc", ".cl", ".cpp", ".cxx"),
    *(".h", ".hh", ".hpp", ".hxx", ".inc", ".inl"),
)
# Also of __has_include, and of a macro that is the name in an #include.
_NAME = re.compile(r'^[ \t]*#[^"<\n]*["<]([^">\n]+)[">]', re.MULTILINE)


def is_read(path: str) -> bool:
    """Return whether a file may name others, by its path in a repository."""
    return path.endswith(_SUFFIXES) or path.startswith(WORKFLOWS)


def needed(generated: Mapping[str, str], own: Mapping[str, bytes]) -> dict[str, str]:
    """Return path -> text of the generated files without those that no file names.

    Headers are followed from the user's files and the other generated ones, through all that they
    include.

    Args:
        generated: path -> text of all files that opkit can generate.
        own: path -> content of the repository's other files; those without `is_read` are ignored.
    """
    texts = {path: data.decode(errors="replace") for path, data in own.items() if is_read(path)}
    workflows = [text for path, text in texts.items() if path.startswith(WORKFLOWS)]
    unused = {path for path in generated if path.startswith(HEADERS)}
    of_vendors = {posixpath.dirname(path) for path in unused if not path.startswith(_OPKIT)}
    folders = ("", HEADERS, *sorted(of_vendors))
    sources = (path for path in (*texts, *generated) if path.endswith(_SUFFIXES))
    pending = [path for path in sources if path not in unused]
    while pending:
        path = pending.pop()
        for name in _names(generated.get(path) or texts[path]):
            for folder in (posixpath.dirname(path), *folders):
                header = posixpath.normpath(posixpath.join(folder, name))
                if header in unused:
                    unused.remove(header)
                    pending.append(header)
    if not any(posixpath.dirname(ACTION) in text for text in workflows):
        unused.add(ACTION)
    return {path: text for path, text in generated.items() if path not in unused}


@lru_cache(maxsize=256)  # the headers, and not the files of a thousand repositories
def _names(text: str) -> tuple[str, ...]:
    """Return the file names in the preprocessor's lines of a C file."""
    return tuple(dict.fromkeys(_NAME.findall(text)))
