"""`scons os=android`: plugins and static libraries for Android, by a stand-in for its NDK.

    BIONIC_HEADERS  a copy of the folder `libc` of bionic's sources; else the headers are another
                    C library's

The stand-in's clang is zig's, and its libraries have bionic's names and only functions of the API
level. No product runs.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from opkit.runtimes.rknn2.report import built_plugins
from opkit.toolchains import elf
from opkit.toolchains.abi import ANDROID_ABIS
from opkit.toolchains.ndk import VARIABLES
from tests.marks import quick_first, slow_first
from tests.repositories import ROOT, Repository, generate, generate_example
from tests.toolchains.ndk_stand_in import R18B, make_ndk

DESCRIPTION = """\
name: Blend
runtimes: [rknn2, rknn]
target_platform: RK3588
threads: auto
inputs: {input: {type: VX_TYPE_TENSOR}}
outputs: {output: {type: VX_TYPE_TENSOR}}
params: {alpha: {type: float, default: 0.5}}
"""
PLUGIN = "librkcst_blend.so"
ARCHIVE = "libblend_custom_op.a"
ABIS = [*ANDROID_ABIS]


@pytest.fixture(scope="module")
def ndk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_ndk(tmp_path_factory.mktemp("ndk"))


@pytest.fixture(autouse=True)
def variables(ndk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(VARIABLES[0], str(ndk))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, ndk: Path) -> Repository:
    """Return a repository built for a 64-bit Android; do not change it."""
    repository = generate(tmp_path_factory.mktemp("blend"), DESCRIPTION)
    made = repository.scons("target=rk3588", "os=android", f"ndk={ndk}", "verbose=1")
    assert "warning" not in made.stderr
    assert "-Wl,-z,max-page-size=16384" in made.stdout
    assert "-lpthread" not in made.stdout
    return repository


def check_plugin(path: Path, abi: str) -> None:
    library = elf.read(path.read_bytes())
    assert library.architecture == ANDROID_ABIS[abi].elf
    assert library.exports == ("get_rknn_custom_op",)
    assert library.needed[0] == "librknnrt.so"
    assert {*library.needed[1:]} <= {"libc.so", "libm.so", "libdl.so"}
    assert [*library.versions] == ["LIBC"]
    assert library.unversioned == ("rknn_custom_op_get_op_attr",)
    assert library.page_size >= (16384 if abi == "arm64-v8a" else 4096)


def folder(repository: Repository, abi: str, target: str = "rk3588") -> Path:
    return repository.path / "build" / f"{target}-{abi}"


def test_products(built: Repository) -> None:
    made = folder(built, "arm64-v8a")
    assert sorted(path.name for path in made.iterdir()) == [ARCHIVE, PLUGIN]
    check_plugin(made / PLUGIN, "arm64-v8a")
    assert b"blend_register_all\0" in (made / ARCHIVE).read_bytes()
    assert not (built.path / "build/rk3588").exists()
    again = built.scons("target=rk3588", "os=android", "abi=arm64-v8a")
    assert "up to date" in again.stdout


def test_report(built: Repository) -> None:
    (product,) = built_plugins(built.path)
    assert (product.problem, product.cells["glibc"]) == ("", "none: Android")


@pytest.mark.slow
def test_32_bit(built: Repository, tmp_path: Path) -> None:
    copy = built.copy(tmp_path)
    copy.scons("target=rk3588", "os=android", "abi=armeabi-v7a")
    check_plugin(folder(copy, "armeabi-v7a") / PLUGIN, "armeabi-v7a")
    check_plugin(folder(copy, "arm64-v8a") / PLUGIN, "arm64-v8a")


@pytest.mark.slow
@pytest.mark.parametrize("abi", slow_first(1, ABIS))
def test_r18(abi: str, built: Repository, tmp_path: Path) -> None:
    copy = built.copy(tmp_path)
    old = make_ndk(tmp_path, R18B)
    made = copy.scons("target=rk3588", "os=android", f"abi={abi}", f"ndk={old}")
    assert "warning" not in made.stderr
    check_plugin(folder(copy, abi) / PLUGIN, abi)


@pytest.mark.slow
@pytest.mark.nightly
def test_another_ndk_in_the_folder_rebuilds(built: Repository, tmp_path: Path) -> None:
    copy, own = built.copy(tmp_path), make_ndk(tmp_path)
    arguments = ("target=rk3588", "os=android", f"ndk={own}")
    copy.scons(*arguments)
    assert "up to date" in copy.scons(*arguments).stdout
    (own / "source.properties").write_text("Pkg.Revision = 28.0.12433566-beta1\n")
    assert "compile build/rknn2/arm64-v8a/rknn2/blend_plugin.c.o" in copy.scons(*arguments).stdout


@pytest.mark.slow
def test_every_target_with_android(built: Repository, tmp_path: Path) -> None:
    copy = built.copy(tmp_path)
    copy.scons("target=all", "os=android")
    assert sorted(path.parent.name for path in copy.path.glob(f"build/*/{PLUGIN}")) == [
        f"{chip}-arm64-v8a" for chip in ("rk3562", "rk3566", "rk3568", "rk3576", "rk3588")
    ]
    (copy.path / "blend_compute.h").write_text("#error broken\n")
    assert copy.scons("target=all", "os=android", check=False).returncode == 2
    assert not [*copy.path.glob(f"build/*/{PLUGIN}")]


def test_deploy(built: Repository) -> None:
    printed = built.scons("deploy", "target=rk3588", "os=android").stdout
    assert "on Android (no board ran it yet)" in printed
    source = f"build/rk3588-arm64-v8a/{PLUGIN}"
    assert f"    adb push {source} /vendor/lib64/{PLUGIN}\n" in printed
    assert "/usr/lib" not in printed


@pytest.mark.slow
@pytest.mark.nightly
def test_deploy_32_bit(built: Repository, tmp_path: Path) -> None:
    arguments = ("deploy", "target=rk3568", "os=android", "abi=armeabi-v7a")
    printed = built.copy(tmp_path).scons(*arguments).stdout
    source = f"build/rk3568-armeabi-v7a/{PLUGIN}"
    assert f"    adb push {source} /vendor/lib/{PLUGIN}\n" in printed


CHIPS = "rk3588, rk3576, rk3568, rk3566, rk3562"
REFUSALS = [
    (
        ["target=rv1126b", "os=android"],
        f"os=android: not supported for target=rv1126b (expected {CHIPS} or all)",
    ),
    (
        ["target=rk3588", "os=android", "check"],
        "os=android: the cases run on this PC and, in qemu, on Linux; run scons check without os=",
    ),
    (
        ["target=rk3588", "abi=arm64-v8a"],
        "abi=arm64-v8a: unknown for rk3588 (expected aarch64, armhf); pass os=android, too",
    ),
    (
        ["target=rk3588", "os=android", "abi=armhf"],
        "abi=armhf: unknown for rk3588 (expected arm64-v8a, armeabi-v7a); pass os=linux, too",
    ),
    (
        ["target=rv1126", "os=android"],
        f"os=android: not supported for target=rv1126 (expected {CHIPS} or all)",
    ),
    (["target=x64", "os=android"], "os=android: not supported for target=x64 (expected rk3588"),
    (["target=rk3588", "ndk=/opt/ndk"], "ndk=/opt/ndk has no meaning without os=android"),
    (["target=rk3588", "os=android", "ndk=/no"], "ndk=/no: /no/source.properties: No such file"),
    (["target=rk3588", "os=windows"], "Valid values are: ('linux', 'android')"),
]


@pytest.mark.parametrize(("arguments", "message"), quick_first(3, REFUSALS))
def test_refusals(arguments: list[str], message: str, built: Repository) -> None:
    refused = built.scons(*arguments, check=False)
    assert refused.returncode == 2
    assert message in " ".join((refused.stdout + refused.stderr).split())


def test_no_ndk(built: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLES[0])
    refused = built.scons("target=rk3588", "os=android", check=False)
    assert refused.returncode == 2
    assert "error: os=android: no compiler for arm64-v8a (the NDK's clang)." in refused.stderr
    # What was built stays.
    assert (folder(built, "arm64-v8a") / PLUGIN).exists()


@pytest.mark.slow
@pytest.mark.nightly
def test_function_younger_than_the_api_level(built: Repository, tmp_path: Path) -> None:
    copy = built.copy(tmp_path)
    math = copy.path / "blend_compute.h"
    start = "static const char *blend_compute("
    declared = f"int getentropy(void *buffer, size_t size);\n{start}"
    text = math.read_text().replace(start, declared)
    call = "    return getentropy(NULL, 0) ? NULL : NULL;\n}"
    math.write_text(text.replace("    return NULL;\n}", call))
    failed = copy.scons("target=rk3588", "os=android", check=False)
    assert failed.returncode == 2
    assert "undefined symbol: getentropy" in failed.stderr
    assert not (folder(copy, "arm64-v8a") / PLUGIN).exists()


@pytest.mark.slow
@pytest.mark.parametrize("abi", slow_first(1, ABIS))
def test_cxx_sources(abi: str, built: Repository, tmp_path: Path) -> None:
    copy = built.copy(tmp_path)
    source = 'extern "C" int more(int x) noexcept { return x < 0 ? -x : x; }\n'
    (copy.path / "more.cc").write_text(source)
    with (copy.path / "op.yml").open("a") as file:
        file.write("sources: [more.cc]\n")
    copy.scons("target=rk3588", "os=android", f"abi={abi}")
    check_plugin(folder(copy, abi) / PLUGIN, abi)
    assert b"more.cc.o" in (folder(copy, abi) / ARCHIVE).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("abi", ABIS)
@pytest.mark.parametrize("name", slow_first(1, ["mish", "grid_sample"]))
def test_library_operator(name: str, abi: str, tmp_path: Path) -> None:
    """Of an elementwise one, tables are measured with a clock; the other one has threads."""
    repository = generate_example(tmp_path, name, "rknn2")
    made = repository.scons("target=rk3588", "os=android", f"abi={abi}")
    assert "warning" not in made.stderr
    (plugin,) = folder(repository, abi).glob("*.so")
    assert elf.read(plugin.read_bytes()).exports == ("get_rknn_custom_op",)


@pytest.mark.slow
def test_printed_products(built: Repository, tmp_path: Path) -> None:
    copy = built.copy(tmp_path)
    options = ("-t", "rk3588", "--", "os=android")
    printed = subprocess.run(
        [sys.executable, "-m", "rknn_op", "build", "-p", copy.path, *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    folders = [Path(line).parent.name for line in printed.stdout.splitlines()]
    assert folders == ["rk3588-arm64-v8a"] * 2


def test_help(built: Repository) -> None:
    printed = " ".join(built.scons("-h").stdout.split())
    assert "os=linux the system of the targets (linux | android)" in printed
    assert "ndk= with os=android: the folder of the NDK" in printed
    assert "with os=android: arm64-v8a or armeabi-v7a" in printed
