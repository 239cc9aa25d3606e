"""Operators with and without a VX kernel, and the addition of one."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from opkit.runtimes import parse
from opkit.runtimes.rknn.kernel_skeletons import vx_file
from opkit.runtimes.rknn.settings import has_vx_kernel
from opkit.runtimes.rknn.vx_requirements import missing_vx_kernel, unwritten_vx_kernel
from tests.files.texts import once_only_files
from tests.repositories import EXAMPLES, RKNN_EXAMPLES, Repository, generate

TENSORS = "inputs: {x: {type: VX_TYPE_TENSOR}}\noutputs: {y: {type: VX_TYPE_TENSOR}}\n"
CPU = f"name: Copy\nkernels: [cpu]\n{TENSORS}"
BOTH = CPU.replace("[cpu]", "[cpu, vx]")


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text, f"{path}: {old}"
    path.write_text(text.replace(old, new))


def kernels_of(output: str) -> set[str]:
    """Return the kernels in the table of cases."""
    return set(re.findall(r"^(\w+ kernel)  ", output, re.MULTILINE))


@pytest.fixture(scope="module")
def decode_boxes(example: Callable[..., Repository]) -> Repository:
    """Return the repository of the example with only a CPU kernel."""
    return example("decode_boxes", "rknn")


@pytest.mark.slow
@pytest.mark.nightly
def test_cpu_only_operator_mentions_no_vx(decode_boxes: Repository) -> None:
    checked = decode_boxes.scons("check")
    assert kernels_of(checked.stdout) == {"CPU kernel"}
    assert checked.stderr == ""
    package = decode_boxes.path / "build/rv1126/DecodeBoxes.rknnop"
    package.unlink()
    packed = decode_boxes.scons("-Q")
    assert packed.stderr == ""
    assert re.search(r"^build/rv1126/DecodeBoxes\.rknnop: \d+ bytes$", packed.stdout, re.MULTILINE)
    assert not [*decode_boxes.path.glob("build/host/vx*"), *decode_boxes.path.glob("*.vx")]
    assert "vx-gdb case=" not in decode_boxes.scons("-h").stdout


@pytest.mark.parametrize(
    ("what", "arguments"),
    [("scons vx", ["vx"]), ("scons vx-gdb", ["vx-gdb", "case=any"]), ("scons vx-gdb", ["vx-gdb"])],
)
def test_vx_commands_without_vx_kernel(
    what: str, arguments: list[str], decode_boxes: Repository
) -> None:
    refused = decode_boxes.scons("-Q", *arguments, check=False)
    assert refused.returncode != 0
    assert refused.stderr.splitlines()[0] == (
        f"error: {what}: DecodeBoxes has no VX kernel, because op.yml has `kernels: [cpu]`; "
        "write `kernels: [cpu, vx]` and run scons to add one"
    )
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize("option", ["vx_binary=kernel.bin", "rknn_python=python3"])
def test_program_binary_without_vx_kernel_is_refused(option: str, decode_boxes: Repository) -> None:
    refused = decode_boxes.scons("-Q", "-n", option, check=False)
    assert refused.returncode == 2
    assert f"{option.split('=')[0]}=: DecodeBoxes has no VX kernel" in refused.stderr


def text_after(heading: str, message: str) -> str:
    """Return the lines below a heading of a message."""
    headings = ("add to the includes", "below them", "replace the text", "and add to tests/")
    following = "|".join(map(re.escape, headings))
    pattern = rf"{re.escape(heading)}[^\n]*\n\n(.*?)(?=\n\n(?:{following})|\Z)"
    found = re.search(pattern, message, re.DOTALL)
    assert found is not None, message
    return found[1].strip("\n")


@pytest.mark.slow
def test_add_vx_kernel_later(tmp_path: Path) -> None:
    """Both kernels pass after the build's instructions are followed verbatim."""
    repository = generate(tmp_path, CPU)
    source = repository.path / "rknn_kernel_copy.c"
    tests = repository.path / "tests/test_copy.py"
    yours = {file: file.read_bytes() for file in (source, tests, repository.path / "README.md")}
    edit(repository.path / "op.yml", "[cpu]", "[cpu, vx]")
    built = repository.scons("target=x64")
    assert yours == {file: file.read_bytes() for file in yours}
    assert "write rknn_kernel_copy.vx: op.yml requires it" in built.stdout
    generated = once_only_files(parse(BOTH))["rknn_kernel_copy.vx"]
    assert (repository.path / "rknn_kernel_copy.vx").read_text() == generated

    message = built.stderr
    assert message.startswith("warning: rknn_kernel_copy.c: nothing launches the VX kernel, but ")
    with source.open("a") as file:
        file.write(f"{text_after('add to the includes', message)}\n")
        file.write(f"\n{text_after('below them', message)}\n")
    with tests.open("a") as file:
        file.write(f"\n\n{text_after('and add to tests/', message)}\n")

    checked = repository.scons("check")
    assert checked.stderr == ""
    assert kernels_of(checked.stdout) == {"CPU kernel", "VX kernel"}


