"""The example of a bundle, compiled for this PC and run on a stub of librknnrt."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from clang_format import get_executable

from opkit import toolchains
from opkit.common.errors import OpkitError
from opkit.runtimes import parse
from opkit.toolchains.abi import ABIS
from opkit.toolchains.compiler import archiver
from rknn_op.runtimes.rknn2.bundles.archives import isolated, members
from rknn_op.runtimes.rknn2.bundles.bundling import application_files, registration
from tests.compiling import build, compile_c
from tests.repositories import ROOT
from tests.runtimes.rknn2.support import HEADERS, write_operator

SDK = Path(__file__).parent / "sdk"
DESCRIPTION = """\
name: {name}
runtimes: [rknn2]
inputs: {{x: {{type: VX_TYPE_TENSOR}}}}
outputs: {{y: {{type: VX_TYPE_TENSOR}}}}
params: {{by: {{type: float, default: {by}}}}}
"""
COMPUTE = """\
#include "generated/{lower}.h"
static const char *{lower}_compute(const struct {lower}_inputs *inputs,
                                   const struct {lower}_params *params,
                                   struct {lower}_outputs *outputs)
{{
    const float *x = (const float *)inputs->x.data;
    float *y = (float *)outputs->y.data;
    for (size_t i = 0; i < inputs->x.size; i++) {{
        y[i] = x[i] {operation} params->by;
    }}
    return NULL;
}}
"""
BEGINNING = [
    "call rknn_init",
    "call rknn_register_custom_ops cstTwice cstNext",
    "call rknn_query version",
    "call rknn_query count",
    "call rknn_query input",
    "call rknn_query output",
    "call rknn_inputs_set",
]
RUN = ["call rknn_run", "call rknn_outputs_get", "call rknn_query time"]
RELEASE = "call rknn_outputs_release"
DESTROY = "call rknn_destroy"
INPUT = np.arange(6, dtype="float32")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the example with two operators; beside it is a model of both."""
    folder = tmp_path_factory.mktemp("application")
    operators = {"Twice": ("*", 2), "Next": ("+", 1)}
    specs = []
    for name, (operation, by) in operators.items():
        compute = COMPUTE.format(lower=name.lower(), operation=operation)
        specs.append(write_operator(folder, DESCRIPTION.format(name=name, by=by), compute))
    names = {f"cst{name}": name.lower() for name in operators}
    files = application_files(names, "rk3588", ["aarch64"], "model.rknn", "1.6.0")
    for name in ("main.c", "include/custom_ops.h"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(files[name])
    (folder / "custom_ops.c").write_text(registration(specs))
    flags = (HEADERS, f"-I{SDK}", f"-I{folder / 'include'}")
    ours = [folder / f"rknn2/{name}_custom_op.c" for name in names.values()]
    sources = [folder / "main.c", folder / "custom_ops.c", SDK / "librknnrt.c", *ours]
    (folder / "model.rknn").write_text("cstTwice\ncstNext\n")
    (folder / "input.bin").write_bytes(INPUT.tobytes())
    return build(folder / "run_model", *sources, *flags, "-lm")


def test_c_is_formatted_and_strict(tmp_path: Path) -> None:
    operators = {f"cst{name}": name.lower() for name in ("GridSample", "Selu", "Exp")}
    files = application_files(operators, "rk3588", ["aarch64", "armhf"], "model.rknn", "1.6.0")
    for name in ("main.c", "include/custom_ops.h"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(files[name])
    specs = [parse(DESCRIPTION.format(name=each.removeprefix("cst"), by=1)) for each in operators]
    specs[1:] = [each._replace(kernels=("cpu", "gpu")) for each in specs[1:]]
    (tmp_path / "custom_ops.c").write_text(registration(specs))
    written = [*tmp_path.rglob("*.[ch]")]
    style = f"--style=file:{ROOT / '.clang-format'}"
    subprocess.run([get_executable("clang-format"), style, "-n", "-Werror", *written], check=True)
    headers = (HEADERS, f"-I{SDK}", f"-I{tmp_path / 'include'}")
    for abi in ("aarch64", "armhf"):
        for source in ("main.c", "custom_ops.c"):
            build(tmp_path / "out.o", "-c", tmp_path / source, *headers, abi=ABIS[abi])


def test_files_of_one_abi() -> None:
    files = application_files({"cstExp": "exp"}, "rk3568", ["armhf"], "model.rknn", "1.6.0")
    assert sorted(files) == [
        *("CMakeLists.txt", "README.md", "SConstruct", "cmake/armhf.cmake"),
        *("include/custom_ops.h", "main.c"),
    ]
    assert b"Build the example for armhf, with DIR=" in files["README.md"]


def run(
    program: Path, *arguments: str, fails: str = ""
) -> tuple[int, list[str], subprocess.CompletedProcess[str]]:
    """Run the example beside its model: exit status, calls and other errors, process."""
    done = subprocess.run(
        [program, *arguments],
        cwd=program.parent,
        env={**os.environ, "STUB_FAILS": fails},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr.splitlines(), done


def test_order_of_calls(program: Path, tmp_path: Path) -> None:
    status, calls, done = run(program, "-o", str(tmp_path), "model.rknn", "input.bin")
    assert (status, calls) == (0, [*BEGINNING, *RUN, RELEASE, DESTROY])
    output = np.fromfile(tmp_path / "output_0.bin", "float32")
    np.testing.assert_array_equal(output, INPUT * 2 + 1)
    assert done.stdout.splitlines() == [
        "librknnrt stub, driver ",
        "input 0 'x': 1x2x3 float32",
        "run 1: 123 us",
        "output 0 'y': 1x2x3 float32, min 1, max 11, mean 6",
    ]


def test_runs_and_layers(program: Path) -> None:
    status, calls, done = run(program, "-l", "-n", "2", "model.rknn")
    assert calls[:2] == ["call rknn_init perf", BEGINNING[1]]
    layers = "call rknn_query layers"
    assert calls[len(BEGINNING) :] == [*RUN, RELEASE, *RUN, layers, RELEASE, DESTROY]
    assert status == 0
    assert done.stdout.splitlines()[-1] == "1 cstTwice CPU 5 us"


@pytest.mark.parametrize(
    ("normalization", "means", "stds"),
    [("0:255", 0, 255), ("1,2.5,-3:2,4,0.5", [1, 2.5, -3], [2, 4, 0.5])],
)
def test_images(program: Path, normalization: str, means: Any, stds: Any) -> None:
    """The input of the shape 1x2x3 has 3 channels."""
    pixels = np.array([[0, 1, 2], [127, 254, 255]], np.uint8)
    pixels.tofile(program.parent / "image.bin")
    options = ("-o", str(program.parent), "-i", normalization)
    status, _, done = run(program, *options, "model.rknn", "image.bin")
    assert status == 0, done.stderr
    output = np.fromfile(program.parent / "output_0.bin", "float32").reshape(2, 3)
    np.testing.assert_allclose(output, (pixels - means) / np.array(stds) * 2 + 1, rtol=1e-6)


def test_inputs_without_files(program: Path) -> None:
    def statistics(*arguments: str) -> str:
        return run(program, *arguments, "model.rknn")[2].stdout.splitlines()[-1].partition(", ")[2]

    assert statistics("-z") == "min 1, max 1, mean 1"
    values = dict(word.split() for word in statistics().split(", "))
    assert -1 <= float(values["min"]) < float(values["max"]) <= 3
    assert statistics() == statistics()


def test_statistics_of_special_values(program: Path) -> None:
    special = program.parent / "special.bin"
    np.array([np.nan, np.inf, 0, 1, 2, 3], "float32").tofile(special)
    assert run(program, "model.rknn", "special.bin")[2].stdout.endswith(
        "min 1, max inf, mean inf, 1 NaN\n"
    )
    np.full(6, np.nan, "float32").tofile(special)
    assert run(program, "model.rknn", "special.bin")[2].stdout.endswith("float32, 6 NaN\n")


@pytest.mark.parametrize(
    ("call", "named"),
    {
        "rknn_init": "rknn_init",
        "rknn_register_custom_ops": "custom_ops_register_all",
        "rknn_query": "rknn_query of the version",
        "rknn_inputs_set": "rknn_inputs_set",
        "rknn_run": "rknn_run",
        "rknn_outputs_get": "rknn_outputs_get",
        "rknn_outputs_release": "rknn_outputs_release",
        "rknn_destroy": "rknn_destroy",
    }.items(),
)
def test_failing_call_is_named(call: str, named: str, program: Path) -> None:
    status, lines, _ = run(program, "model.rknn", fails=call)
    assert status == 1
    errors = [line for line in lines if not line.startswith("call ")]
    assert errors == [f"error: {named} returns -2 (RKNN_ERR_TIMEOUT)"]
    assert any(line.startswith(DESTROY) for line in lines) == (call != "rknn_init")


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ("", 2, "Usage: run_model [-h] [-i MEANS:STDS]"),
        *(
            (f"-i {text} model.rknn", 2, f"error: -i {text}: expected MEAN:STD")
            for text in (
                "1",
                "1:",
                ":1",
                "1:2,3",
                "1:0",
                "1:-1",
                "1,2,3,4,5:1,2,3,4,5",
                "1:a",
                "1:2:",
            )
        ),
        ("-i 1,2:3,4 model.rknn image.bin", 1, "error: -i: 2 means, expected 1 or 3 for input 'x'"),
        ("-i 1:2 model.rknn input.bin", 1, "error: input.bin: 24 bytes, expected 6 for input 'x'"),
        ("-n 0 model.rknn", 2, "error: -n 0: expected a count of runs"),
        ("no.rknn", 1, "error: no.rknn: No such file or directory"),
        (".", 1, "error: .: "),
        ("model.rknn no.bin", 1, "error: no.bin: No such file or directory"),
        ("model.rknn input.bin input.bin", 1, "error: 2 input files, expected 1"),
        ("model.rknn model.rknn", 1, "error: model.rknn: 17 bytes, expected 24 for input 'x'"),
        ("-o no/where model.rknn", 1, "error: no/where/output_0.bin: No such file or directory"),
    ],
)
def test_errors_of_the_user(arguments: str, status: int, message: str, program: Path) -> None:
    found, lines, _ = run(program, *arguments.split())
    assert found == status
    assert any(line.startswith(message) for line in lines), lines


def test_help(program: Path) -> None:
    status, calls, done = run(program, "-h")
    assert (status, calls) == (0, [])
    assert max(map(len, done.stdout.splitlines())) <= 100


# ---- Operators in one library --------------------------------------------------------------------

LOCAL = """\
int helper(int x);
int table[1] = {{{value}}};
int helper(int x)
{{
    return x * table[0];
}}
"""
ENTRY = "int helper(int x);\nint {name}(int x);\nint {name}(int x)\n{{\n    return helper(x);\n}}\n"
MAIN = """\
#include <stdio.h>
int first(int x);
int second(int x);
int main(void)
{
    printf("%d %d\\n", first(1), second(1));
    return 0;
}
"""


@pytest.mark.parametrize("abi", ["x64", "aarch64", "armhf"])
def test_operators_share_no_symbol(abi: str, tmp_path: Path) -> None:
    def compiled(name: str, text: str) -> Path:
        source = tmp_path / f"{name}.c"
        source.write_text(text)
        flags = ("-c", "-fPIC", "-Wno-missing-prototypes")
        return build(tmp_path / f"{name}.o", source, *flags, abi=ABIS[abi])

    objects: list[Path] = []
    for name, value in {"first": 3, "second": 5}.items():
        parts = {"local": LOCAL.format(value=value), "entry": ENTRY.format(name=name)}
        built = {f"{name}-{part}": compiled(f"{name}-{part}", text) for part, text in parts.items()}
        contents: Mapping[str, bytes] = {part: path.read_bytes() for part, path in built.items()}
        for part, content in isolated(contents, [name], f".{name}").items():
            objects.append(tmp_path / f"{part}-isolated.o")
            objects[-1].write_bytes(content)
    program = build(tmp_path / "program", compiled("main", MAIN), *objects, abi=ABIS[abi])
    if abi == "x64":
        assert subprocess.run([program], capture_output=True, check=True).stdout == b"3 5\n"


INLINE = """\
inline int helper(int x)
{{
    static int calls;
    calls++;
    return x * {value} + calls;
}}
template <class T> struct box {{
    T value;
    T get() const {{ return value * {value}; }}
}};
extern "C" int {name}(int x);
int {name}(int x)
{{
    const box<int> full = {{helper(x)}};
    return full.get();
}}
"""


def test_inline_functions_stay_apart(tmp_path: Path) -> None:
    objects = []
    for name, value in {"first": 3, "second": 5}.items():
        source, found = tmp_path / f"{name}.cc", tmp_path / f"{name}.o"
        source.write_text(INLINE.format(name=name, value=value))
        result = compile_c(found, "-c", "-O0", "-fPIC", source, language="c++11")
        assert result.returncode == 0, result.stderr
        found.write_bytes(isolated({"": found.read_bytes()}, [name], f".{name}")[""])
        objects.append(found)
    (tmp_path / "main.c").write_text(MAIN)
    program = build(tmp_path / "program", tmp_path / "main.c", *objects)
    assert subprocess.run([program], capture_output=True, check=True).stdout == b"12 30\n"


@pytest.mark.parametrize("content", [b"", b"BC\xc0\xde bitcode", b"\x7fELF\2\2"])
def test_objects_that_are_not_of_a_board(content: bytes) -> None:
    with pytest.raises(OpkitError, match=r"^x\.o: not an object in ELF \(expected one; compile"):
        isolated({"x.o": content}, ["x"], ".x")


def test_damaged_objects(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(MAIN)
    content = build(tmp_path / "main.o", "-c", tmp_path / "main.c").read_bytes()
    for size in range(6, len(content), 7):
        with pytest.raises(OpkitError, match=r"main\.o: the object is damaged; build it again"):
            isolated({"main.o": content[:size]}, ["first"], ".first")


@pytest.mark.parametrize("toolchain", ["zig", "gnu"])
def test_members_of_an_archive(toolchain: str, tmp_path: Path) -> None:
    command = toolchains.find(toolchain, ABIS["x64"]).command
    contents = {"a.o": b"a", "a_name_of_more_than_16_characters.o": b"bb\n", "c d.o": b""}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    subprocess.run([*archiver(command), "rcsD", "all.a", *contents], cwd=tmp_path, check=True)
    data = (tmp_path / "all.a").read_bytes()
    assert members(data) == [*contents.items()]
    for broken in (b"", data[:-1], data[:20], data.replace(b"`\n", b"??")):
        with pytest.raises(OpkitError, match="archive"):
            members(broken)
