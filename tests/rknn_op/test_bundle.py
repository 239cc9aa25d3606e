"""`rknn-op bundle`: refusals, and bundles that are built against an SDK and run."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from opkit.toolchains.abi import ABIS
from tests.check.target_repositories import need
from tests.compiling import OPKIT, build, compile_c
from tests.repositories import EXAMPLES, generate
from tests.rknn_op.command import assert_error, process, rknn_op, snapshot, succeeded

SDK = Path(__file__).parent / "sdk"
OWN_HEADERS = OPKIT / "runtimes/rknn2/include"
MODEL = "cstTwofold\ncstThreefold\ncstExp\n"
DESCRIPTION = """\
name: {name}
runtimes: [rknn2]
inputs: {{x: {{type: VX_TYPE_TENSOR}}}}
outputs: {{y: {{type: VX_TYPE_TENSOR}}}}
"""
HELPER = "float helper(float x);\nfloat helper(float x)\n{{\n    return {factor} * x;\n}}\n"
COMPUTE = """\
#include "generated/{lower}.h"
float helper(float x);
static const char *{lower}_compute(const struct {lower}_inputs *inputs,
                                   const struct {lower}_params *params,
                                   struct {lower}_outputs *outputs)
{{
    (void)params;
    for (size_t i = 0; i < inputs->x.size; i++) {{
        ((float *)outputs->y.data)[i] = helper(((const float *)inputs->x.data)[i]);
    }}
    return NULL;
}}
"""
INPUT = np.linspace(-1, 1, 6, dtype="float32")


def repository(folder: Path, name: str, more: str = "") -> Path:
    """Make a repository of an operator with one input and one output."""
    return generate(folder, DESCRIPTION.format(name=name) + more).path


bundle = functools.partial(process, "bundle")
"""Run `rknn-op bundle` in a process of its own."""


# ---- Refusals ------------------------------------------------------------------------------------


def described(folder: Path, description: str) -> Path:
    """Write the only files of a repository that a refusal reads."""
    folder.mkdir(parents=True)
    (folder / "op.yml").write_text(description)
    (folder / "SConstruct").touch()
    return folder


def test_refusals_of_repositories(folder: Path) -> None:
    twice = described(folder / "Twice", DESCRIPTION.format(name="Twice"))
    again = described(folder / "a", DESCRIPTION.format(name="Again") + "op_type: cstTwice\n")
    same_name = described(folder / "b", DESCRIPTION.format(name="TWICE"))
    rknn = described(folder / "c", DESCRIPTION.format(name="Older").replace("[rknn2]", "[rknn]"))
    broken = described(folder / "d", "name: [\n")
    before = snapshot(folder)

    def refused(*paths: Path, out: str = "out") -> str:
        result = rknn_op("bundle", "-p", *map(str, paths), "--target", "rk3588", "-o", out)
        assert_error(result)
        return result.stderr

    assert f"{twice} and {again} have the same op_type, cstTwice" in refused(twice, again)
    equal = f"{twice}/op.yml:1: name: Twice is also the name of the operator in b;"
    assert equal in refused(twice, same_name)
    assert f"{rknn}/op.yml: Older is for rknn, not for rknn2" in refused(twice, rknn)
    assert f"{broken}/op.yml:" in refused(broken)
    assert "nowhere is not an operator repository: op.yml not found" in refused(Path("nowhere"))
    assert "Twice already exists; pass another folder" in refused(twice, out="Twice")
    assert snapshot(folder) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("-t rv1106", "--target rv1106: RV1106 has no custom operators"),
        ("-t rv1126", "--target rv1126: a target of RKNN-Toolkit; a bundle is for RKNN-Toolkit2"),
        ("-t rk3589", "--target: invalid 'rk3589' (expected rk3588, "),
        ("-t rk3588 --model m.tflite", "--model m.tflite: invalid file name (expected *.rknn or"),
        ("-t rk3588 --model m.rknn", "--model m.rknn: not found"),
        ("-t rk3588 --model a.onnx", "--model a.onnx: an .onnx file must be converted; pass"),
        ("-t rk3588 --model a.onnx --toolkit no", "--toolkit no: not a program"),
        ("-t rk3588 --model a.rknn --toolkit no", "--model a.rknn: already converted"),
        ("-t rk3588 --toolkit no", "--toolkit converts a model; pass it with --model FILE.onnx"),
        ("-t rk3588 -- abi=armhf", "abi=armhf: pass --abi of `rknn-op bundle` instead"),
        ("-t rk3588 -- os=android", "os=android: a bundle is for Linux; for Android build each"),
    ],
)
def test_refusals_of_options(arguments: str, message: str, folder: Path) -> None:
    (folder / "a.onnx").touch()
    (folder / "a.rknn").touch()
    assert_error(rknn_op("bundle", "-o", "out", *arguments.split()), message)
    assert sorted(path.name for path in folder.iterdir()) == ["a.onnx", "a.rknn"]


# ---- Bundles -------------------------------------------------------------------------------------


def write_sdk(folder: Path, *abis: str) -> Path:
    """Write a folder like the vendor's librknn_api, with the stub as librknnrt."""
    (folder / "include").mkdir(parents=True)
    for header in (OWN_HEADERS / "rknn_custom_op.h", SDK / "rknn_api.h"):
        shutil.copy(header, folder / "include")
    for abi in abis:
        flags = ("-shared", "-Wl,-soname,librknnrt.so", "-Wno-missing-prototypes")
        headers = f"-I{folder / 'include'}"
        library = folder / abi / "librknnrt.so"
        build(library, SDK / "librknnrt.c", headers, *flags, abi=ABIS[abi])
    return folder


