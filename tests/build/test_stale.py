"""Builds after a change of anything that a compiler read, or looked for."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from opkit.runtimes.rknn.rknnop import unpack
from tests.check.target_repositories import edit
from tests.marks import slow_first
from tests.repositories import Repository, installed_opkit

pytestmark = pytest.mark.slow

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


@pytest.fixture(scope="module")
def repository(fresh: Repository, tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Return a repository with a kernel of files of every kind."""
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


@pytest.mark.parametrize("change", slow_first(2, CHANGES))
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


def test_old_timestamp_is_not_trusted(copy_of_fresh: Repository, tmp_path: Path) -> None:
    """After two days, SCons itself trusts an equal timestamp."""
    binary = tmp_path / "kernel.bin"
    for content in (b"SHDR one", b"SHDR two"):
        binary.write_bytes(content)
        os.utime(binary, (1e9, 1e9))
        copy_of_fresh.scons(f"vx_binary={binary}", "target=rv1126")
        package = copy_of_fresh.path / "build/rv1126/MyOperator.rknnop"
        assert unpack(package.read_bytes(), package.name).program_binary == content


KILLED = """
import os, sys
from SCons import SConsign, Script
SConsign.write = lambda: os._exit(9)
sys.argv[0] = "scons"
Script.main()
"""


def test_build_after_a_killed_one(copy_of_fresh: Repository) -> None:
    """The signatures are of the sources before, and a build would trust them after `git stash`."""
    library = copy_of_fresh.path / "build/x64/libmyoperator.so"
    (math,) = copy_of_fresh.path.glob("*_compute.h")
    before = library.read_bytes()
    edit(math, "return NULL;", 'return "no result";')
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, "target=x64"],
        cwd=copy_of_fresh.path,
        env={**os.environ, "PYTHONPATH": installed_opkit()},
        check=False,
    )
    assert killed.returncode == 9
    assert (library.read_bytes() == before) is False
    edit(math, 'return "no result";', "return NULL;")
    copy_of_fresh.scons("target=x64")
    assert (library.read_bytes() == before) is True


def test_clean_forgets_signatures(copy_of_fresh: Repository) -> None:
    """A file that comes back into build/ is not the one that SCons has built."""
    library = copy_of_fresh.path / "build/x64/libmyoperator.so"
    before = library.read_bytes()
    copy_of_fresh.scons("-c")
    library.parent.mkdir()
    library.write_bytes(b"another one")
    copy_of_fresh.scons("target=x64")
    assert library.read_bytes() == before


@pytest.mark.nightly
def test_changed_modules_of_tests_are_imported(copy_of_fresh: Repository) -> None:
    """Python's bytecode keeps whole seconds and the size of a source."""
    module = copy_of_fresh.path / "tests/helper.py"
    (test,) = copy_of_fresh.path.glob("tests/test_*.py")
    test.write_text(f"{test.read_text()}\n\nfrom tests.helper import VALUE\n\nassert VALUE\n")
    for value, status in ((1, 0), (0, 2)):
        module.write_text(f"VALUE = {value}\n")
        os.utime(module, (1e9, 1e9))
        assert copy_of_fresh.scons("check", check=False).returncode == status


@pytest.mark.nightly
def test_age_of_packages(copy_of_fresh: Repository) -> None:
    """The check builds for this PC only, so a package can be older than the checked sources."""
    package = copy_of_fresh.path / "build/rv1126/MyOperator.rknnop"
    (math,) = copy_of_fresh.path.glob("*_compute.h")
    assert "stale" not in copy_of_fresh.scons("check").stdout
    math.write_text(f"{math.read_text()}\n")
    os.utime(math, (package.stat().st_mtime + 7201,) * 2)
    stale = "stale, 2 hours older than myoperator_compute.h"
    checked = " ".join(copy_of_fresh.scons("check").stdout.split())
    assert re.search(rf"packages for .*rv1126.*: {stale}; run scons target=all", checked)
    copy_of_fresh.scons("target=rv1126")  # the same code, so it is not packed again
    reported = " ".join(copy_of_fresh.scons("report").stdout.split())
    assert re.search(rf"packages for [^:]*: {stale}; run scons target=all", reported)
    assert re.search(r"packages for rv1126: up to date, [^:]* old", reported)
    rows = re.findall("<tr>.*?</tr>", (copy_of_fresh.path / "build/report.html").read_text())
    marks = {
        target: f'<td class="bad">{stale}</td>' in row
        for target in ("rk1806", "rv1126")
        for row in rows
        if f"build/{target}/" in row
    }
    assert marks == {"rk1806": True, "rv1126": False}
