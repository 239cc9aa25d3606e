"""scons in a generated repository: products, refused arguments, stale files."""

from __future__ import annotations

import os
import re
import shlex
import stat
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from SCons.Environment import Environment

from opkit import repository, toolchains
from opkit.build.compile_environment import words
from opkit.common.errors import OpkitError
from opkit.runtimes import parse
from opkit.runtimes.rknn.boards import CHIPS, TARGETS
from opkit.runtimes.rknn.rknnop import unpack
from opkit.toolchains.abi import ABIS
from tests.check.target_repositories import edit, need
from tests.compiling import C_SOURCES
from tests.marks import slow_first
from tests.repositories import (
    EXAMPLE_NAMES,
    EXAMPLES,
    ONNX_OPERATORS,
    RKNN_EXAMPLES,
    ROOT,
    Repository,
    generate,
)
from tests.rknn_op.command import rknn_op

MACHINES = {"x64": 62, "aarch64": 183, "armhf": 40}  # e_machine of the ELF standard


def by_day_first(names: Iterable[str]) -> list[str]:
    """Return names of examples, first those that are built for all targets by day."""
    return sorted(names, key=lambda name: (name not in ("row_mean", "truncate_div"), name))


def packages(repository: Repository) -> list[Path]:
    return sorted(repository.path.glob("build/*/*.rknnop"))


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_first(2, by_day_first(RKNN_EXAMPLES)))
def test_example_package_contents(name: str, example: Callable[[str], Repository]) -> None:
    repository = example(name)
    spec = parse((repository.path / "op.yml").read_text())
    assert [path.parent.name for path in packages(repository)] == sorted(CHIPS)
    for path in packages(repository):
        package = unpack(path.read_bytes(), str(path))
        assert (package.version, package.program_binary) == (2, b"")
        assert list(package.libraries) == list(MACHINES)
        for abi, library in package.libraries.items():
            assert int.from_bytes(library[18:20], "little") == MACHINES[abi]
            built = repository.path / f"build/{abi}/lib{spec.lower}.so"
            assert library == built.read_bytes()
        packed = parse(package.description)
        assert [p.name for p in packed.parameters] == [p.name for p in spec.parameters]
        assert packed.target_platform == path.parent.name
        assert package.python == (repository.path / f"rknn_op_{spec.lower}.py").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_first(2, by_day_first({*EXAMPLE_NAMES} - {*ONNX_OPERATORS})))
def test_example_check_passes(name: str, example: Callable[[str], Repository]) -> None:
    """Operators of ONNX: tests/operators/test_own_tests.py."""
    checked = example(name).scons("check")
    assert re.search(r"^\d+ passed", checked.stdout, re.MULTILINE)
    assert re.search(r"^CPU kernel .* [mu]s$", checked.stdout, re.MULTILINE)
    if any((EXAMPLES / name).glob("*.vx")):
        assert re.search(r"^VX kernel .* -$", checked.stdout, re.MULTILINE), checked.stdout
        assert "FAILED" not in checked.stdout
        notes = re.findall(r"^note: no case .*", checked.stdout, re.MULTILINE)
        of_int32 = "runs truncatediv_compute.h"  # which only RKNN-Toolkit2 alone has
        assert all(of_int32 in note for note in notes), notes


def test_second_build_is_noop(fresh: Repository) -> None:
    again = fresh.scons("-Q", "target=all").stdout.splitlines()
    assert again == [f"scons: `build/{chip}/MyOperator.rknnop' is up to date." for chip in CHIPS]


@pytest.mark.slow
def test_change_with_equal_timestamp_is_built(copy_of_fresh: Repository) -> None:
    """SCons keeps whole seconds, in which a build and two changes may be."""
    copy_of_fresh.scons("target=x64")
    (library,) = copy_of_fresh.path.glob("build/x64/lib*.so")
    (math,) = copy_of_fresh.path.glob("*_compute.h")
    before, times = library.read_bytes(), math.stat()
    edit(math, "return NULL;", 'return "no result";')
    os.utime(math, ns=(times.st_atime_ns, times.st_mtime_ns))
    copy_of_fresh.scons("target=x64")
    assert library.read_bytes() != before


