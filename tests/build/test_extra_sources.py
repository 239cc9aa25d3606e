"""Extra sources, include folders and flags of op.yml."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from opkit.description.reader import DescriptionError
from opkit.runtimes import parse
from opkit.runtimes.rknn.scons.package import package_description
from tests.check.target_repositories import check, counts, need
from tests.language_server import errors, language_server
from tests.repositories import Repository, generate

DESCRIPTION = """\
name: Counted
inputs: {input: {type: VX_TYPE_TENSOR}}
outputs: {output: {type: VX_TYPE_TENSOR}}
"""
LISTED = """\
sources: [src/count.cpp, ./src/difference.c]
include: [headers]
cflags: [-DSTEP=1, -O3]
"""
HEADER = """\
#ifdef __cplusplus
extern "C" {
#endif
struct opkit_tensor;
long count(const struct opkit_tensor *tensor);
long difference(long one, long other);
#ifdef __cplusplus
}
#endif
"""
CXX = """\
#include "count.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "generated/counted.h"

template <typename Number>
static Number largest(const std::array<Number, 2> &numbers)
{
    return *std::max_element(numbers.begin(), numbers.end());
}

long count(const opkit_tensor *tensor)
{
    double *step = static_cast<double *>(std::malloc(sizeof *step));
    *step = std::floor(STEP + 0.5);
    long found = 0;
    for (size_t i = 0; i < tensor->size; i++)
        found += static_cast<long>(*step);
    std::free(step);
    return largest(std::array<long, 2>{{found, -1}});
}
"""
C = '#include "count.h"\nlong difference(long one, long other) { return one - other; }\n'
USE = """\
    if (difference(count(&inputs->input), (long)inputs->input.size) != STEP - 1) {
        return "the other sources count wrong";
    }
    return NULL;
"""


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Return a repository with a C and a C++ source besides the generated ones."""
    repository = generate(tmp_path_factory.mktemp("mixed"), DESCRIPTION + LISTED)
    path = repository.path
    for name, text in (
        ("headers/count.h", HEADER),
        ("src/count.cpp", CXX),
        ("src/difference.c", C),
    ):
        (path / name).parent.mkdir(exist_ok=True)
        (path / name).write_text(text)
    math = path / "counted_compute.h"
    text = math.read_text().replace("    return NULL;\n", USE)
    math.write_text(
        text.replace('#include "generated/', '#include "count.h"\n\n#include "generated/')
    )
    return repository


@pytest.mark.slow
def test_built_for_every_abi(mixed: Repository) -> None:
    built = mixed.scons("-Q", "target=all")
    assert built.stderr == ""
    assert len([*mixed.path.glob("build/*/Counted.rknnop")]) == 5
    for abi in ("x64", "aarch64", "armhf"):
        assert f"compile build/{abi}/src/count.cpp.o" in built.stdout


@pytest.mark.slow
@pytest.mark.nightly
def test_checked_on_every_executor(mixed: Repository) -> None:
    need("qemu-arm-static", "qemu-user-static")
    need("g++", "g++")
    result = check(mixed, "target=rv1126", "sanitize=undefined")
    assert result.returncode == 0, result.stdout + result.stderr
    kernels = ("CPU kernel", "CPU kernel, undefined", "CPU kernel, armhf", "VX kernel")
    assert counts(result.stdout) == dict.fromkeys(kernels, 6)


@pytest.mark.slow
@pytest.mark.nightly
def test_source_changes_rebuild(mixed: Repository, tmp_path: Path) -> None:
    """The cases fail after a wrong change of a listed source, and of a flag alone."""
    copy = Repository(shutil.copytree(mixed.path, tmp_path / "Counted"))
    (copy.path / "src/difference.c").write_text(C.replace("one - other", "one - other + 1"))
    assert "the other sources count wrong" in copy.scons("check", check=False).stdout
    (copy.path / "src/difference.c").write_text(C)
    description = (copy.path / "op.yml").read_text()
    (copy.path / "op.yml").write_text(description.replace("-DSTEP=1", "-DSTEP=2"))
    assert "the other sources count wrong" in copy.scons("check", check=False).stdout


