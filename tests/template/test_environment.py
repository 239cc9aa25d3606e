"""The template's distribution and a repository's wheel in one environment."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from benchmarks.command import build_wheel
from rknn_op.creation.wheel import wheel
from tests.marks import slow_first
from tests.repositories import EXAMPLES, generate, settings

TEMPLATE, OPKIT = "rknn-op-template", "rknn-opkit"
DESCRIPTION = EXAMPLES / "exp/exp.yml"


class Environment:
    """A virtual environment beside the dependencies of both distributions.

    Args:
        folder: the parent of the environment.
        required: the folder of the dependencies.
    """

    def __init__(self, folder: Path, required: Path) -> None:
        self.path = folder / "venv"
        venv.create(self.path)
        self.required = required

    def pip(self, *arguments: str | Path) -> None:
        """Run the tester's pip on the environment."""
        pip = (sys.executable, "-m", "pip", "--python", self.path / "bin/python", "--quiet")
        subprocess.run([*pip, "--disable-pip-version-check", *arguments], check=True)

    def run(self, *arguments: str | Path, cwd: Path) -> str:
        """Run Python in the environment; return what it prints."""
        done = subprocess.run(
            [self.path / "bin/python", *arguments],
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": str(self.required)},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout if done.returncode == 0 else done.stderr

    def packages(self) -> set[str]:
        """Return the names of the installed packages."""
        (site,) = self.path.glob("lib/python*/site-packages")
        return {path.name for path in site.iterdir()}


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return distribution -> its wheel."""
    folder = tmp_path_factory.mktemp("wheels")
    own, data = wheel()
    (folder / own.name).write_bytes(data)
    return {TEMPLATE: build_wheel(folder / "template"), OPKIT: folder / own.name}


@pytest.fixture(scope="module")
def required(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the dependencies; one for all tests, which share its bytecode."""
    folder = tmp_path_factory.mktemp("required")
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if not path.name.startswith(("rknn_op", "opkit")):
            (folder / path.name).symlink_to(path)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("removed", slow_first(1, [TEMPLATE, OPKIT]))
@pytest.mark.parametrize("first", slow_first(1, [TEMPLATE, OPKIT]))
def test_both_distributions(
    first: str, removed: str, wheels: dict[str, Path], required: Path, tmp_path: Path
) -> None:
    repository = generate(tmp_path, str(DESCRIPTION)).path
    environment = Environment(tmp_path, required)
    before = environment.packages()

    def create(name: str) -> str:
        arguments = ("create", "-c", DESCRIPTION, "-p", name)
        return environment.run("-m", "rknn_op", *arguments, cwd=tmp_path)

    def scons() -> str:
        return environment.run("-m", "SCons", "-h", cwd=repository)

    for name in sorted(wheels, key=lambda name: name != first):
        environment.pip("install", "--no-deps", "--no-index", wheels[name])
    assert "Exp is ready" in create("with_both")
    assert "scons check" in scons()

    environment.pip("uninstall", "--yes", removed)
    if removed == OPKIT:
        assert "Exp is ready" in create("alone")
        assert "scons check" in scons()  # by the repository's wheel
    else:
        assert "scons check" in scons()
        assert "No module named" in create("alone")

    (left,) = {*wheels} - {removed}
    environment.pip("uninstall", "--yes", left)
    assert environment.packages() == before


@pytest.mark.slow
@pytest.mark.parametrize("has_rknn_op", [True, False])
def test_installed_template_finds_its_rknn_op(
    has_rknn_op: bool, wheels: dict[str, Path], required: Path, tmp_path: Path
) -> None:
    """The template of an installation works by cookiecutter, also from another environment."""
    installed = Environment(tmp_path / "installed", required)
    installed.pip("install", "--no-deps", "--no-index", wheels[TEMPLATE])
    (template,) = installed.path.glob("lib/python*/site-packages/rknn_op/template")
    environment = installed if has_rknn_op else Environment(tmp_path, required)
    answers = (f"config={DESCRIPTION}", "op_name=made")
    command = ("-m", "cookiecutter", template, "--no-input", "--config-file", settings())
    assert "scons check" in environment.run(*command, *answers, cwd=tmp_path)
    assert (tmp_path / "made/generated/manifest.json").is_file()
