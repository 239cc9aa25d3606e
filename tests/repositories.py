"""Run the template, and work in generated repositories as a user does."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import functools
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cookiecutter.main import cookiecutter

from opkit import runtimes
from opkit.description.spec import OpSpec
from rknn_op.creation import operator_library
from rknn_op.creation.choices import DEFAULTS, Choices
from rknn_op.creation.description_texts import adapted
from rknn_op.creation.new_repository import create
from rknn_op.creation.operator_library import plan_operator
from rknn_op.creation.wheel import wheel

ROOT = Path(__file__).resolve().parent.parent
TEMPLATE = ROOT / "{{cookiecutter.op_name}}"
EXAMPLES = ROOT / "operators"
EXAMPLE_DESCRIPTIONS = operator_library.descriptions(EXAMPLES)
EXAMPLE_NAMES = [path.stem for path in EXAMPLE_DESCRIPTIONS]
LIBRARY = {each.spec.name: each for each in operator_library.operators(EXAMPLES)}
"""Name of each operator of the library -> the operator; read once per process."""
_EXAMPLES = {each.folder.name: each for each in LIBRARY.values()}
RKNN_OPERATORS = [name for name in EXAMPLE_NAMES if "rknn" in _EXAMPLES[name].spec.runtimes]
RKNN_EXAMPLES = [
    name for name in RKNN_OPERATORS if name == "mish" or not _EXAMPLES[name].spec.elementwise
]
"""The examples for RKNN-Toolkit 1.x; one of the elementwise ones, whose files are generated."""
RKNN2_EXAMPLES = [name for name in EXAMPLE_NAMES if _EXAMPLES[name].spec.runtimes != ("pplnn",)]
"""The examples whose tensors RKNN-Toolkit2 has."""
ONNX_OPERATORS = {operator.folder.name: name for name, operator in LIBRARY.items() if operator.onnx}
"""The examples of ONNX's own operators -> the operator."""
FIRST_LINK = re.compile(r"compiling the C(\+\+)? library of \S+, once")
"""The message of the first link for an ABI on a new machine."""
OWN_BYTECODE = {"PYTHONPYCACHEPREFIX": "", "PYTHONDONTWRITEBYTECODE": "1"}
"""Variables for a Python of another environment, whose packages have their bytecode beside them."""
_FOLDER_OF_RUN = "RKNN_OP_TESTS_FOLDER"


