"""The VX kernels of the examples and of a new repository pass, and fail with a fault."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from opkit.runtimes.rknn.vx.emulated_kernel import function_of
from rknn_op.runtimes.rknn.dot_products import DOT_PRODUCTS
from tests.check.target_repositories import need
from tests.marks import slow_first
from tests.repositories import EXAMPLES, Repository, installed_opkit

# The examples with a VX kernel.
NAMES = sorted(path.parent.name for path in EXAMPLES.glob("*/*.vx"))


def edit(repository: Repository, file: str, old: str, new: str) -> None:
    path = repository.path / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.fixture
def copy_of(example: Callable[..., Repository], tmp_path: Path) -> Callable[[str], Repository]:
    def copy(name: str) -> Repository:
        source = example(name, "rknn").path
        return Repository(Path(shutil.copytree(source, tmp_path / source.name)))

    return copy


def test_examples_have_vx_kernels() -> None:
    assert NAMES == ["exp", "resize_area", "row_mean", "truncate_div"]


@pytest.mark.parametrize("name", NAMES)
def test_example_sets_named_dot_products(name: str) -> None:
    (kernel,) = (EXAMPLES / name).glob("*.vx")
    declared = re.findall(r"^_viv_uniform VXC_512Bits (\w+);", kernel.read_text(), re.MULTILINE)
    source = kernel.with_suffix(".c").read_text()
    assert set(declared) <= set(DOT_PRODUCTS)
    assert re.findall(r'opkit_set_uniform\(call, "(\w+)", opkit_(\w+)\)', source) == [
        (table, table) for table in declared
    ]


@pytest.mark.parametrize("name", NAMES)
def test_example_c_file_has_no_generated_code(name: str) -> None:
    (path,) = (EXAMPLES / name).glob("rknn_kernel_*.c")
    source = path.read_text()
    assert re.findall(r"^(?:static |extern )?(\w+) [\w*]+\(", source, re.MULTILINE) == ["vx_status"]
    assert "vx_kernel_description_t" not in source
    assert f'#include "generated/{path.stem.removeprefix("rknn_kernel_")}_kernels.h"' in source


def test_new_repository_passes_on_both_kernels(fresh: Repository) -> None:
    rows = re.findall(r"^(\w+ kernel) ", fresh.scons("check").stdout, re.MULTILINE)
    assert rows.count("VX kernel") == rows.count("CPU kernel") > 0


WRONG = [
    (
        "exp",
        "rknn_kernel_exp.c",
        ".globalWorkScale = {ELEMENTS_PER_ITEM, 1, 1}",
        ".globalWorkScale = {ELEMENTS_PER_ITEM / 2, 1, 1}",
        "output output[0, 20] was never written, nor were 76 more: does the launch reach them?",
    ),
    (
        "exp",
        "rknn_kernel_exp.c",
        "ELEMENTS_PER_ITEM, height,",
        "ELEMENTS_PER_ITEM, height + 1,",
        "write outside 'output', 32 times; first at (x, y, z) = (0, 7, 0) by work item (0, ",
    ),
    (
        "exp",
        "rknn_kernel_exp.vx",
        "low = exp2(",
        "int table[2] = {0, 1}; low.x += table[coord.x + 2]; low = exp2(",
        "rknn_kernel_exp.vx:35:",
    ),
    (
        "exp",
        "rknn_kernel_exp.vx",
        "low = exp2(",
        "low.x += *(float *)(coord.w + 64L); low = exp2(",
        "the kernel crashed with SIGSEGV",
    ),
    (
        "exp",
        "rknn_kernel_exp.c",
        'OPKIT_TRY(opkit_set_uniform(call, "pack_halves", opkit_pack_halves));',
        "",
        "uses the _viv_uniform 'pack_halves', which is never set",
    ),
    (
        "exp",
        "rknn_kernel_exp.c",
        '(call, "pack_halves",',
        '(call, "packhalves",',
        "parameter 'packhalves': cannot set this uniform",
    ),
    (
        "exp",
        "rknn_kernel_exp.vx",
        "__kernel void exp(",
        "__kernel void logarithm(",
        "rknn_kernel_exp.vx has no kernel 'exp'",
    ),
    (
        "exp",
        "rknn_kernel_exp.c",
        "    .initialize_vx_kernel = initialize_vx_kernel,",
        "    .initialize_cpu_kernel = NULL, .deinitialize_vx_kernel = initialize_vx_kernel,",
        "kernel_hooks has no .initialize_vx_kernel",
    ),
    ("row_mean", "rknn_kernel_rowmean.vx", "barrier(CLK_LOCAL_MEM_FENCE);", "", "order"),
    (  # the sum includes elements past the end of a row
        "row_mean",
        "rknn_kernel_rowmean.vx",
        "index < end",
        "index < end + (int4)(8)",
        "outside",
    ),
    (
        "row_mean",
        "rknn_kernel_rowmean.c",
        ".globalWorkSize = {ITEMS_PER_GROUP,",
        ".globalWorkSize = {ITEMS_PER_GROUP + 1,",
        "VX_FAILURE (-1)",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "file", "old", "new", "problem"),
    slow_first(4, WRONG),
    ids=lambda value: str(value) if len(str(value)) < 15 else "",
)
def test_wrong_vx_kernel_fails(
    name: str, file: str, old: str, new: str, problem: str, copy_of: Callable[[str], Repository]
) -> None:
    repository = copy_of(name)
    edit(repository, file, old, new)
    checked = repository.scons("check", "verbose=1", check=False)
    assert checked.returncode != 0
    assert re.search(r"^VX kernel .* FAILED$", checked.stdout, re.MULTILINE), checked.stdout
    assert not re.search(r"^CPU kernel .* FAILED$", checked.stdout, re.MULTILINE), checked.stdout
    assert problem in checked.stdout


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("exp", "exp"),
        ("com.example.exp:half", "exp"),
        ("com.example.exp", "com.example.exp"),
        ("exp:half", "exp:half"),
    ],
)
def test_kernel_name_to_function(name: str, function: str) -> None:
    assert function_of(name) == function


@pytest.mark.slow
def test_work_group_kernel_is_found(example: Callable[..., Repository]) -> None:
    printed = example("row_mean", "rknn").scons("vx").stderr
    assert "warning" not in printed
    assert "rowmean.vx:46: note: no published kernel uses 'select'" in printed


@pytest.mark.slow
def test_scons_vx_shows_source_lines(copy_of: Callable[[str], Repository]) -> None:
    repository = copy_of("exp")
    assert "error" not in repository.scons("vx").stdout
    path = repository.path / "rknn_kernel_exp.vx"
    lines = path.read_text().splitlines()
    number = next(i for i, line in enumerate(lines, 1) if "exp2(low" in line)
    edit(repository, path.name, "exp2(low", "exp3(low")
    refused = repository.scons("vx", check=False)
    assert refused.returncode != 0
    assert f"rknn_kernel_exp.vx:{number}:" in refused.stderr
    assert "exp3" in refused.stderr


@pytest.mark.slow
@pytest.mark.nightly
def test_emulator_rebuilds_on_source_change(copy_of_fresh: Repository, tmp_path: Path) -> None:
    repository = Repository(copy_of_fresh.path, str(tmp_path / "site-packages"))
    shutil.copytree(installed_opkit(), repository.opkit)
    repository.scons("vx")

    def outdated(*targets: str) -> set[str]:
        said = repository.scons("-Q", "-n", *targets).stdout
        return {*re.findall("^(?:compile|link) build/host/(vx.*)", said, re.MULTILINE)}

    opkit = Path(repository.opkit) / "opkit"
    folders = opkit / "opencl/runtime", opkit / "runtimes/rknn/vx/runtime"
    objects = {f"vx/{source.stem}.o" for each in folders for source in each.glob("*.c")}
    shutil.rmtree(repository.path / "build" / "host", ignore_errors=True)
    assert outdated("vx") == set()
    for target in (["target=x64"], ["check"], ["report"], ["vx-gdb", "case=any"]):
        assert outdated(*target) == objects | {"vx_runtime.so"}
    repository.scons("build/host/vx_runtime.so")
    assert outdated("check") == set()
    for name, made in (
        ("runtime/groups.c", {"vx/groups.o"}),
        ("runtime/runtime.h", objects),
        ("prelude/shared.h", objects),
    ):
        source = opkit / "opencl" / name
        text = source.read_text()
        source.write_text(f"{text}extern int one_more;\n")
        assert outdated("check") == made
        source.write_text(text)


CASE = "case=7x31-uniform(-18,12)"


@pytest.mark.slow
@pytest.mark.nightly
def test_scons_vx_gdb_prints_command(example: Callable[..., Repository]) -> None:
    repository = example("exp", "rknn")
    folder = repository.path / "build/vx"
    printed = repository.scons("-Q", "vx-gdb", CASE).stdout.splitlines()[-1]
    program, *_, script, harness = shlex.split(printed)
    assert (program, script) == ("gdb", str(folder / "gdb/job.gdb"))
    assert Path(harness) == repository.path / "build/host/harness"
    assert "break rknn_kernel_exp.vx:exp" in Path(script).read_text()
    refused = repository.scons("vx-gdb", CASE, "run=1", check=False)
    assert "gdb is not on PATH; install it (apt install gdb)" in refused.stderr


@pytest.mark.slow
def test_gdb_stops_at_first_kernel_line(example: Callable[..., Repository]) -> None:
    need("gdb", "gdb")
    repository = example("exp", "rknn")
    source = (repository.path / "rknn_kernel_exp.vx").read_text().splitlines()
    first = next(i for i, line in enumerate(source, 1) if "int4 coord = " in line)
    printed = repository.scons("-Q", "vx-gdb", CASE).stdout.splitlines()[-1]
    stopped = subprocess.run(
        shlex.split(printed), input="next\nkill\n", capture_output=True, text=True, check=True
    )
    assert f"rknn_kernel_exp.vx:{first}\n" in stopped.stdout


@pytest.mark.slow
@pytest.mark.nightly
def test_vx_gdb_suggests_case_names(example: Callable[..., Repository]) -> None:
    refused = example("exp", "rknn").scons("vx-gdb", "case=7x31-uniform(-18,13)", check=False)
    assert "no test has a case '7x31-uniform(-18,13)'; closest matches: 7x31-unif" in refused.stderr


def test_vx_gdb_requires_case(fresh: Repository) -> None:
    refused = fresh.scons("vx-gdb", check=False)
    assert refused.returncode == 2
    assert "pass its name with case=; scons verbose=1 check prints the names" in refused.stderr
