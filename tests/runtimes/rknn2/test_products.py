"""`scons` in a repository for RKNN-Toolkit2: its products, deliveries and refusals."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from opkit.runtimes.rknn2.chips import REFUSED_TARGETS, TARGETS
from opkit.runtimes.rknn2.report import built_plugins
from opkit.toolchains import elf
from opkit.toolchains.abi import ABIS
from tests.check.target_repositories import counts, need
from tests.marks import quick_first
from tests.repositories import ROOT, Repository, generate
from tests.runtimes.rknn2.support import RUNTIME

DESCRIPTION = """\
name: Blend
runtimes: [rknn2]
inputs: {input: {type: VX_TYPE_TENSOR}}
outputs: {output: {type: VX_TYPE_TENSOR}}
params:
  alpha: {type: float, default: 0.5}
  size: {type: ints, source: "const:size"}
  mode: {type: string, default: nearest}
"""
PLUGIN = "librkcst_blend.so"
ARCHIVE = "libblend_custom_op.a"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Return a repository built for every target; do not change it."""
    repository = generate(tmp_path_factory.mktemp("blend"), DESCRIPTION)
    repository.scons("target=all")
    return repository


@pytest.fixture
def copy(built: Repository, tmp_path: Path) -> Repository:
    """Return a copy of the repository for a test that changes it."""
    shutil.copytree(built.path, tmp_path / "Blend")
    return Repository(tmp_path / "Blend")


def test_every_target_gets_plugin_and_archive(built: Repository) -> None:
    for target in TARGETS:
        folder = built.path / "build" / target
        assert sorted(path.name for path in folder.iterdir()) == [ARCHIVE, PLUGIN]
    assert not (built.path / "rknn_op_blend.py").exists()
    assert not list(built.path.rglob("*.rknnop"))


def check_plugin(path: Path, abi: str) -> None:
    library = elf.read(path.read_bytes())
    assert library.architecture == ABIS[abi].elf
    assert library.exports == ("get_rknn_custom_op",)
    assert library.needed[0] == "librknnrt.so"
    assert library.unversioned == ("rknn_custom_op_get_op_attr",)
    newest = elf.newest_glibc(library)
    assert newest is not None
    assert tuple(map(int, newest.split("."))) <= (2, 17)


def test_plugin(built: Repository) -> None:
    check_plugin(built.path / "build/rk3588" / PLUGIN, "aarch64")


@pytest.mark.slow
def test_other_abi_has_a_folder_of_its_own(copy: Repository) -> None:
    copy.scons("target=rk3568", "abi=armhf")
    check_plugin(copy.path / "build/rk3568-armhf" / PLUGIN, "armhf")
    check_plugin(copy.path / "build/rk3568" / PLUGIN, "aarch64")
    assert "up to date" in copy.scons("target=all").stdout
    assert "up to date" in copy.scons("target=rk3568", "abi=armhf").stdout
    printed = copy.scons("deploy", "target=rk3568", "abi=armhf").stdout
    assert "For a RK3568 board with an armhf system that runs rknn_server" in printed
    assert f"    adb push build/rk3568-armhf/{PLUGIN} " in printed

    math = copy.path / "blend_compute.h"
    math.write_text(math.read_text() + "/* changed */\n")
    assert "aarch64" not in copy.scons("target=rk3568", "abi=armhf").stdout
    copy.scons("-c", "build/rk3568-armhf", "target=rk3568", "abi=armhf")
    assert not (copy.path / "build/rk3568-armhf" / PLUGIN).exists()
    assert (copy.path / "build/rk3568" / PLUGIN).exists()
    copy.scons(f"build/rk3568-armhf/{PLUGIN}", "target=rk3568", "abi=armhf")
    assert not (copy.path / "build/rk3568-armhf" / ARCHIVE).exists()
    copy.scons("-c")
    assert not [*copy.path.glob("build/rk3568*/*")]


@pytest.mark.slow
@pytest.mark.nightly
def test_failed_build_keeps_products_of_the_other_abi(copy: Repository) -> None:
    copy.scons("target=rk3568", "abi=armhf")
    (copy.path / "blend_compute.h").write_text("#error broken\n")
    assert copy.scons("target=rk3568", "abi=armhf", check=False).returncode == 2
    assert not [*copy.path.glob("build/rk3568-armhf/*")]
    assert (copy.path / "build/rk3568" / PLUGIN).exists()


