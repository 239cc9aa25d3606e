"""A runtime is a folder: an unknown one gets its own files, targets and rows."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from opkit import runtimes
from opkit.description import parser
from opkit.description.describe import RuntimeDescription
from opkit.description.reader import DescriptionError
from opkit.description.spec import OpSpec
from opkit.description.types import Limits
from opkit.files.generation import operator_header
from opkit.files.skeletons import once_only_files
from opkit.runtimes.build import Build
from opkit.runtimes.check import Check
from opkit.runtimes.files import Files
from opkit.runtimes.report import Report
from opkit.runtimes.rknn.describe import DESCRIBE
from rknn_op.creation.description_texts import with_runtimes, without
from rknn_op.runtimes.models import Models, models_of
from tests.check.target_repositories import counts
from tests.compiling import C_SOURCES
from tests.marks import quick_first
from tests.models.models import frozen_graph, saved_graph
from tests.repositories import ROOT, TEMPLATE, Repository, copy_template

ROOM = ROOT / "tests/data/plain_runtime"
OPKIT = ROOT / "opkit"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the template with the additional runtime."""
    folder = copy_template(tmp_path_factory.mktemp("two") / "template")
    room = folder / "opkit/runtimes/plain"
    shutil.copytree(ROOM, room, ignore=shutil.ignore_patterns("__pycache__", "models"))
    models = folder / "rknn_op/runtimes/plain/models"
    shutil.copytree(ROOM / "models", models, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(C_SOURCES / "plain_runtime.c", room)
    return folder


def answer(template: Path, folder: Path, *answers: str) -> subprocess.CompletedProcess[str]:
    """Run cookiecutter in a folder, with a separate home."""
    return subprocess.run(
        [sys.executable, "-m", "cookiecutter", str(template), "--no-input", *answers],
        cwd=folder,
        env={**os.environ, "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def make(template: Path, folder: Path, *answers: str) -> Repository:
    """Return the repository of an operator Copy, with its wheel unpacked."""
    done = answer(template, folder, "op_name=Copy", *answers)
    assert done.returncode == 0, done.stdout
    (wheel,) = (folder / "Copy").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site-packages")
    return Repository(folder / "Copy", str(folder / "site-packages"))


@pytest.fixture(scope="module")
def plain(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Return a repository for RKNN, with the runtime added later."""
    repository = make(template, tmp_path_factory.mktemp("plain"))
    description = repository.path / "op.yml"
    description.write_text(f"runtimes: [rknn, plain]\n{description.read_text()}")
    use_float32(repository)
    return repository


def use_float32(repository: Repository) -> None:
    """Test the CPU kernel alone, on float32."""
    tests = repository.path / "tests/test_copy.py"
    tests.write_text(tests.read_text().replace("float16", "float32").split("\n\n\n@pytest")[0])
    with tests.open("a") as file:
        file.write(
            '\n\n\n@pytest.mark.parametrize("case", CASES, ids=str)\n'
            "def test_cpu_kernel(case):\n    check_cpu_kernel(case)\n"
        )


@pytest.mark.slow
def test_second_runtime_is_checked_and_reported(plain: Repository) -> None:
    checked = plain.scons("check")
    assert "write plain/NOTES.md: op.yml requires it" in checked.stdout
    assert re.search(r"^CPU kernel, plain +6 +0 +0 +[\d.]+ us$", checked.stdout, re.MULTILINE)
    assert counts(checked.stdout) == {"CPU kernel": 6, "CPU kernel, plain": 6}
    plain.scons("report")
    assert "CPU kernel, plain" in (plain.path / "build/report.html").read_text()


COPY = """\
    size_t size = inputs->input.size * opkit_element_size(inputs->input.type);
    memcpy(outputs->output.data, inputs->input.data, size);
    (void)params;
    return NULL;
}

#endif
"""


CHANGED = """

@pytest.mark.parametrize("case", CASES[:2], ids=str)
def test_changed_reference(case):
    check_cpu_kernel(case, changes_reference=True)
"""


@pytest.mark.slow
@pytest.mark.nightly
def test_converted_and_unsupported_dtypes(plain: Repository, tmp_path: Path) -> None:
    """The plain runtime converts halves to float32, and has no integers."""
    both = Repository(tmp_path / "Copy", str(tmp_path / "site-packages"))
    shutil.copytree(plain.path, both.path, symlinks=True)
    shutil.copytree(plain.opkit, both.opkit)
    compute = both.path / "copy_compute.h"
    text = compute.read_text().replace("#include", "#include <string.h>\n#include", 1)
    compute.write_text(f"{text.partition('    (void)params;')[0]}{COPY}")
    tests = both.path / "tests/test_copy.py"
    tests.write_text(tests.read_text().replace("float32", "float16"))
    checked = both.scons("check").stdout
    assert counts(checked) == {"CPU kernel": 6, "CPU kernel, plain": 6}
    more = "CASES += cases([{'input': (3,)}], [special()], dtype='int8')"
    tests.write_text(tests.read_text().replace("\n\n\n@pytest", f"\n{more}\n\n\n@pytest", 1))
    checked = both.scons("check").stdout
    assert counts(checked) == {"CPU kernel": 7, "CPU kernel, plain": 6}
    assert "note: 1 of 7 cases left out on CPU kernel, plain\n" in checked
    reason = "CPU kernel, plain leaves out cases with int8: its runtime has no such inputs (1 of 7)"
    assert reason in " ".join(checked.split())
    check = Path(both.opkit) / "opkit/runtimes/plain/check.py"
    rule = "has_shape_rule="
    check.write_text(check.read_text().replace(f"{rule}False", f"{rule}True"))
    with tests.open("a") as file:
        file.write(CHANGED)
    checked = both.scons("check").stdout
    assert counts(checked) == {"CPU kernel": 9, "CPU kernel, plain": 6}
    assert "note: 3 of 9 cases left out on CPU kernel, plain\n" in checked
    reason = "leaves out cases that change the reference: it has the shape rule in C (2 of 9)"
    assert reason in " ".join(checked.split())
    tests.write_text(tests.read_text().replace('dtype="float16"', 'dtype="int8"'))
    refused = both.scons("check", check=False)
    assert refused.returncode != 0
    assert "no case ran on the CPU kernel, plain (op.yml has the runtime plain)" in refused.stderr


FAULTS = """\
    const size_t size = inputs->input.size;
    float *volatile element = malloc(sizeof *element);
    *element = inputs->input.float32[size == 8 ? size : 0];
    return NULL;
"""


@pytest.mark.slow
def test_memory_of_second_runtime_is_guarded(plain: Repository) -> None:
    compute = plain.path / "copy_compute.h"
    before = compute.read_text()
    compute.write_text("#include <stdlib.h>\n" + before.replace("    return NULL;\n", FAULTS))
    checked = plain.scons("check", "verbose=1", check=False)
    compute.write_text(before)
    for case, message in {
        "8-float32-uniform": "the function reads just past the end of input 'input' (32 bytes)",
        "3x20-float32-uniform": "a block of 4 bytes (allocation 1) was never freed",
    }.items():
        assert f"CPU kernel, plain of Copy, case {case}:\n  {message}\n" in checked.stdout


@pytest.mark.slow
def test_second_runtime_file_ownership(plain: Repository) -> None:
    plain.scons("target=x64")
    manifest = json.loads((plain.path / "generated/manifest.json").read_text())
    assert "plain/NOTES.md" in manifest["written once"]
    assert "generated/copy_plain.c" in manifest["generated"]
    notes = plain.path / "plain/NOTES.md"
    notes.unlink()
    plain.scons("target=x64")
    assert not notes.exists()  # the user owns the file, and has deleted it


def test_second_runtime_targets(plain: Repository) -> None:
    assert " | pc | x64 | all)" in " ".join(plain.scons("-h").stdout.split())
    plain.scons("target=pc")
    assert (plain.path / "build/pc/operator.so").is_file()


@pytest.mark.slow
def test_single_runtime_has_no_other_files(template: Path, tmp_path: Path) -> None:
    alone = make(template, tmp_path, "runtimes=plain")
    use_float32(alone)
    checked = alone.scons("check")
    assert counts(checked.stdout) == {"CPU kernel": 6}
    for name in ("README.md", "copy_reference.py"):
        text = (alone.path / name).read_text()
        assert not re.search("RKNN|OpenVX|rknn", re.sub("rknn-op|rknn_opkit", "", text))
    assert "rknnop" not in alone.scons("-h").stdout.replace("rknn-op-template", "")


def test_key_of_other_runtime_is_refused(plain: Repository) -> None:
    description = plain.path / "op.yml"
    before = description.read_text()
    description.write_text(before.replace("[rknn, plain]", "[plain]") + "\nkernel_index: 0\n")
    refused = plain.scons("target=x64", check=False)
    description.write_text(before)
    assert (
        "kernel_index: is a key of the runtime rknn, which is not in `runtimes`" in refused.stderr
    )


# ---- A template with one more runtime ----


DESCRIPTION = """\
# Ours.
name: Copy  # of the input
inputs: {input: {type: VX_TYPE_TENSOR}}
outputs: {output: {type: VX_TYPE_TENSOR}}
"""


@pytest.mark.parametrize(
    ("answers", "chosen"),
    quick_first(
        1,
        [
            ((), ["rknn"]),
            (("runtimes=plain",), ["plain"]),
            (("runtimes=rknn, plain",), ["rknn", "plain"]),
            (("runtimes=plain rknn", "config=copy.yml"), ["plain", "rknn"]),
            (("config=both.yml",), ["rknn", "plain"]),
            (("runtimes=plain", "config=both.yml"), ["plain"]),
        ],
    ),
)
def test_repository_has_chosen_runtimes(
    answers: tuple[str, ...], chosen: list[str], template: Path, tmp_path: Path
) -> None:
    (tmp_path / "copy.yml").write_text(DESCRIPTION)
    (tmp_path / "both.yml").write_text(DESCRIPTION + "runtimes:\n  - rknn\n  - plain  # too\n")
    made = make(template, tmp_path, *answers).path
    text = (made / "op.yml").read_text()
    assert yaml.safe_load(text).get("runtimes", ["rknn"]) == chosen
    assert next(iter(yaml.safe_load(text))) == "name"
    assert ("target_platform" in text) == ("rknn" in chosen and "config" not in str(answers))
    assert (made / "plain/NOTES.md").is_file() == ("plain" in chosen)
    assert (made / "rknn_kernel_copy.c").is_file() == ("rknn" in chosen)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{name: A, inputs: {}}", "{runtimes: [b, a], name: A, inputs: {}}"),
        ("name: A\n# c\ninputs: {}", "name: A\n# c\nruntimes: [b, a]\ninputs: {}"),
        ("  name: A\n  inputs: {}", "  name: A\n  runtimes: [b, a]\n  inputs: {}"),
        ("name: A\nruntimes: [a]  # c\nx: y", "name: A\nruntimes: [b, a]  # c\nx: y"),
        ("runtimes:\n- a\n- b\nname: A", "runtimes:\n[b, a]\nname: A"),
    ],
)
def test_runtimes_do_not_affect_other_files(text: str, expected: str) -> None:
    assert with_runtimes(text, ["b", "a"]) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{name: A, b: [1], inputs: {}, c: 2}", "{name: A, inputs: {}}"),
        ("{b: 1, name: A}", "{name: A}"),
        ("{name: A,  d: 1 }", "{name: A,  d: 1 }"),
        ("b: 1\nname: A\nc:\n- 1\n- [2]\n# of d\nd: 1", "name: A\n# of d\nd: 1"),
        (
            "  name: A # a\n\n  b:\n    x: {y: z} # b\n  # of d\n  d: 1\n  c:",
            "  name: A # a\n\n  # of d\n  d: 1\n",
        ),
        ("name: A\nb: |\n  text\n  more\nc: 'x\n  y'\nd: 1\n", "name: A\nd: 1\n"),
    ],
)
def test_keys_are_left_out_of_a_description(text: str, expected: str) -> None:
    assert without(text, {"b", "c"}) == expected


@pytest.mark.parametrize("names", quick_first(1, ["plane", "rknn, plane", "", "rknn, rknn"]))
def test_invalid_runtime_creates_nothing(names: str, template: Path, tmp_path: Path) -> None:
    refused = answer(template, tmp_path, f"runtimes={names}")
    assert refused.returncode == 1
    message = refused.stdout.splitlines()[-1]
    assert "runtimes" in message
    assert "expected rknn, plain" in message or "duplicate runtime 'rknn'" in message
    assert "Traceback" not in refused.stdout + refused.stderr
    assert not (tmp_path / "MyOperator").exists()


@pytest.mark.slow
def test_added_runtime_works_at_next_build(template: Path, tmp_path: Path) -> None:
    made = make(template, tmp_path)
    mine = made.path / "copy_compute.h"
    mine.write_text(f"/* Mine. */\n{mine.read_text()}")
    description = made.path / "op.yml"
    description.write_text(f"{description.read_text()}runtimes: [rknn, plain]\n")
    made.scons("target=pc")
    assert (made.path / "build/pc/operator.so").is_file()
    assert (made.path / "plain/NOTES.md").is_file()
    assert mine.read_text().startswith("/* Mine. */")


def test_models_are_compared_with_its_operators(template: Path, tmp_path: Path) -> None:
    file = saved_graph(frozen_graph(), tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "rknn_op", "scan", str(file), "--target", "pc"],
        cwd=template,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert "for pc (plain C 1):\n1 operator needs a custom one\n\nTruncateDiv" in done.stdout


# ---- Limits of runtimes ----


@dataclass(frozen=True)
class Given:
    """A runtime of one part."""

    describe: RuntimeDescription


RKNN = Given(DESCRIBE)
STICK = Given(
    DESCRIBE._replace(
        name="stick",
        limits=Limits("the stick", name_length=9, parameters=3, rank=2, items=4),
        type_refusal=lambda _: "",
        complaints=lambda _: (),
    )
)
"""A runtime that takes less of everything, but lists of floats."""

ON_STICK = """\
name: Shift
runtimes: [{runtimes}]
inputs: {{x: {{type: VX_TYPE_TENSOR}}}}
outputs: {{y: {{type: VX_TYPE_TENSOR}}}}
params: {{{params}}}
"""


def parsed(names: str, params: str) -> OpSpec:
    text = ON_STICK.format(runtimes=names, params=params)
    return parser.parse(text, "op.yml", {"rknn": RKNN, "stick": STICK}, "rknn")


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ("p: {type: VX_TYPE_ARRAY, default: [1, 2, 3, 4, 5]}", "the runtime stick takes 1 to 4"),
        (
            "p: {type: VX_TYPE_ARRAY, length: 5}",
            "(expected 1 to 4, the limit of the runtime stick)",
        ),
        (
            "p: {type: VX_TYPE_INT8}, q: {type: VX_TYPE_INT8}",
            "the stick takes at most 3 parameters",
        ),
        ("position_x: {type: VX_TYPE_INT8}", "has 10 characters; the stick allows 9"),
    ],
)
def test_the_lowest_limit_counts(params: str, problem: str) -> None:
    parsed("rknn", params)
    with pytest.raises(DescriptionError, match=re.escape(problem)):
        parsed("rknn, stick", params)


def test_type_must_be_supported_by_all_runtimes() -> None:
    params = "p: {type: FLOATS, length: 2, default: [0.5, 1]}"
    spec = parsed("stick", params)
    assert spec.params[0].default == (0.5, 1.0)
    reference = once_only_files(spec, [])["shift_reference.py"]
    assert "        p: list of float\n" in reference
    with pytest.raises(DescriptionError, match="RKNN-Toolkit does not deliver it; use several VX"):
        parsed("rknn, stick", params)


def test_text_params_need_support_of_the_runtime() -> None:
    spec = parsed("stick", 'p: {type: string, default: "a\\"?é"}')
    assert spec.params[0].default == 'a"?é'
    assert "        p: str\n" in once_only_files(spec, [])["shift_reference.py"]
    assert "    const char *p;\n" in operator_header(spec)
    for wrong, problem in (
        ("1", "must be a text, not '1'; put it between quotes"),
        ('"\\0"', "has a character that a C string cannot hold"),
        (f'"{"é" * 128}"', "has 256 bytes (expected 255 at most)"),
    ):
        with pytest.raises(DescriptionError, match=re.escape(problem)):
            parsed("stick", f"p: {{type: string, default: {wrong}}}")


def test_a_target_that_is_none_is_refused_with_the_reason() -> None:
    changed = DESCRIBE._replace(refused_targets={"rv1103": "it has no custom operators"})
    text = f"{ON_STICK.format(runtimes='rknn', params='')}target_platform: RV1103\n"
    with pytest.raises(DescriptionError, match="target_platform: it has no custom operators"):
        parser.parse(text, "op.yml", {"rknn": Given(changed)}, "rknn")


# ---- The words of a runtime ----

WORDS = {
    "rknn": r"runtimes[/.]rknn|OpenVX|\bVX_\w+|RKNN|rknnop|librknn|\.vx\b|\b[NP]PU\b|[Bb]oards?\b",
    "pplnn": r"runtimes[/.]pplnn|pplnn|PPLNN|ppl\.nn|OpenPPL|\bppl\b",
}
"""Runtime -> pattern of its own words."""

ELSEWHERE = {
    "opkit/description/types.py": r"OpenVX|VX_TYPE_\w*",  # op.yml's types, for every runtime
    "opkit/description/words.py": "RKNN|PPLNN",  # macros, which no operator's names may be
    "opkit/docs/cases.md": r"VX_TYPE_\w+|RKNN",
    "opkit/check": "[Bb]oards?",  # what ssh reaches, and what messages compare this PC with
    "opkit/build/host_check.py": "board",
    "opkit/files/templates/README.md": "board",
    "opkit/report/page.html": "board",
    "opkit/opencl": r"\.vx|VX_VERSION|RKNN|PPU|[Bb]oards?",  # its language has that of .vx kernels
    "opkit/compute/half.h": "boards",
    "opkit/op.schema.json": ".*",  # the keys of all runtimes
    "opkit/toolchains": "board",
    "opkit/workspace_files": r"\.vx|pplnn",  # the files of a workspace, for every runtime
    "opkit/REUSE.toml": "runtimes/(pplnn|rknn)",  # the licenses of files
}
"""File or folder outside of the runtimes -> pattern of the words that it may contain."""


@pytest.mark.parametrize("name", WORDS)
def test_no_runtime_is_named_outside_of_its_folder(name: str) -> None:
    folders = [OPKIT / "runtimes" / each for each in runtimes.available()]
    for path in (*OPKIT.rglob("*"), *TEMPLATE.rglob("*")):
        is_text = path.is_file() and "__pycache__" not in path.parts
        if not is_text or any(path.is_relative_to(folder) for folder in folders):
            continue
        place = path.relative_to(ROOT).as_posix()
        allowed = "|".join(words for start, words in ELSEWHERE.items() if place.startswith(start))
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for word in re.findall(WORDS[name], line):
                assert re.fullmatch(allowed, word), f"{place}:{number}: {line}"


def test_available_runtimes() -> None:
    assert next(iter(runtimes.available())) == runtimes.DEFAULT
    prompts = json.loads((ROOT / "cookiecutter.json").read_text())["__prompts__"]
    assert prompts["runtimes"].endswith(f" (of {', '.join(runtimes.available())})")
    for name, runtime in runtimes.available().items():
        assert runtime.name == runtime.describe.name == name
        assert isinstance(runtime.describe, RuntimeDescription)
        for part in (Files, Build, Check, Report):
            assert isinstance(getattr(runtime, part.__name__.lower()), part)
        assert isinstance(models_of(name), Models)


def test_runtimes_with_threads_say_so_once() -> None:
    """The check's convention and the description have the same runtimes."""
    for runtime in runtimes.available().values():
        assert runtime.check.convention.has_threads == (runtime.describe.single_thread == "")