@pytest.fixture(scope="module")
def repositories(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return repositories of two examples, and of two operators with a function `helper`."""
    folder = tmp_path_factory.mktemp("repositories")
    made = []
    for name, factor in {"Twofold": 2, "Threefold": 3}.items():
        path = repository(folder, name, "sources: [helper.c]\n")
        lower = name.lower()
        (path / "helper.c").write_text(HELPER.format(factor=factor))
        (path / f"{lower}_compute.h").write_text(COMPUTE.format(lower=lower))
        made.append(path)
    for name in ("exp", "row_mean"):
        path = folder / name
        config = str(EXAMPLES / name / f"{name}.yml")
        options = ("--runtime", "rknn2", "-p", str(path))
        succeeded("create", "-c", config, *options)
        for source in (EXAMPLES / name).glob("*_[cr][oe]*.*"):
            if source.name.startswith(name.replace("_", "")):
                shutil.copy(source, path)
        made.append(path)
    return made


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, repositories: list[Path]) -> Path:
    """Return a bundle with a model of three nodes."""
    folder = tmp_path_factory.mktemp("bundle")
    (folder / "three.rknn").write_text(MODEL)
    arguments = ("--target", "rk3588", "--model", "three.rknn", "-o", "made")
    result = bundle("-p", *repositories, *arguments, cwd=folder)
    assert result.returncode == 0, result.stderr
    printed = [Path(line).relative_to("made") for line in result.stdout.splitlines()]
    files = [path.relative_to(folder / "made") for path in (folder / "made").rglob("*.*")]
    assert {path for path in printed if path.suffix} == {
        path for path in files if (folder / "made" / path).is_file()
    }
    return folder / "made"


@pytest.mark.slow
def test_files(made: Path) -> None:
    assert sorted(str(path.relative_to(made)) for path in made.rglob("*") if path.is_file()) == [
        "CMakeLists.txt",
        "README.md",
        "SConstruct",
        "cmake/aarch64.cmake",
        "cmake/armhf.cmake",
        "include/custom_ops.h",
        "lib/aarch64/libcustom_ops.a",
        "lib/armhf/libcustom_ops.a",
        "main.c",
        "model.rknn",
        *(
            f"plugins/{abi}/librkcst_{name}.so"
            for abi in ("aarch64", "armhf")
            for name in ("exp", "rowmean", "threefold", "twofold")
        ),
    ]
    assert (made / "model.rknn").read_text() == MODEL
    readme = (made / "README.md").read_text()
    assert readme.startswith("# cstTwofold, cstThreefold, cstExp, cstRowMean for RK3588\n")
    assert "The board needs librknnrt 1.6.0 or later: " in readme
    assert "Build the example for aarch64 (or armhf), " in readme


@pytest.mark.slow
@pytest.mark.parametrize("abi", ["aarch64", "armhf"])
@pytest.mark.parametrize("build_tool", ["scons", "cmake"])
def test_application_runs(abi: str, build_tool: str, made: Path, tmp_path: Path) -> None:
    need(f"qemu-{ABIS[abi].processor}-static", "qemu-user-static")
    need(f"{ABIS[abi].triple}-gcc", f"gcc-{ABIS[abi].triple}")  # has the C library for qemu
    folder = tmp_path / "bundle"
    shutil.copytree(made, folder)
    sdk = write_sdk(tmp_path / "sdk", abi)
    if build_tool == "scons":
        commands = [[sys.executable, "-m", "SCons", f"RKNN_SDK={sdk}", f"abi={abi}"]]
    else:
        need("cmake", "cmake")
        toolchain = f"-DCMAKE_TOOLCHAIN_FILE=cmake/{abi}.cmake"
        made_in = f"build/{abi}"
        commands = [
            ["cmake", "-S", ".", "-B", made_in, f"-DRKNN_SDK={sdk}", toolchain],
            ["cmake", "--build", made_in],
        ]
    for command in commands:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "warning" not in (done.stdout + done.stderr).lower()
    (folder / "input.bin").write_bytes(INPUT.tobytes())
    done = subprocess.run(
        [
            f"qemu-{ABIS[abi].processor}-static",
            *("-L", f"/usr/{ABIS[abi].triple}", "-E", f"LD_LIBRARY_PATH={sdk / abi}"),
            *(f"build/{abi}/run_model", "-o", ".", "model.rknn", "input.bin"),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[:2] == [
        "call rknn_init",
        "call rknn_register_custom_ops cstTwofold cstThreefold cstExp cstRowMean",
    ]
    output = np.fromfile(folder / "output_0.bin", "float32")
    np.testing.assert_allclose(output, np.exp(6 * INPUT), rtol=1e-6)


@pytest.mark.slow
def test_application_without_sdk(made: Path) -> None:
    sdk = made / "nowhere"
    problem = "librknn_api"
    scons = [sys.executable, "-m", "SCons", "-Q", f"RKNN_SDK={sdk}"]
    done = subprocess.run(scons, cwd=made, capture_output=True, text=True, check=False)
    header = sdk / "include/rknn_api.h"
    expected = f"error: {header} not found; pass RKNN_SDK=DIR, the vendor's folder {problem}\n"
    assert (done.returncode, done.stderr) == (1, expected)
    assert not (made / "build").exists()


@pytest.mark.slow
@pytest.mark.skipif("RKNN_SDK" not in os.environ, reason="RKNN_SDK names no SDK of the vendor")
@pytest.mark.parametrize("abi", ["aarch64", "armhf"])
def test_sdk_of_the_vendor(abi: str, made: Path, tmp_path: Path) -> None:
    sdk = Path(os.environ["RKNN_SDK"])
    warnings = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
    headers = ("-isystem", sdk / "include", f"-I{made / 'include'}")
    compiled = compile_c(tmp_path / "main.o", "-c", made / "main.c", *headers, *warnings)
    assert compiled.returncode == 0, compiled.stderr
    if not (sdk / abi / "librknnrt.so").is_file():
        pytest.skip(f"{sdk} has no librknnrt.so for {abi}")
    shutil.copytree(made, tmp_path / "bundle")
    command = [sys.executable, "-m", "SCons", f"RKNN_SDK={sdk}", f"abi={abi}"]
    done = subprocess.run(
        command, cwd=tmp_path / "bundle", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_failed_build_leaves_no_bundle(tmp_path: Path) -> None:
    broken = repository(tmp_path, "Broken")
    (broken / "broken_compute.h").write_text("#error broken\n")
    result = process(
        "bundle", "-p", broken, "--target", "rk3588", "--abi", "armhf", "-o", "o", cwd=tmp_path
    )
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1] == f"error: o is not made: {broken} cannot be built"
    assert [path.name for path in tmp_path.iterdir()] == ["Broken"]


@pytest.mark.slow
@pytest.mark.skipif(
    "RKNN_OP_RKNN2_PYTHON" not in os.environ, reason="RKNN_OP_RKNN2_PYTHON names no Python"
)
def test_model_is_converted(repositories: list[Path], tmp_path: Path) -> None:
    def tensor(name: str) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 3, 4, 4])

    twice = repository(tmp_path, "Twice")
    nodes = [
        helper.make_node("cstExp", ["x"], ["e"], domain="rknn_cst"),
        helper.make_node("cstTwice", ["e"], ["y"], domain="rknn_cst"),
    ]
    opsets = [helper.make_opsetid("", 12), helper.make_opsetid("rknn_cst", 1)]
    graph = helper.make_graph(nodes, "model", [tensor("x")], [tensor("y")])
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=7), tmp_path / "a.onnx")
    python = os.environ["RKNN_OP_RKNN2_PYTHON"]
    options = ("--abi", "aarch64", "--model", "a.onnx", "--toolkit", python)
    target = ("--target", "rk3588")
    result = process(
        "bundle", "-p", repositories[2], twice, *target, *options, "-o", "out", cwd=tmp_path
    )
    assert result.returncode == 0, result.stderr
    converted = (tmp_path / "out/model.rknn").read_bytes()
    assert b"cstExp" in converted
    assert b"cstTwice" in converted

    result = process(
        "bundle", "-p", *repositories[2:], twice, *target, *options, "-o", "all", cwd=tmp_path
    )
    assert result.returncode == 1
    expected = "error: a.onnx: not converted: the model has no node of the type cstRowMean"
    assert result.stderr.splitlines()[-1] == expected
    assert sorted(path.name for path in tmp_path.iterdir()) == ["Twice", "a.onnx", "out"]
