"""The choice of a compiler, the places of the search, and the messages for a missing one."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
from pathlib import Path

import pytest

from opkit import toolchains
from opkit.toolchains import Compiler, ToolchainError, find
from opkit.toolchains.abi import ABIS
from opkit.toolchains.zig import cache_folder, provide_cache

LINARO = "gcc-linaro-6.3.1-2017.05-x86_64"
AARCH64_GCC = f"{LINARO}_aarch64-linux-gnu/bin/aarch64-linux-gnu-gcc"
ARMHF_GCC = f"{LINARO}_arm-linux-gnueabihf/bin/arm-linux-gnueabihf-gcc"


class Machine:
    """A computer without compilers: an empty PATH, an empty home, no ziglang."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.bin = root / "bin"
        self.home.mkdir()
        self.bin.mkdir()

    def install(self, *names: str) -> None:
        """Put programs on PATH."""
        for name in names:
            self.program(self.bin / name)

    def linaro(self, *places: str) -> None:
        """Put programs in the home's `.rknn`."""
        for place in places:
            self.program(self.home / ".rknn" / place)

    @staticmethod
    def program(path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\nexit 99\n")
        path.chmod(0o755)
        return path

    def find(self, toolchain: str, abi: str, prefix: str = "", sysroot: str = "") -> Compiler:
        return find(toolchain, ABIS[abi], prefix, sysroot, self.home)

    def refused(self, toolchain: str, abi: str, prefix: str = "", sysroot: str = "") -> str:
        with pytest.raises(ToolchainError) as caught:
            self.find(toolchain, abi, prefix, sysroot)
        return str(caught.value)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    bare = Machine(tmp_path)
    monkeypatch.setenv("PATH", str(bare.bin))
    monkeypatch.setitem(sys.modules, "ziglang", None)
    monkeypatch.setattr("platform.machine", lambda: "x86_64")

    def nothing_is_run(*arguments: object, **options: object) -> None:
        raise AssertionError(f"a process was started: {arguments}")

    monkeypatch.setattr(subprocess, "Popen", nothing_is_run)
    return bare


EVERYTHING = ("zig", "gcc", "aarch64-linux-gnu-gcc", "arm-linux-gnueabihf-gcc")


@pytest.mark.parametrize(
    ("toolchain", "with_linaro", "x64", "aarch64", "armhf"),
    [
        ("auto", True, "zig", "linaro", "linaro"),
        ("auto", False, "zig", "zig", "zig"),
        ("zig", True, "zig", "zig", "zig"),
        ("linaro", True, "zig", "linaro", "linaro"),
        ("gnu", True, "gnu", "gnu", "gnu"),
    ],
)
def test_preference_order(
    machine: Machine, toolchain: str, with_linaro: bool, x64: str, aarch64: str, armhf: str
) -> None:
    machine.install(*EVERYTHING)
    if with_linaro:
        machine.linaro(AARCH64_GCC, ARMHF_GCC)
    for abi, expected in {"x64": x64, "aarch64": aarch64, "armhf": armhf}.items():
        found = machine.find(toolchain, abi)
        assert (found.toolchain, found.abi) == (expected, abi)


@pytest.mark.parametrize(
    ("abi", "target", "cpu"),
    [
        ("x64", "x86_64-linux-gnu.2.17", "-mcpu=x86_64"),
        ("aarch64", "aarch64-linux-gnu.2.17", "-mcpu=cortex_a35"),
        ("armhf", "arm-linux-gnueabihf.2.17", "-mcpu=cortex_a7"),
    ],
)
def test_zig(machine: Machine, abi: str, target: str, cpu: str) -> None:
    machine.install("zig")
    assert machine.find("zig", abi) == Compiler(
        "zig",
        abi,
        (str(machine.bin / "zig"), "cc", "-target", target),
        (cpu, "-fno-sanitize=undefined"),
    )


def test_zig_from_wheel_has_precedence(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.install("zig")
    wheel = machine.program(tmp_path / "site" / "ziglang" / "zig")
    (wheel.parent / "__init__.py").write_text("raise AssertionError('it need not be imported')\n")
    monkeypatch.delitem(sys.modules, "ziglang")
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert machine.find("zig", "armhf").command[0] == str(wheel)
    wheel.chmod(0o644)
    assert machine.find("zig", "armhf").command[0] == str(machine.bin / "zig")


def test_installed_zig_compiles(tmp_path: Path) -> None:
    compiler = find("zig", ABIS["x64"])
    (tmp_path / "empty.c").write_text("int answer = 42;\n")
    command = [*compiler.command, *compiler.flags, "-c", "empty.c", "-o", "empty.o"]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert (tmp_path / "empty.o").read_bytes().startswith(b"\x7fELF")


def test_linaro(machine: Machine) -> None:
    machine.linaro(AARCH64_GCC, ARMHF_GCC)
    rknn = machine.home / ".rknn"
    assert machine.find("linaro", "aarch64") == Compiler(
        "linaro",
        "aarch64",
        (str(rknn / AARCH64_GCC),),
        ("-march=armv8-a", "-mtune=cortex-a35"),
    )
    assert machine.find("linaro", "armhf") == Compiler(
        "linaro",
        "armhf",
        (str(rknn / ARMHF_GCC),),
        ("-mcpu=cortex-a7", "-mfpu=neon-vfpv4", "-mfloat-abi=hard", "-mfp16-format=ieee"),
    )


@pytest.mark.parametrize("toolchain", ["auto", "linaro"])
def test_linaro_without_zig_uses_host_gcc(machine: Machine, toolchain: str) -> None:
    machine.install("gcc")
    assert machine.find(toolchain, "x64") == Compiler(
        "gnu", "x64", (str(machine.bin / "gcc"),), ("-march=x86-64",)
    )


def test_auto_chooses_linaro_per_abi(machine: Machine) -> None:
    machine.install("zig")
    machine.linaro(ARMHF_GCC)
    assert machine.find("auto", "armhf").toolchain == "linaro"
    assert machine.find("auto", "aarch64").toolchain == "zig"


def test_gnu(machine: Machine) -> None:
    cross = ("aarch64-linux-gnu-gcc", "arm-linux-gnueabihf-gcc", "riscv64-linux-gnu-gcc")
    machine.install("gcc", *cross)
    names = {abi: Path(machine.find("gnu", abi).command[0]).name for abi in ABIS}
    assert names == {
        "x64": "gcc",
        "aarch64": "aarch64-linux-gnu-gcc",
        "armhf": "arm-linux-gnueabihf-gcc",
        "riscv64": "riscv64-linux-gnu-gcc",
    }
    assert machine.find("gnu", "aarch64").flags == ("-march=armv8-a", "-mtune=cortex-a35")
    machine.install("x86_64-linux-gnu-gcc")
    assert Path(machine.find("gnu", "x64").command[0]).name == "x86_64-linux-gnu-gcc"


def test_foreign_gcc_is_not_x64(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.install("gcc")
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert "sudo apt install gcc-x86-64-linux-gnu" in machine.refused("gnu", "x64")


@pytest.mark.parametrize(
    ("prefix", "abi"),
    [
        ("arm-buildroot-linux-gnueabihf-", "armhf"),
        ("armv7a-unknown-linux-gnueabihf-", "armhf"),
        ("arm-poky-linux-gnueabi-", "armhf"),
        ("aarch64-none-linux-gnu-", "aarch64"),
        ("arm64-linux-", "aarch64"),
        ("x86_64-buildroot-linux-gnu-", "x64"),
    ],
)
def test_prefix_implies_abi(machine: Machine, tmp_path: Path, prefix: str, abi: str) -> None:
    machine.install("zig")
    sdk = tmp_path / "my-sdk" / "bin"
    program = machine.program(sdk / f"{prefix}gcc")
    for name in ABIS:
        found = machine.find("prefix", name, f"{sdk}/{prefix}")
        if name == abi:
            assert found == Compiler("prefix", abi, (str(program),), ABIS[abi].gnu_flags)
        else:
            assert found.toolchain == "zig"


def test_prefix_on_path_with_sysroot(machine: Machine, tmp_path: Path) -> None:
    machine.install("aarch64-sdk-linux-gcc")
    found = machine.find("prefix", "aarch64", "aarch64-sdk-linux-", str(tmp_path))
    assert found.command == (str(machine.bin / "aarch64-sdk-linux-gcc"), f"--sysroot={tmp_path}")


def test_home_in_prefix_and_sysroot(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = machine.program(machine.home / "sdk/bin/arm-linux-gcc")
    monkeypatch.setenv("HOME", str(machine.home))
    monkeypatch.chdir(tmp_path)
    assert machine.find("prefix", "armhf", "~/sdk/bin/arm-linux-", "~/sdk").command == (
        str(program),
        f"--sysroot={machine.home}/sdk",
    )


def test_relative_paths_become_absolute(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.program(tmp_path / "sdk" / "arm-linux-gcc")
    monkeypatch.chdir(tmp_path)
    assert machine.find("prefix", "armhf", "sdk/arm-linux-", "sdk").command == (
        str(tmp_path / "sdk" / "arm-linux-gcc"),
        f"--sysroot={tmp_path / 'sdk'}",
    )


def test_another_abi_is_one_row(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = dataclasses.replace(
        ABIS["x64"], name="mips64", triple="mips64-linux-gnu", gnu_processors="mips64"
    )
    monkeypatch.setitem(ABIS, "mips64", row)
    machine.install("mips64-linux-gnu-gcc")
    machine.program(tmp_path / "mips64-sdk-linux-gcc")
    taken = ("auto", "linaro", "gnu")
    assert {machine.find(name, "mips64").toolchain for name in taken} == {"gnu"}
    machine.install("zig")
    taken = ("auto", "linaro", "zig")
    assert {machine.find(name, "mips64").toolchain for name in taken} == {"zig"}
    prefix = f"{tmp_path}/mips64-sdk-linux-"
    assert machine.find("prefix", "mips64", prefix).toolchain == "prefix"
    assert machine.find("prefix", "armhf", prefix).toolchain == "zig"
    assert "'arm-', 'riscv64-' or 'mips64-'" in machine.refused("prefix", "mips64", "mips-linux-")


def test_a_prefix_leaves_the_other_abis_to_auto(machine: Machine) -> None:
    machine.install("aarch64-a-gcc")
    assert machine.refused("prefix", "x64", "aarch64-a-").startswith(
        "toolchain=auto: no compiler for x64 (zig or gcc). Looked for:\n"
    )


def test_no_zig(machine: Machine) -> None:
    assert machine.refused("zig", "armhf") == (
        "toolchain=zig: no compiler for armhf (zig). Looked for:\n"
        f"  the package 'ziglang' of {sys.executable}\n"
        f"  zig on PATH ({machine.bin})\n"
        "Install it with\n"
        f"  {sys.executable} -m pip install ziglang"
    )


def test_zig_caches_where_it_can_write(tmp_path: Path) -> None:
    def cache_of(**variables: str) -> str:
        provide_cache(variables, tmp_path / "ours")
        return str(cache_folder(variables))

    home, taken = str(tmp_path / "home"), tmp_path / "taken"
    taken.touch()
    assert cache_of(HOME=home) == f"{home}/.cache/zig"
    assert cache_of(HOME=home, XDG_CACHE_HOME=f"{home}/xdg") == f"{home}/xdg/zig"
    assert cache_of(HOME=str(taken), ZIG_GLOBAL_CACHE_DIR="/chosen") == "/chosen"
    assert cache_of() == cache_of(HOME=str(taken)) == str(tmp_path / "ours")


def test_no_linaro(machine: Machine) -> None:
    machine.install("zig")
    assert machine.refused("linaro", "armhf") == (
        "toolchain=linaro: no compiler for armhf (linaro's gcc). Looked for:\n"
        f"  {machine.home}/.rknn/{ARMHF_GCC}\n"
        "Install it with\n"
        f"  mkdir -p {machine.home}/.rknn && "
        f"tar -xf {LINARO}_arm-linux-gnueabihf.tar.xz -C {machine.home}/.rknn\n"
        "  after downloading https://releases.linaro.org/components/toolchain/binaries/6.3-2017.05/"
        f"arm-linux-gnueabihf/{LINARO}_arm-linux-gnueabihf.tar.xz"
    )


@pytest.mark.parametrize(
    ("abi", "program", "package"),
    [
        ("x64", "x86_64-linux-gnu-gcc", "gcc"),
        ("aarch64", "aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"),
        ("armhf", "arm-linux-gnueabihf-gcc", "gcc-arm-linux-gnueabihf"),
    ],
)
def test_no_gnu(machine: Machine, abi: str, program: str, package: str) -> None:
    message = machine.refused("gnu", abi)
    assert message.startswith(f"toolchain=gnu: no compiler for {abi} (gcc). Looked for:\n")
    assert f"  {program} on PATH ({machine.bin})\n" in message
    assert message.endswith(f"Install it with\n  sudo apt install {package}")


def test_no_toolchain_error_lists_locations(machine: Machine) -> None:
    message = machine.refused("auto", "aarch64")
    assert "(linaro's gcc or zig)" in message
    assert f"  {machine.home}/.rknn/{AARCH64_GCC}\n" in message
    assert f"  zig on PATH ({machine.bin})\n" in message
    assert f"-C {machine.home}/.rknn\n" in message
    assert message.endswith(f".tar.xz\nor\n  {sys.executable} -m pip install ziglang")


def test_non_executable_is_not_compiler(machine: Machine) -> None:
    machine.linaro(ARMHF_GCC)
    (machine.home / ".rknn" / ARMHF_GCC).chmod(0o644)
    assert ARMHF_GCC in machine.refused("linaro", "armhf")


@pytest.mark.parametrize(
    ("toolchain", "prefix", "sysroot", "message"),
    [
        ("clang", "", "", "unknown toolchain 'clang' (expected auto, zig, linaro, gnu, prefix"),
        ("prefix", "", "", "toolchain=prefix needs prefix=, all of the compiler's path or name"),
        ("prefix", "/opt/sdk/bin/", "", "prefix=/opt/sdk/bin/: cannot tell which processor"),
        ("prefix", "mips64-linux-gnu-", "", "prefix=mips64-linux-gnu-: cannot tell which"),
        ("prefix", "/opt/aarch64", "", "prefix=/opt/aarch64: cannot tell which processor"),
        ("prefix", "/no/aarch64-", "", "no compiler there. Looked for:\n  /no/aarch64-gcc\n"),
        ("prefix", "aarch64-a-", "/no", "sysroot=/no: there is no folder /no"),
        ("zig", "aarch64-a-", "", "prefix=aarch64-a- has no meaning with toolchain=zig"),
        ("gnu", "", "/sysroot", "sysroot=/sysroot has no meaning with toolchain=gnu"),
    ],
)
def test_conflicting_arguments(
    machine: Machine, toolchain: str, prefix: str, sysroot: str, message: str
) -> None:
    machine.install("zig", "aarch64-a-gcc")
    assert message in machine.refused(toolchain, "aarch64", prefix, sysroot)


def test_toolchain_table_is_complete() -> None:
    assert toolchains.__doc__ is not None
    rows = [line.split()[0] for line in toolchains.__doc__.splitlines() if line.startswith("    ")]
    assert rows == ["toolchain", *toolchains.TOOLCHAINS]


def test_toolchains_know_no_runtime() -> None:
    for path in Path(str(toolchains.__file__)).parent.glob("*.py"):
        found = re.search(r"OpenVX|RKNN|rknnop|\.vx\b|VX_", path.read_text())
        assert found is None, f"{path.name}: {found}"