def test_missing_launch_with_generated_callbacks() -> None:
    source = once_only_files(parse(CPU))["rknn_kernel_copy.c"]
    assert missing_vx_kernel(parse(BOTH), source)
    hooks = "static const struct opkit_kernel_hooks kernel_hooks = {\n    %s,\n};\n"
    of_the_cpu = source + hooks % ".initialize_cpu_kernel = make_tables"
    assert "goes into the struct that is there already" in str(
        missing_vx_kernel(parse(BOTH), of_the_cpu)
    )
    commented = source + "/* .initialize_vx_kernel = none */"
    assert missing_vx_kernel(parse(BOTH), commented)
    launched = source + hooks % ".initialize_vx_kernel = launch"
    assert missing_vx_kernel(parse(BOTH), launched) is None


def test_custom_kernel_list_is_not_checked() -> None:
    line = "vx_kernel_description_t *vx_kernel_Copy_list[] = {&cpu_kernel_description, NULL};\n"
    message = str(missing_vx_kernel(parse(BOTH), line))
    assert message.startswith("rknn_kernel_copy.c:1: the list holds the CPU kernel alone, but ")
    skeleton = once_only_files(parse(BOTH))["rknn_kernel_copy.c"]
    assert text_after("replace the text", message) == skeleton.strip("\n")
    assert missing_vx_kernel(parse(BOTH), line.replace("{&cpu", "{&mine, &cpu")) is None


DOUBLED = {
    "myoperator_compute.h": ("= inputs->input.float32[i];", "= 2.0F * inputs->input.float32[i];"),
    "myoperator_reference.py": ('inputs["input"]', '2 * inputs["input"]'),
}


@pytest.mark.slow
def test_unwritten_vx_kernel_has_hint(copy_of_fresh: Repository) -> None:
    root = copy_of_fresh.path
    for file, change in DOUBLED.items():
        edit(root / file, *change)
    checked = copy_of_fresh.scons("check", check=False)
    assert checked.returncode != 0
    assert not re.search(r"^CPU kernel .* FAILED$", checked.stdout, re.MULTILINE)
    advice = "rknn_kernel_myoperator.vx is still the generated one, which copies the first input."
    printed = " ".join(checked.stdout.split())
    assert printed.count(f"note: {advice}") == 1
    assert "`kernels: [cpu]`" in printed
    assert "delete test_vx_kernel from tests/test_myoperator.py" in printed

    edit(root / "op.yml", "# kernels: [cpu]", "kernels: [cpu]")
    refused = copy_of_fresh.scons("check", check=False)
    assert "warning: rknn_kernel_myoperator.vx: is not built" in refused.stderr
    assert (
        "this test runs the VX kernel: MyOperator has no VX kernel, because op.yml has "
        "`kernels: [cpu]`; delete the test, or write " in " ".join(refused.stdout.split())
    )
    tests = root / "tests/test_myoperator.py"
    tests.write_text(tests.read_text().replace("def test_vx_kernel", "def no_longer_a_test"))
    (root / "rknn_kernel_myoperator.vx").unlink()
    checked = copy_of_fresh.scons("check")
    assert checked.stderr == ""
    assert kernels_of(checked.stdout) == {"CPU kernel"}


@pytest.mark.slow
def test_removed_vx_kernel_is_named(tmp_path: Path) -> None:
    repository = generate(tmp_path, BOTH)
    edit(repository.path / "op.yml", "[cpu, vx]", "[cpu]")
    built = repository.scons("-Q", "target=x64")
    assert "delete docs/vx.md: no longer generated from op.yml\n" in built.stdout
    assert built.stderr == (
        "warning: rknn_kernel_copy.vx: is not built, because op.yml has `kernels: [cpu]`; delete "
        "it and the tests with check_vx_kernel, or write `kernels: [cpu, vx]`\n"
    )
    (repository.path / "rknn_kernel_copy.vx").unlink()
    built = repository.scons("-Q", "target=x64")
    assert built.stderr == ""
    assert "docs/vx.md" not in built.stdout


@pytest.mark.parametrize(
    ("old", "new", "generated"),
    [
        ("", "", True),
        ("/* Write the real math here.", "/* Not yet.", True),
        ("\n    VXC_Write", "\n\n  VXC_Write", True),
        ("/*\n * Copy on", "// and more\n/*\n * Copy on", True),
        ("VXC_Write", "elements += (vxc_short8)(1);\n    VXC_Write", False),
        ("VXC_5BITOFFSET_XY(0, 0)", "VXC_5BITOFFSET_XY(0, 1)", False),
    ],
)
def test_unwritten_vx_kernel_ignores_comments(old: str, new: str, generated: bool) -> None:
    source = once_only_files(parse(BOTH))["rknn_kernel_copy.vx"]
    assert old in source
    assert bool(unwritten_vx_kernel(parse(BOTH), source.replace(old, new))) == generated


def test_examples_have_written_vx_kernels() -> None:
    for name in RKNN_EXAMPLES:
        spec = parse((EXAMPLES / name / f"{name}.yml").read_text())
        path = EXAMPLES / name / vx_file(spec)
        is_own = has_vx_kernel(spec) and not spec.elementwise
        assert path.is_file() == is_own
        assert not path.is_file() or unwritten_vx_kernel(spec, path.read_text()) == ""


def test_renamed_operator_error_lists_vx_file(copy_of_fresh: Repository) -> None:
    edit(copy_of_fresh.path / "op.yml", "name: MyOperator", "name: Other")
    refused = copy_of_fresh.scons(check=False)
    assert "rknn_kernel_other.c, rknn_kernel_other.vx is missing. " in refused.stderr
    assert not (copy_of_fresh.path / "rknn_kernel_other.vx").exists()