@dataclass(frozen=True)
class Repository:
    """A generated repository, with the commands of a user.

    Attributes:
        path: its folder.
        opkit: the stand-in for site-packages; empty: the one of installed_opkit.
    """

    path: Path
    opkit: str = ""

    def run(
        self, *command: str, check: bool = True, path: str = "/nonexistent"
    ) -> subprocess.CompletedProcess[str]:
        """Run `python -m ...` in the repository, by default on a PATH without a compiler."""
        result = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=self.path,
            env={**os.environ, "PYTHONPATH": self.opkit or installed_opkit(), "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        if check:
            assert result.returncode == 0, result.stdout + result.stderr
        return result

    def scons(
        self, *arguments: str, check: bool = True, path: str = "/nonexistent"
    ) -> subprocess.CompletedProcess[str]:
        """Run `scons` in the repository."""
        return self.run("SCons", *arguments, check=check, path=path)

    def copy(self, folder: Path) -> Repository:
        """Return a copy in a folder; what is built there is not built again."""
        path = shutil.copytree(self.path, folder / self.path.name, symlinks=True)
        return Repository(path, self.opkit)


def folder_of_run() -> Path:
    """Return the folder that all processes of the run share; the first one makes and removes it."""
    if _FOLDER_OF_RUN not in os.environ:
        os.environ[_FOLDER_OF_RUN] = tempfile.mkdtemp(prefix="opkit-run-")
        atexit.register(shutil.rmtree, os.environ[_FOLDER_OF_RUN], ignore_errors=True)
    return Path(os.environ[_FOLDER_OF_RUN])


@functools.cache
def installed_opkit() -> str:
    """Return the stand-in for the site-packages of a user with the wheel installed."""
    shared = folder_of_run() / "site-packages"
    if not shared.exists():
        own = tempfile.mkdtemp(dir=folder_of_run())
        with zipfile.ZipFile(io.BytesIO(wheel()[1])) as archive:
            archive.extractall(own)
        with contextlib.suppress(OSError):  # another worker was faster
            Path(own).rename(shared)
    return str(shared)


@functools.cache
def settings() -> str:
    """Return a settings file that keeps cookiecutter out of the tester's home."""
    folder = tempfile.mkdtemp(prefix="cookiecutter-", dir=folder_of_run())
    path = Path(folder) / "settings.yml"
    path.write_text(f"replay_dir: {folder}/replay\ncookiecutters_dir: {folder}/templates\n")
    return str(path)


def copy_template(folder: Path) -> Path:
    """Copy the template's files, without bytecode, and return the folder."""
    folder.mkdir()
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("hooks", "licenses", "opkit", "rknn_op", TEMPLATE.name):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    for name in ("cookiecutter.json", "rknn_op_template.py"):
        shutil.copy(ROOT / name, folder)
    return folder


def generate(folder: Path, config: str = "", op_name: str = "") -> Repository:
    """Run the template in a folder and return the repository."""
    context = {"config": config, "op_name": op_name}
    made = cookiecutter(
        str(ROOT),
        no_input=True,
        extra_context={key: value for key, value in context.items() if value},
        output_dir=str(folder),
        config_file=settings(),
    )
    return Repository(Path(made))


def generate_example(folder: Path, name: str, runtime: str = "") -> Repository:
    """Generate the repository of an example, and copy the example's files into it.

    Args:
        folder: the folder to generate it in.
        name: the example.
        runtime: the only runtime; empty: all of the example's.
    """
    text = (EXAMPLES / name / f"{name}.yml").read_text()
    if runtime:
        text, _ = adapted(text, [runtime])
    repository = generate(folder, text)
    for path, data in example_files(name, runtimes.parse(text)).items():
        target = repository.path / path
        is_new = path.startswith("tests/")  # users may add more of them
        assert is_new or target.is_file(), f"{target} is not a file that a user fills in"
        target.write_bytes(data)
    return repository


def example_files(name: str, spec: OpSpec) -> dict[str, bytes]:
    """Return path -> content of an example's own files, for the runtimes of a description."""
    files = _EXAMPLES[name].files(spec)
    return {path: data for path, data in files.items() if path != "README.md"}


@functools.cache
def example_folder(name: str, spec: OpSpec | None = None) -> Path:
    """Return a folder with an example's own files, for the runtimes of a description.

    Args:
        name: the example.
        spec: the description; None: the example's.
    """
    spec = spec or _EXAMPLES[name].spec

    def make(folder: Path) -> None:
        for path, data in example_files(name, spec).items():
            target = folder / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)

    return made_once(f"files of {name} for {spec.runtimes}", make).path


def library_kernels(
    name: str,
    count: int = 0,
    dtypes: Sequence[tuple[str, str]] = (),
    choices: Choices = DEFAULTS,
    cflags: Sequence[str] = (),
) -> Repository:
    """Return the repository of an operator of the library, built for this PC without a warning.

    One process of the run makes and builds it. All share it, so that no one may change it.

    Args:
        name: the operator's name.
        count: the count of inputs, if that varies; 0: as in the library.
        dtypes: tensors and their dtypes that op.yml declares.
        choices: runtimes and kernels, if not those of the library.
        cflags: of op.yml.
    """
    own = LIBRARY[name]
    operator = (own.with_inputs(count) if count else own).with_dtypes(dict(dtypes))
    kind = "" if operator.text == own.text else " ".join([str(count), *map(":".join, dtypes)])
    kind += " ".join([*choices.runtimes, *choices.kernels, *cflags])

    def make(folder: Path) -> Repository:
        plan = plan_operator(operator, folder / name, choices)
        plan = replace(plan, text=f"{plan.text}\ncflags: {[*cflags]}") if cflags else plan
        create(plan)
        repository = Repository(plan.folder)
        built = repository.scons("-s", "target=x64")
        lines = (built.stdout + built.stderr).splitlines()
        printed = [line for line in lines if not FIRST_LINK.fullmatch(line)]
        assert not printed, printed
        return repository

    return made_once(f"{name} {kind} for this PC", make)


def built_once(name: str, make: Callable[[Path], Repository]) -> Repository:
    """Return a repository that one process of the run makes and builds for all targets.

    The other ones wait for it. All share it, so it is for copies only.
    """

    def make_built(folder: Path) -> Repository:
        repository = make(folder)
        repository.scons("target=all")
        return repository

    return made_once(name, make_built)


def made_once(name: str, make: Callable[[Path], object]) -> Repository:
    """Return a repository that one process of the run makes; the other ones wait for it."""
    folder = folder_of_run() / "repositories" / name
    folder.parent.mkdir(exist_ok=True)
    with (folder.parent / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            folder.mkdir()
            try:
                make(folder)
            except BaseException:
                shutil.rmtree(folder)
                raise
    (path,) = folder.iterdir()
    return Repository(path)