@pytest.mark.slow
@pytest.mark.nightly
def test_makefiles_and_editors_list_sources(mixed: Repository) -> None:
    need("make", "make")
    need("g++", "g++")
    subprocess.run(
        ["make", "-f", "makefile.linux.x64"],
        cwd=mixed.path,
        env={name: value for name, value in os.environ.items() if name != "CFLAGS"},
        check=True,
        capture_output=True,
    )
    assert (mixed.path / ".out/x64/libcounted.so").is_file()
    mixed.scons("compiledb")
    entries = json.loads((mixed.path / "compile_commands.json").read_text())
    commands = {entry["file"]: entry["arguments"] for entry in entries}
    assert {"src/count.cpp", "src/difference.c"} <= set(commands)
    with language_server(mixed.path) as server:
        assert errors(server, ["src/count.cpp", "src/difference.c"]) == []
    assert "-Iheaders" in commands["src/count.cpp"]
    assert "-DSTEP=1" in commands["rknn_kernel_counted.c"]


@pytest.mark.slow
@pytest.mark.nightly
def test_cxx_library_is_not_required(mixed: Repository, tmp_path: Path) -> None:
    copy = Repository(shutil.copytree(mixed.path, tmp_path / "Counted"))
    vector = CXX.replace("<array>", "<array>\n#include <vector>").replace(
        "long found = 0", "std::vector<long> all(tensor->size, 1); long found = all[0] - 1"
    )
    (copy.path / "src/count.cpp").write_text(vector)
    refused = copy.scons("target=x64", check=False)
    assert "undefined symbol: operator new" in refused.stderr


def test_not_in_the_package(mixed: Repository) -> None:
    spec = parse((mixed.path / "op.yml").read_text())
    assert [source.path for source in spec.sources] == ["src/count.cpp", "src/difference.c"]
    packed = package_description(spec, "rv1126")
    for key in ("sources", "include", "cflags"):
        assert key not in packed


REFUSED = {
    "sources: src/a.c": "op.yml:4: sources: must be a list, as `sources: [src/area.c]`, not",
    "sources: [/src/a.c]": "op.yml:4: sources[0]: '/src/a.c' is absolute",
    "sources: [a.c, ../a.c]": "op.yml:4: sources[1]: '../a.c' may lead out of the repository",
    "sources: [src/../../a.c]": "may lead out of the repository",
    "sources: [a.s]": "'a.s' is not a C or C++ source (expected .c, .cc, .cpp, .cxx",
    "sources: [a b.c]": "'a b.c' has a character that would break makefiles",
    "sources: [a.c, ./a.c]": "op.yml:4: sources[1]: duplicate './a.c'",
    "sources: [[a.c]]": "op.yml:4: sources[0]: must be one word or text, not a list",
    "include: [/usr/include]": "op.yml:4: include[0]: '/usr/include' is absolute",
    "cflags: [-Isrc]": "cflags[0]: '-Isrc' is an include folder; write it under `include`",
    "cflags: [-fsanitize=address]": "is for `scons sanitize=address,undefined check`",
    "cflags: [-lm]": "'-lm' invalid flag; expected -DNAME",
    'cflags: ["-DA=$(rm)"]': "invalid flag",
    "cflags: ['-Wl,-rpath,/']": "invalid flag",
    "cflags:\n- -DA\n- o.c": "op.yml:6: cflags[1]: 'o.c' invalid flag",
    "source: [a.c]": "did you mean 'sources'?",
}


@pytest.mark.parametrize("lines", REFUSED)
def test_refused(lines: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        parse(f"{DESCRIPTION}{lines}\n")
    assert REFUSED[lines] in str(caught.value)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("sources: [src/no.c]", "op.yml:4: sources[0]: file src/no.c not found"),
        ("include: [src]", "op.yml:4: include[0]: folder src not found"),
        (
            "sources: [rknn_kernel_myoperator.c]",
            "op.yml:4: sources[0]: rknn_kernel_myoperator.c is compiled anyway",
        ),
    ],
)
def test_refused_by_scons(line: str, message: str, copy_of_fresh: Repository) -> None:
    description = DESCRIPTION.replace("Counted", "MyOperator")
    (copy_of_fresh.path / "op.yml").write_text(f"{description}{line}\n")
    result = copy_of_fresh.scons(check=False)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
