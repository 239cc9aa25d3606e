"""Builds after a change of anything that a compiler read, or looked for."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.repositories import Repository

SOURCE = """
#define NAMED_BY_MACRO "computed.h"
#include NAMED_BY_MACRO
#include "shadowed.h"
#if __has_include("optional.h")
#define OPTIONAL 1
#else
#define OPTIONAL 0
#endif
__asm__(".pushsection .rodata\\n.hidden incbin\\nincbin:\\n\\t.incbin \\"assembled.bin\\"\\n"
        ".popsection");
extern const unsigned char incbin[] __attribute__((visibility("hidden")));
static const volatile int values[] = {
    COMPUTED, SHADOWED, OPTIONAL,
#embed "embedded.bin"
};
"""
FILES = {
    "computed.h": "#define COMPUTED 1\n",
    "second/shadowed.h": "#define SHADOWED 1\n",
    "embedded.bin": "1",
    "assembled.bin": "1",
}
KEYS = """
include: [first, second]
cflags: [-Wno-c23-extensions]
"""


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.fixture(scope="module")
def repository(fresh: Repository, tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Return a repository whose kernel is compiled from files of every kind."""
    path = tmp_path_factory.mktemp("stale") / fresh.path.name
    shutil.copytree(fresh.path, path, symlinks=True)
    for folder in ("first", "second"):
        (path / folder).mkdir()
    for name, text in FILES.items():
        (path / name).write_text(text)
    (math,) = path.glob("*_compute.h")
    text = math.read_text().replace("return NULL;", 'return values[*incbin] < 0 ? "" : NULL;')
    includes, last, rest = text.rpartition("#include ")
    line, rest = rest.split("\n", 1)
    math.write_text(f"{includes}{last}{line}\n{SOURCE}{rest}")
    with (path / "op.yml").open("a") as description:
        description.write(KEYS)
    return Repository(path)


CHANGES = {
    "computed include": ("computed.h", "#define COMPUTED 2\n"),
    "embed": ("embedded.bin", "2"),
    "incbin": ("assembled.bin", "2"),
    "new header in an earlier folder": ("first/shadowed.h", "#define SHADOWED 3\n"),
    "new file for __has_include": ("optional.h", ""),
}


@pytest.mark.parametrize("change", CHANGES)
def test_input_of_compiler_is_built(change: str, repository: Repository) -> None:
    """A file can have an old timestamp, and zig and SCons have caches of their own."""
    library = repository.path / "build/x64/libmyoperator.so"
    repository.scons("target=x64")
    assert "compile " not in repository.scons("target=x64").stdout
    before = library.read_bytes()
    name, text = CHANGES[change]
    path = repository.path / name
    times = path.stat() if path.exists() else None
    path.write_text(text)
    if times is not None:
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    repository.scons("target=x64")
    assert (library.read_bytes() == before) is False


def test_unknown_input_is_compiled_each_time(repository: Repository) -> None:
    """A name of macros, for which no compiler lists a file."""
    library = repository.path / "build/x64/libmyoperator.so"
    (math,) = repository.path.glob("*_compute.h")
    edit(math, '__has_include("optional.h")', "__has_include(LATER)")
    edit(math, "#include NAMED_BY_MACRO", "#include NAMED_BY_MACRO\n#define LATER <later.h>")
    repository.scons("target=x64")
    before = library.read_bytes()
    (repository.path / "later.h").write_text("")
    repository.scons("target=x64")
    assert (library.read_bytes() == before) is False
