"""How scons compiles and links a kernel: flags, diagnostics, glibc."""

from __future__ import annotations

import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from opkit.build.compiler_output import Output
from tests.check.target_repositories import edit, need
from tests.marks import slow_first
from tests.repositories import Repository, generate


def scons(
    repository: Repository, *arguments: str, check: bool = True
) -> subprocess.CompletedProcess[str]:
    """Run `scons` with this machine's PATH, which has compilers."""
    return repository.scons(*arguments, check=check, path=os.environ["PATH"])


def compute(repository: Repository, statements: str) -> None:
    """Write statements before the last one of the operator's math."""
    edit(
        repository.path / "myoperator_compute.h", "return NULL;", f"{statements}\n    return NULL;"
    )


def run_time_libraries(cache: Path) -> set[str]:
    """Return the run-time libraries in zig's cache."""
    return {path.name for path in cache.glob("o/*/lib*_rt*")}


@pytest.mark.slow
@pytest.mark.nightly
def test_link_without_run_time_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling zig's run-time library for each ABI takes most of a first build."""
    monkeypatch.setenv("ZIG_GLOBAL_CACHE_DIR", str(tmp_path / "zig"))
    repository = generate(tmp_path)
    repository.scons("target=all")
    repository.scons("target=x64")
    assert run_time_libraries(tmp_path / "zig") == set()
    # Without such an instruction, a 64-bit division calls a function of that library.
    compute(repository, "    volatile long long n = 7; n /= n + 3;")
    repository.scons("build/armhf/libmyoperator.so")
    assert run_time_libraries(tmp_path / "zig") == {"libcompiler_rt.a"}


MISTAKES = """\
static int forgotten(int a) { if (a) return 1; }
int *undeclared_and_mixed(const float *a) { int b = a; missing(forgotten(b)); return a; }
"""


@pytest.mark.parametrize("toolchain", ["zig", "gnu"])
def test_undefined_behavior_stops_build(toolchain: str, copy_of_fresh: Repository) -> None:
    if toolchain == "gnu":
        need("gcc", "gcc")
    path = copy_of_fresh.path / "myoperator_compute.h"
    include = '#include "generated/myoperator.h"\n'
    path.write_text(path.read_text().replace(include, f"{include}#line 1\n{MISTAKES}"))
    result = scons(copy_of_fresh, f"toolchain={toolchain}", "target=x64", check=False)
    assert result.returncode == 2
    found = re.findall(
        r"^(?:\./)?(\w+\.h):(\d+):\d+: error: .*[W=]([\w-]+)\]$", result.stderr, re.M
    )
    assert sorted(found) == [
        ("myoperator_compute.h", "1", "return-type"),
        ("myoperator_compute.h", "2", "implicit-function-declaration"),
        ("myoperator_compute.h", "2", "incompatible-pointer-types"),
        ("myoperator_compute.h", "2", "int-conversion"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("toolchain", slow_first(1, ["zig", "gnu"]))
def test_discarded_const_is_warning(toolchain: str, copy_of_fresh: Repository) -> None:
    if toolchain == "gnu":
        need("gcc", "gcc")
    compute(copy_of_fresh, '    const char *text = "a"; char *lost = text; (void)lost;')
    result = scons(copy_of_fresh, f"toolchain={toolchain}", "target=x64")
    assert len(re.findall(r" warning: .*discard", result.stderr)) == 1


def test_diagnostics_are_shown_once(copy_of_fresh: Repository) -> None:
    """The four compilations of a source, for three ABIs and for the check, report it once."""
    compute(
        copy_of_fresh,
        "    int unused; long size = 0; (void)sizeof(char[sizeof size == 8 ? 1 : -1]);",
    )
    result = copy_of_fresh.scons("target=all", check=False)
    assert result.stderr.count("unused variable 'unused'") == 1
    # Only with a 32-bit long:
    assert re.search(r"compute\.h:\d+:\d+: error: array size is negative", result.stderr)
    assert result.returncode == 2
    assert "warnings generated" not in result.stderr


def test_parallel_output_is_not_interleaved(capfd: pytest.CaptureFixture[str]) -> None:
    output = Output()

    def run(name: str) -> int:
        script = f"for i in 1 2 3; do echo {name} $i; sleep 0.05; done; exit 3"
        return output.spawn("/bin/sh", None, "sh", [script], {"PATH": "/usr/bin:/bin"})

    with ThreadPoolExecutor() as pool:
        assert list(pool.map(run, "ab")) == [3, 3]
    blocks = [f"{name} 1\n{name} 2\n{name} 3\n" for name in "ab"]
    assert capfd.readouterr().err in ("".join(blocks), "".join(reversed(blocks)))


def test_diagnostics_of_gcc_and_clang() -> None:
    output = Output()
    gcc = "In file included from a.c:1:\nb.h: In function 'f':\nb.h:2:3: warning: w\n    2 | x\n"
    assert output.unprinted(f"{gcc}b.h:4:5: warning: v\nb.h:1:1: note: n\n") == (
        f"{gcc}b.h:4:5: warning: v\nb.h:1:1: note: n\n"
    )
    # A repeated diagnostic from another source that includes the header, and a new one.
    clang = "In file included from c.c:1:\nb.h:2:3: warning: w\n    2 | x\n"
    assert output.unprinted(f"{clang}b.h:9:9: error: e\n1 warning and 1 error generated.\n") == (
        "b.h:9:9: error: e\n"
    )
    assert output.unprinted("ld: undefined symbol: f\n") == "ld: undefined symbol: f\n"


# glibc 2.29 has a new version of exp, which a link on a newer PC requires.
NEWER_GLIBC = """\
    extern double exp(double);
    if (exp((double)inputs->input.size) < 1) return "exp is wrong";
"""


@pytest.mark.slow
@pytest.mark.nightly
def test_newer_glibc_is_refused_in_packages_only(copy_of_fresh: Repository) -> None:
    need("x86_64-linux-gnu-gcc", "gcc")
    compute(copy_of_fresh, NEWER_GLIBC)
    checked = scons(copy_of_fresh, "toolchain=gnu", "check")
    assert re.search(r"^\d+ passed", checked.stdout, re.MULTILINE)
    gcc_for_x64 = ("toolchain=prefix", "prefix=x86_64-linux-gnu-", "target=rv1126")
    refused = scons(copy_of_fresh, *gcc_for_x64, check=False)
    assert refused.returncode == 2
    assert re.search(
        r"libmyoperator\.so: not a library that every x64 .*:\n  - it needs GLIBC_2\.29 \(exp\)",
        refused.stderr,
    )
    assert not (copy_of_fresh.path / "build/rv1126/MyOperator.rknnop").exists()