@pytest.mark.slow
def test_build_is_reproducible_across_folders(fresh: Repository, tmp_path: Path) -> None:
    other = generate(tmp_path / "it's a $HOME `id` 100%s; ü")
    other.scons("target=all")
    for one, two in zip(packages(fresh), packages(other), strict=True):
        assert one.read_bytes() == two.read_bytes()


@pytest.mark.slow
def test_committed_files(copy_of_fresh: Repository) -> None:
    def git(*arguments: str) -> str:
        need("git", "git")
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", *arguments]
        return subprocess.run(
            command, cwd=copy_of_fresh.path, check=True, capture_output=True, text=True
        ).stdout

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "Generate")
    tracked = git("ls-files").splitlines()
    assert {"op.yml", "generated/myoperator_params.h", "rknn_op_myoperator.py"} <= set(tracked)
    assert not [path for path in tracked if re.match(r"build/|.*(__pycache__|\.so$|\.o$)", path)]
    copy_of_fresh.scons("target=all")
    copy_of_fresh.scons("check")
    copy_of_fresh.scons("compiledb")
    assert git("status", "--porcelain") == ""


@pytest.mark.slow
def test_new_param_is_generated_by_build(copy_of_fresh: Repository) -> None:
    path = copy_of_fresh.path
    yours = {
        file: file.read_bytes()
        for file in (*path.glob("myoperator_*"), *path.glob("rknn_kernel_*"), path / "README.md")
    }
    edit(path / "op.yml", "params:", "params:\n  gain: {type: VX_TYPE_FLOAT32}")
    built = copy_of_fresh.scons()
    assert "float gain;" in (path / "generated/myoperator.h").read_text()
    assert "'gain'" in (path / "rknn_op_myoperator.py").read_text().replace('"', "'")
    assert (
        "rknn_kernel_myoperator.vx:11: the arguments of myoperator are not those of op.yml"
        in built.stderr
    )
    assert "    float gain\n" in built.stderr
    assert yours == {file: file.read_bytes() for file in yours}
    edit(path / "myoperator_compute.h", "(void)params;", 'if (params->gain < 0) return "gain";')
    copy_of_fresh.scons()


def test_renamed_operator_error_lists_files(copy_of_fresh: Repository) -> None:
    edit(copy_of_fresh.path / "op.yml", "name: MyOperator", "name: Other")
    result = copy_of_fresh.scons(check=False)
    assert result.returncode == 2
    assert "but other_compute.h, other_reference.py, rknn_kernel_other.c" in result.stderr
    assert "git mv" in result.stderr


@pytest.mark.slow
def test_update_completes_skipped_hook(fresh: Repository, tmp_path: Path) -> None:
    path = tmp_path / "NoHooks"
    command = [sys.executable, "-m", "cookiecutter", str(ROOT)]
    subprocess.run(
        [*command, "--no-input", "--accept-hooks", "no", "op_name=NoHooks"],
        cwd=tmp_path,
        check=True,
    )
    assert not (path / "generated").exists()
    made = Repository(path)
    assert "run `rknn-op update`" in made.scons(check=False).stderr
    assert rknn_op("update", str(path)).exit_code == 0
    made.scons("target=x64")
    names = {str(file.relative_to(path)) for file in path.rglob("*") if "build" not in file.parts}
    theirs = {
        str(file.relative_to(fresh.path)).replace("myoperator", "nohooks")
        for file in fresh.path.rglob("*")
        if "build" not in file.parts
    }
    # The hook also deletes the files of extras that were not chosen.
    extras = {".devcontainer", ".devcontainer/devcontainer.json", ".github/dependabot.yml"}
    extras.add(".pre-commit-config.yaml")
    assert {n for n in names if "__pycache__" not in n} - extras == {
        n for n in theirs if "__pycache__" not in n and "pytest_cache" not in n
    }