@pytest.mark.slow
@pytest.mark.nightly
def test_printed_products_are_of_the_built_abi(copy: Repository) -> None:
    def printed(*arguments: str) -> list[str]:
        result = subprocess.run(
            [sys.executable, "-m", "rknn_op", "build", "-p", copy.path, *arguments],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        return [Path(line).parent.name for line in result.stdout.splitlines()]

    assert printed("-t", "rk3588", "--", "abi=armhf") == ["rk3588-armhf"] * 2
    assert printed("--", "abi=aarch64") == ["rk3588"] * 2
    assert printed("-t", "all") == [name for name in sorted(TARGETS) for _ in range(2)]


def test_static_library(built: Repository) -> None:
    data = (built.path / "build/rk3588" / ARCHIVE).read_bytes()
    assert data.startswith(b"!<arch>\n")
    assert b"blend_register_all\0" in data
    assert b"get_rknn_custom_op" not in data  # two operators would both define it


def test_second_build_is_noop(built: Repository) -> None:
    assert "up to date" in built.scons("target=all").stdout


@pytest.mark.parametrize("target", quick_first(1, REFUSED_TARGETS))
def test_chip_without_custom_operators(built: Repository, target: str) -> None:
    refused = built.scons(f"target={target.upper()}", check=False)
    assert refused.returncode == 2
    assert f"{target.upper()} has no custom operators: RKNN-Toolkit2 converts" in refused.stderr
    assert "expected rk3588, rk3576, rk3568, rk3566, rk3562, rv1126b" in refused.stderr


def test_deploy(built: Repository) -> None:
    printed = built.scons("deploy", "target=rk3576").stdout
    folder = "/usr/lib/rknpu/op_plugins"
    assert f"    adb push build/rk3576/{PLUGIN} {folder}/{PLUGIN}\n" in printed
    assert "restart" in printed
    assert "pass os=android" in printed
    assert "android" not in built.scons("deploy", "target=rv1126b").stdout


def test_deploy_to_every_chip(built: Repository) -> None:
    printed = built.scons("deploy", "target=all").stdout
    assert [f"For a {name.upper()} board" in printed for name in TARGETS] == [True] * len(TARGETS)


def test_plugins_in_report(built: Repository) -> None:
    products = {product.file: product.cells for product in built_plugins(built.path)}
    assert products[f"build/rv1126b/{PLUGIN}"] == {
        "plugin": (built.path / "build/rv1126b" / PLUGIN).stat().st_size,
        "compiled for": ABIS["aarch64"].elf,
        "glibc": "2.17",
    }


def test_damaged_plugin_in_report(copy: Repository) -> None:
    (copy.path / "build/rk3588" / PLUGIN).write_bytes(b"no library")
    problems = [product.problem for product in built_plugins(copy.path)]
    assert [problem for problem in problems if problem] == [
        "not an ELF file: it begins with b'no l'"
    ]


def test_deploy_needs_chip(built: Repository) -> None:
    refused = built.scons("deploy", "target=x64", check=False)
    assert "pass its chip with target= (expected rk3588, " in refused.stderr


@pytest.mark.slow
def test_check_and_clean(copy: Repository) -> None:
    # Three shapes, two kinds of values, and the params: alpha and size have five other values.
    assert counts(copy.scons("check").stdout) == {"CPU kernel": 36}
    copy.scons("-c", "target=all")
    assert not [path for path in (copy.path / "build").rglob("*") if path.suffix in (".so", ".a")]


@pytest.mark.slow
@pytest.mark.nightly
def test_check_on_targets(copy: Repository) -> None:
    for abi, program in {"aarch64": "qemu-aarch64-static", "armhf": "qemu-arm-static"}.items():
        need(program, "qemu-user-static")
        checked = copy.scons("target=rv1126b", f"abi={abi}", "check", path=os.environ["PATH"])
        assert counts(checked.stdout) == {"CPU kernel": 36, f"CPU kernel, {abi}": 36}


@pytest.mark.slow
@pytest.mark.nightly
def test_check_with_sanitizers(copy: Repository) -> None:
    need("gcc", "gcc libc6-dev")
    checked = copy.scons("sanitize=address,undefined", "quick=1", "check", path=os.environ["PATH"])
    assert counts(checked.stdout)["CPU kernel, address,undefined"] == 36


# ---- The vendor's headers ----

API = """\
#ifndef _RKNN_API_H
#define _RKNN_API_H
#include <stdint.h>
{types}
#endif
"""
CUSTOM_OP = """\
#ifndef _RKNN_CUSTOM_OP_H
#define _RKNN_CUSTOM_OP_H
#include "rknn_api.h"
typedef struct {{ int unused; }} not_ours, *not_ours_either;
typedef not_ours* (*function_without_prototype)();
{operators}
#endif
"""


@pytest.fixture
def vendor(tmp_path: Path) -> Path:
    """Return a folder with other headers of the same interface, as in the SDK."""
    text = (RUNTIME / "include/rknn_custom_op.h").read_text()
    body = text[text.index("#define RKNN_MAX_DIMS") : text.index("/* ---- Layouts")]
    types, operators = body.split("/* ---- Operators ---- */")
    end = "\n#ifdef __cplusplus\n}\n#endif\n"
    folder = tmp_path / "sdk"
    folder.mkdir()
    (folder / "rknn_api.h").write_text(API.format(types=types))
    (folder / "rknn_custom_op.h").write_text(
        CUSTOM_OP.format(operators=operators.replace(end, "\n"))
    )
    return folder


@pytest.mark.slow
def test_headers_of_vendor(copy: Repository, vendor: Path) -> None:
    shutil.rmtree(copy.path / "include/librknnrt")
    built = copy.scons(f"RKNN_INCLUDE={vendor}", "target=rk3588")
    assert "compile build/rknn2/aarch64/rknn2/blend_custom_op.c.o" in built.stdout
    assert "warning" not in built.stderr
    check_plugin(copy.path / "build/rk3588" / PLUGIN, "aarch64")


def test_headers_of_vendor_are_missing(built: Repository, vendor: Path) -> None:
    (vendor / "rknn_api.h").unlink()
    refused = built.scons(f"RKNN_INCLUDE={vendor}", check=False)
    assert f"RKNN_INCLUDE={vendor}: no rknn_api.h there" in refused.stderr


# ---- Refusals of a build ----


@pytest.mark.slow
def test_plugin_that_cannot_be_loaded_is_not_delivered(copy: Repository) -> None:
    math = copy.path / "blend_compute.h"
    text = math.read_text()
    missing = "int rknn_unknown(void);\nstatic const char *blend_compute("
    math.write_text(
        text.replace("static const char *blend_compute(", missing).replace(
            "    return NULL;\n}", "    return rknn_unknown() ? NULL : NULL;\n}"
        )
    )
    failed = copy.scons("target=rk3588", check=False)
    assert failed.returncode == 2
    assert "rknn_unknown" in failed.stderr
    assert not (copy.path / "build/rk3588" / PLUGIN).exists()
    assert (copy.path / "build/rk3576" / PLUGIN).exists()


@pytest.mark.slow
def test_exported_symbols_of_sources_stay_inside(copy: Repository) -> None:
    (copy.path / "more.c").write_text("int more(void);\nint more(void)\n{\n    return 1;\n}\n")
    with (copy.path / "op.yml").open("a") as file:
        file.write("sources: [more.c]\n")
    copy.scons("target=rk3588")
    check_plugin(copy.path / "build/rk3588" / PLUGIN, "aarch64")
    assert b"more.c.o" in (copy.path / "build/rk3588" / ARCHIVE).read_bytes()


@pytest.mark.slow
def test_operator_without_params_needs_the_runtime(copy: Repository) -> None:
    description = copy.path / "op.yml"
    description.write_text(description.read_text().partition("params:")[0])
    copy.scons("target=rk3588")
    library = elf.read((copy.path / "build/rk3588" / PLUGIN).read_bytes())
    assert library.needed[0] == "librknnrt.so"
    assert library.unversioned == ()


@pytest.mark.slow
def test_generated_file_among_sources(copy: Repository) -> None:
    with (copy.path / "op.yml").open("a") as file:
        file.write("sources: [rknn2/blend_custom_op.c]\n")
    refused = copy.scons("target=rk3588", check=False)
    assert re.search(r"sources\[0\]: rknn2/blend_custom_op.c is compiled anyway", refused.stderr)


def test_readme(built: Repository) -> None:
    text = (built.path / "README.md").read_text()
    assert "nodes `cstBlend` (inputs: input, size) |" in text
