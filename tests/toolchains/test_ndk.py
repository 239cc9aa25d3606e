"""Android's NDK: its clang, the places of the search, and the messages for a wrong folder."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from opkit.toolchains import TOOLCHAINS, Compiler, ToolchainError, find
from opkit.toolchains.abi import ANDROID_ABIS
from opkit.toolchains.compiler import archiver, cxx_command
from opkit.toolchains.ndk import DOWNLOADS, VARIABLES
from tests.toolchains.ndk_stand_in import CLANG, HOST, R18B, REVISION, make_ndk

ARM64, ARM = "arm64-v8a", "armeabi-v7a"
FLAGS = {
    ARM64: ("-mcpu=cortex-a35", "-D__BIONIC_NO_PAGE_SIZE_MACRO"),
    ARM: ("-mcpu=cortex-a7", "-mfpu=neon-vfpv4", "-mfloat-abi=softfp", "-mthumb"),
}
NO_FOLDER = "No such file or directory (expected the folder of an NDK, such as android-ndk-r27c"


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def unpack(ndk: Path, revision: str = REVISION) -> Path:
    """Make what the search looks at in an NDK."""
    for name in ("clang", "clang++"):
        program = ndk / CLANG.replace("clang", name)
        program.parent.mkdir(parents=True, exist_ok=True)
        program.touch(mode=0o755)
    (ndk / "source.properties").write_text(f"Pkg.Desc = Android NDK\nPkg.Revision = {revision}\n")
    system = (ndk / CLANG).parent.parent / "sysroot/usr/lib"
    folders = [system / name / "24" for name in ("aarch64-linux-android", "arm-linux-androideabi")]
    if revision.startswith("18."):
        folders = [ndk / f"platforms/android-24/arch-{each}/usr" for each in ("arm64", "arm")]
    for folder in folders:
        folder.mkdir(parents=True)
    return ndk


def found(abi: str, ndk: str | Path = "", toolchain: str = "auto", prefix: str = "") -> Compiler:
    return find(toolchain, ANDROID_ABIS[abi], prefix, ndk_folder=str(ndk))


def refused(abi: str, ndk: str | Path = "") -> str:
    with pytest.raises(ToolchainError) as caught:
        found(abi, ndk)
    return str(caught.value)


@pytest.mark.parametrize(
    "revision", ["19.0.5232133", REVISION, "28.0-beta1", "29.0.13113456-beta1"]
)
def test_target_alone_selects_the_abi(revision: str, tmp_path: Path) -> None:
    ndk = unpack(tmp_path / "ndk", revision)
    targets = {ARM64: "aarch64-linux-android24", ARM: "armv7a-linux-androideabi24"}
    for abi, target in targets.items():
        command = (str(ndk / CLANG), f"--target={target}")
        compiler = found(abi, ndk)
        assert compiler == Compiler("ndk", abi, command, FLAGS[abi])
        assert cxx_command(compiler) == (f"{ndk / CLANG}++", f"--target={target}")
        assert archiver(compiler.command) == [str((ndk / CLANG).with_name("llvm-ar"))]


@pytest.mark.parametrize(
    ("abi", "target", "name", "processor"),
    [
        (ARM64, "aarch64-linux-android", "aarch64-linux-android", "arm64"),
        (ARM, "armv7a-linux-androideabi", "arm-linux-androideabi", "arm"),
    ],
)
def test_r18_gets_its_folders(
    abi: str, target: str, name: str, processor: str, tmp_path: Path
) -> None:
    ndk = unpack(tmp_path / "ndk", R18B)
    compiler = found(abi, ndk)
    assert compiler.flags == FLAGS[abi]
    assert compiler.command == (
        str(ndk / CLANG),
        f"--target={target}",
        f"--sysroot={ndk}/platforms/android-24/arch-{processor}",
        f"--gcc-toolchain={ndk}/toolchains/{name}-4.9/prebuilt/{HOST}",
        "-D__ANDROID_API__=24",
        *("-cxx-isystem", f"{ndk}/sources/cxx-stl/llvm-libc++/include"),
        *("-cxx-isystem", f"{ndk}/sources/cxx-stl/llvm-libc++abi/include"),
        *("-idirafter", f"{ndk}/sysroot/usr/include/{name}"),
        *("-idirafter", f"{ndk}/sysroot/usr/include"),
    )


def test_order_of_the_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for index, name in enumerate(reversed(VARIABLES)):
        monkeypatch.setenv(name, str(unpack(tmp_path / str(index))))
        assert found(ARM64).command[0] == str(tmp_path / str(index) / CLANG)
    monkeypatch.setenv("HOME", str(tmp_path))
    unpack(tmp_path / "mine")
    assert found(ARM64, "~/mine").command[0] == str(tmp_path / "mine" / CLANG)


@pytest.mark.parametrize("toolchain", TOOLCHAINS)
def test_every_toolchain_takes_the_ndk(toolchain: str, tmp_path: Path) -> None:
    prefix = "/opt/sdk/bin/aarch64-sdk-linux-" if toolchain == "prefix" else ""
    assert found(ARM, unpack(tmp_path / "ndk"), toolchain, prefix).toolchain == "ndk"


def test_no_ndk() -> None:
    assert refused(ARM64) == (
        "os=android: no compiler for arm64-v8a (the NDK's clang). Looked for:\n"
        "  ndk= (not given)\n"
        "  the variable ANDROID_NDK_ROOT (not set)\n"
        "  the variable ANDROID_NDK_PATH (not set)\n"
        "Install it with\n"
        "  unzip android-ndk-*-linux.zip\n"
        f"  after downloading it from {DOWNLOADS}; then pass the folder that it makes: ndk=PATH"
    )


def test_not_an_ndk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert f"ndk=/no: /no/source.properties: {NO_FOLDER}" in refused(ARM, "/no")
    monkeypatch.setenv("ANDROID_NDK_ROOT", str(tmp_path))
    assert refused(ARM).startswith(f"ANDROID_NDK_ROOT={tmp_path}: {tmp_path}/source.properties: ")
    (tmp_path / "source.properties").write_text("Pkg.Desc = Android SDK\n")
    assert refused(ARM) == (
        f"ANDROID_NDK_ROOT={tmp_path}: {tmp_path}/source.properties has no line 'Pkg.Revision = "
        "...'"
    )


@pytest.mark.parametrize("revision", ["16.1.4479499", "18.0.5002713", "9.0"])
def test_too_old(revision: str, tmp_path: Path) -> None:
    assert refused(ARM, unpack(tmp_path / "ndk", revision)) == (
        f"ndk={tmp_path}/ndk: NDK {revision} is too old (expected 18.1, which is r18b, or later); "
        f"download a newer one from {DOWNLOADS}"
    )


def test_ndk_of_another_system(tmp_path: Path) -> None:
    ndk = unpack(tmp_path / "ndk")
    (ndk / CLANG).chmod(0o644)
    assert refused(ARM, ndk) == (
        f"ndk={ndk}: no program {CLANG} in NDK {REVISION}; download the package for Linux from "
        f"{DOWNLOADS}"
    )


@pytest.mark.parametrize(
    ("revision", "folder"),
    [
        (REVISION, f"toolchains/llvm/prebuilt/{HOST}/sysroot/usr/lib/arm-linux-androideabi/24"),
        (R18B, "platforms/android-24/arch-arm/usr"),
    ],
)
def test_ndk_without_the_api_level(revision: str, folder: str, tmp_path: Path) -> None:
    ndk = unpack(tmp_path / "ndk", revision)
    (ndk / folder).rename(ndk / "gone")
    assert refused(ARM, ndk) == (
        f"ndk={ndk}: NDK {revision} has no libraries of API level 24 for armeabi-v7a, no folder "
        f"{folder}; download another one from {DOWNLOADS}"
    )
    assert found(ARM64, ndk)


# ---- The stand-in ----


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_ndk(tmp_path_factory.mktemp("ndk"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-mcpu=cortex_a35"], "unsupported argument 'cortex_a35' to option '-mcpu='"),
        (["-shared", "-lpthread"], "unable to find library -lpthread"),
    ],
)
def test_stand_in_refuses_what_an_ndk_refuses(
    arguments: list[str], message: str, stand_in: Path
) -> None:
    (stand_in / "empty.c").touch()
    command = [str(stand_in / CLANG), "--target=aarch64-linux-android24", *arguments, "empty.c"]
    run = subprocess.run(command, cwd=stand_in, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert message in run.stderr