FAILING_STEPS: dict[str, tuple[str, str, str, str]] = {
    "wrong description": ("op.yml", "name: MyOperator", "nam: MyOperator", "op.yml:2: nam"),
    "new Python in the reference": (
        "myoperator_reference.py",
        "import numpy as np",
        'import numpy as np\nX = f"{np}"',
        "myoperator_reference.py:",
    ),
    "wrong C": ("myoperator_compute.h", "return NULL;", "return NUL;", "myoperator_compute.h"),
    "a function that boards do not have": (
        "rknn_kernel_myoperator.c",
        "    return opkit_set_launch(",
        "    void vxNobodyHasThis(void);\n    vxNobodyHasThis();\n    return opkit_set_launch(",
        "vxNobodyHasThis",
    ),
    "no list of kernels": (
        "rknn_kernel_myoperator.c",
        '#include "generated/myoperator_kernels.h"',
        '#include "generated/myoperator_params.h"\n#include "opkit/runtimes/rknn/kernel_hooks.h"',
        "vx_kernel_MyOperator_list",
    ),
}


@pytest.mark.parametrize("step", FAILING_STEPS)
def test_failed_step_leaves_no_package(step: str, copy_of_fresh: Repository) -> None:
    file, old, new, message = FAILING_STEPS[step]
    assert packages(copy_of_fresh)
    edit(copy_of_fresh.path / file, old, new)
    result = copy_of_fresh.scons("target=all", check=False)
    assert result.returncode == 2
    assert message in result.stderr + result.stdout
    assert "Traceback" not in result.stderr
    assert packages(copy_of_fresh) == []


def test_kernel_index_1_requires_program_binary(copy_of_fresh: Repository, tmp_path: Path) -> None:
    edit(copy_of_fresh.path / "op.yml", "framework:", "kernel_index: 1\nframework:")
    refused = copy_of_fresh.scons(check=False)
    assert refused.returncode == 2
    assert "vx_binary=FILE" in refused.stderr
    package_path = copy_of_fresh.path / "build/rk1808/MyOperator.rknnop"
    assert (
        not package_path.exists()
    )  # op.yml has another one, and the other targets were not requested
    binary = tmp_path / "$kernel `id`.bin"
    binary.write_bytes(b"SHDR and more")
    copy_of_fresh.scons(f"vx_binary={binary}")
    package = unpack(package_path.read_bytes(), "package")
    assert package.program_binary == b"SHDR and more"
    assert "kernel_index: 1" in package.description
    edit(copy_of_fresh.path / "op.yml", "kernel_index: 1\n", "")
    copy_of_fresh.scons(f"vx_binary={binary}")
    assert "kernel_index: 0" in unpack(package_path.read_bytes(), "package").description
    binary.write_bytes(b"garbage")
    refused = copy_of_fresh.scons(f"vx_binary={binary}", check=False)
    assert "begins with b'garbage'" in refused.stderr
    assert package_path.exists()  # an invalid argument changes no file


def test_invalid_arguments_change_nothing(copy_of_fresh: Repository) -> None:
    before = {path: path.stat().st_mtime_ns for path in packages(copy_of_fresh)}
    assert before
    for arguments in (
        ("check", "qemu=x"),
        ("sanitize=adress", "check"),
        ("vx-gdb",),
        ("vx_binary=missing",),
        ("targt=rv1126",),
    ):
        refused = copy_of_fresh.scons(*arguments, check=False)
        assert refused.returncode == 2, arguments
        assert refused.stderr.startswith("error: "), arguments
        assert {path: path.stat().st_mtime_ns for path in packages(copy_of_fresh)} == before


def test_x64_build_needs_no_program_binary(copy_of_fresh: Repository) -> None:
    edit(copy_of_fresh.path / "op.yml", "framework:", "kernel_index: 1\nframework:")
    assert "build/x64" in copy_of_fresh.scons("build/x64").stdout


def test_scons_looks_for_no_tools_of_its_own(copy_of_fresh: Repository) -> None:
    """Its global functions would import every tool, and start compilers for their versions."""
    with (copy_of_fresh.path / "SConstruct").open("a") as file:
        file.write("\nfrom SCons.Script import DefaultEnvironment\n")
        file.write("print('tools:', DefaultEnvironment().get('TOOLS'))\n")
    assert "tools: []\n" in copy_of_fresh.scons("-h").stdout


def test_sconstruct_is_short(fresh: Repository) -> None:
    assert len((fresh.path / "SConstruct").read_text().splitlines()) < 30


TOOLKIT = """
import pathlib, sys
folder = pathlib.Path(sys.argv[sys.argv.index("--op_path") + 1])
description = (folder / "op.yml").read_text()
assert "vx_file: rknn_kernel_myoperator.vx" in description, description
assert (folder / "rknn_kernel_myoperator.vx").is_file()
data = b"RKNN" + bytes(4) + (2).to_bytes(8, "little")
for section in (b"SHDR made", b"x", b"a", b"h", description.encode(), b"p"):
    data += len(section).to_bytes(8, "little") + section
(folder / "MyOperator.rknnop").write_bytes(data)
"""


def test_toolkit_compiles_vx_kernel(copy_of_fresh: Repository, tmp_path: Path) -> None:
    module = tmp_path / "toolkit/rknn/bin/custom_op.py"
    module.parent.mkdir(parents=True)
    module.write_text(TOOLKIT)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}/toolkit" exec "{sys.executable}" "$@"\n')
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    copy_of_fresh.scons(f"rknn_python={python}", "target=rv1126")
    path = copy_of_fresh.path / "build/rv1126/MyOperator.rknnop"
    assert unpack(path.read_bytes(), str(path)).program_binary == b"SHDR made"


def test_unknown_options(fresh: Repository) -> None:
    unknown = fresh.scons("tolchain=zig", check=False)
    assert unknown.returncode == 2
    assert "unknown option 'tolchain'; did you mean 'toolchain'?" in unknown.stderr
    assert packages(fresh)
    wrong = fresh.scons("target=rk9999", check=False)
    assert wrong.returncode == 2
    assert "rk9999" in wrong.stdout + wrong.stderr
    assert all(target in wrong.stdout + wrong.stderr for target in TARGETS)


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        ("chek", "unknown command 'chek'; did you mean 'check'? (expected vx, vx-gdb, check, "),
        ("rv1126", "unknown command 'rv1126'; to build for it, run `scons target=rv1126` ("),
        ("clean", "unknown command 'clean'; to delete all built files, run `scons -c` ("),
        ("qwerty", "unknown command 'qwerty' (expected vx, vx-gdb, check, "),
    ],
)
def test_unknown_commands(command: str, hint: str, fresh: Repository) -> None:
    unknown = fresh.scons("-Q", command, check=False)
    assert unknown.returncode == 2
    assert unknown.stderr.startswith(f"error: {hint}")
    assert unknown.stderr.endswith(", or a file in build/); see scons -h\n")
    assert unknown.stdout == ""
    assert packages(fresh)


def test_options_are_data(fresh: Repository, tmp_path: Path) -> None:
    """SCons itself would evaluate this as Python."""
    value = f"${{open({str(tmp_path / 'opened')!r}, 'w')}}"
    shown = "".join(fresh.scons("-h", f"case={value}", f"cache={value}").stdout.split())
    for option in ("case", "cache"):  # in lines of at most 80 characters
        assert "".join(f"{option}={value}".split()) in shown
    for option in ("prefix", "sysroot", "target", "run"):
        refused = fresh.scons(f"{option}={value}", check=False)
        assert refused.returncode == 2
        assert value in refused.stdout + refused.stderr
    assert not [*tmp_path.iterdir()]
    assert Environment(tools=[], CC=words(["/a $b/gcc", "-g"])).subst("$CC") == "/a $b/gcc -g"


@pytest.mark.parametrize("name", ['a"b', "a\nb", "a\x1b[1m", os.fsdecode(b"a\xff")])
def test_folder_that_compilers_cannot_name(name: str, tmp_path: Path) -> None:
    with pytest.raises(OpkitError, match="rename the folder") as refused:
        repository.refuse_path(tmp_path / name)
    assert str(refused.value).isprintable()


def test_missing_compiler_error(fresh: Repository) -> None:
    result = fresh.scons("toolchain=gnu", check=False)
    assert result.returncode == 2
    assert "apt" in result.stderr
    assert "gcc" in result.stderr


def test_help_lists_chip_requirements(fresh: Repository) -> None:
    text = fresh.scons("-h").stdout
    for chip in CHIPS:
        assert re.search(rf"^ +{chip} .*{re.escape(TARGETS[chip].needs)}", text, re.MULTILINE)
    for word in ("check", "compiledb", "toolchain=", "vx_binary=", "rknn_python=", "sysroot="):
        assert word in text
    for option in ("quick=False", "sanitize="):
        assert re.search(rf"^  {option} +with check: ", text, re.MULTILINE), text


@pytest.mark.slow
@pytest.mark.nightly
def test_dry_run_in_new_clone_lists_all_steps(tmp_path: Path) -> None:
    repository = generate(tmp_path)
    listed = repository.scons("-Q", "-n", "check").stdout.splitlines()
    assert not (repository.path / "build").exists()
    assert listed.pop() == "check tests/"
    done = repository.scons("-Q", "cache=none", "check").stdout.splitlines()
    steps = [line for line in done if line.startswith(("compile ", "link "))]
    assert sorted(listed) == sorted(steps)


def test_clean_deletes_build_products_only(copy_of_fresh: Repository) -> None:
    before = {file for file in copy_of_fresh.path.rglob("*") if "build" not in file.parts}
    copy_of_fresh.scons("-c", path="")
    assert {path.name for path in (copy_of_fresh.path / "build").iterdir()} == {".lock"}
    assert before <= set(copy_of_fresh.path.rglob("*"))


TWO_OPERATORS = """
import ctypes, sys
stub, exp, truncate_div = sys.argv[1:]
ctypes.CDLL(stub, mode=ctypes.RTLD_GLOBAL)
for path, name in ((exp, "Exp"), (truncate_div, "TruncateDiv")):
    library = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    first = ctypes.POINTER(ctypes.c_char).in_dll(library, "vx_kernel_%s_list" % name)
    print(ctypes.string_at(ctypes.addressof(first.contents) + 4).decode())
"""


@pytest.mark.slow
def test_two_operators_in_one_process(example: Callable[..., Repository]) -> None:
    """A separate process keeps the stub's symbols apart from the host runtime's."""
    made = example("exp", "rknn"), example("truncate_div")
    one, two = (repository.path / "build/x64" for repository in made)
    files = (one / "openvx/libOpenVX.so", one / "libexp.so", two / "libtruncatediv.so")
    printed = subprocess.run(
        [sys.executable, "-c", TWO_OPERATORS, *map(str, files)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert printed.split() == ["exp_cpu", "truncatediv_cpu"]


def test_vendor_style_kernel_builds_unchanged(tmp_path: Path) -> None:
    source = (C_SOURCES / "vendor_style_kernel.c").read_text()
    match = re.search(r"vx_kernel_(\w+)_list", source)
    assert match is not None
    repository = generate(tmp_path, op_name=match[1])
    (repository.path / f"rknn_kernel_{match[1].lower()}.c").write_text(source)
    repository.scons("target=all")


@pytest.mark.slow
def test_vendor_makefiles_build(copy_of_fresh: Repository) -> None:
    need("make", "make")
    for abi in (ABIS[name] for name in MACHINES):
        zig = toolchains.find("zig", abi)
        # With -O2 for its links, too, zig would compile its run-time library once more.
        variables = (f"CC={shlex.join(zig.command)}", f"CFLAGS={shlex.join(zig.flags)}")
        subprocess.run(
            ["make", "-f", f"makefile.linux.{abi.name}", *variables],
            cwd=copy_of_fresh.path,
            check=True,
            capture_output=True,
        )
        made = copy_of_fresh.path / f".out/{abi.name}/libmyoperator.so"
        assert int.from_bytes(made.read_bytes()[18:20], "little") == MACHINES[abi.name]


@pytest.mark.slow
def test_repository_contains_no_machine_paths(example: Callable[[str], Repository]) -> None:
    repository = example("truncate_div")  # of all runtimes
    for file in repository.path.rglob("*"):
        if file.is_file() and not {"build", "__pycache__", ".pytest_cache"} & set(file.parts):
            text = file.read_bytes()
            assert str(repository.path).encode() not in text, file
            assert b"/ho" + b"me/" not in text, file
