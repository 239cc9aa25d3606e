"""Create and build the repositories of the tests once per run."""

from __future__ import annotations

import argparse
import functools
import os
import re
import sys
import textwrap
import zlib
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.repositories import (
    ROOT,
    Repository,
    built_once,
    folder_of_run,
    generate,
    generate_example,
    settings,
)
from tests.runtimes.rknn.vx.support import shared_folder

SLOW = "slow"
"""The mark of the tests that a run leaves out by default."""
NIGHTLY = "nightly"
"""The mark of the tests that only the option of this name runs."""

_BYTECODE = ROOT / ".pytest_cache/bytecode"
"""Outside of the sources' folders, which tests copy and compare."""

# Hide this machine's compilers and settings from the tests.
for variable in ("CC", "CFLAGS", "LDFLAGS", "PYTEST_ADDOPTS", "PYTHONPATH"):
    os.environ.pop(variable, None)
sys.dont_write_bytecode = True
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# A test with its own home still shares zig's cache.
os.environ.setdefault("ZIG_GLOBAL_CACHE_DIR", str(Path.home() / ".cache" / "zig"))
# All repositories of a run share a cache, which is not the tester's own.
os.environ["XDG_CACHE_HOME"] = str(folder_of_run() / "cache")
# Processes of tests cache their bytecode, as for users, but not beside the sources, which are
# compared.
os.environ["PYTHONPYCACHEPREFIX"] = str(folder_of_run() / "bytecode")
# pip would compile whole packages for environments that import few of their modules.
os.environ["PIP_COMPILE"] = "0"
# numpy starts threads for every processor when it is imported; no test multiplies large matrices.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# cookiecutter records its answers, by default in the tester's home.
os.environ["COOKIECUTTER_CONFIG"] = settings()


@pytest.fixture(scope="session", autouse=True)
def _pytest_of_users() -> Iterator[None]:
    """Keep the tester's plugins out of the pytest that checks repositories.

    Every start of pytest would import hypothesis, which takes longer than a typical check.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        yield


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Repository]:
    """Return the repository of an example, built for all targets; built once per run.

    The second argument is its only runtime, by default all of the example's.
    """

    @functools.cache
    def get(name: str, runtime: str = "") -> Repository:
        key = f"{name} for {runtime}" if runtime else name
        built = built_once(key, lambda folder: generate_example(folder, name, runtime))
        return built.copy(tmp_path_factory.mktemp(name))

    return get


@pytest.fixture(scope="session")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Return a built repository of the template's default answers; do not change it."""
    return built_once("fresh", generate).copy(tmp_path_factory.mktemp("fresh"))


@pytest.fixture
def xdist(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the pytest that checks repositories the tester's plugins, with pytest-xdist."""
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")


@pytest.fixture
def copy_of_fresh(fresh: Repository, tmp_path: Path) -> Repository:
    """Return a copy of the fresh, built repository for a test that changes it."""
    return fresh.copy(tmp_path)


@pytest.fixture(scope="session")
def vx_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that all VX kernels of the tests are compiled in."""
    return shared_folder(tmp_path_factory)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to an empty folder, with an empty home."""
    home = tmp_path / "home"
    here = tmp_path / "here"
    home.mkdir()
    here.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("COOKIECUTTER_CONFIG")
    monkeypatch.chdir(here)
    return here


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Cache the bytecode of the tests, which pytest rewrites, and of what they import."""
    sys.pycache_prefix, sys.dont_write_bytecode = str(_BYTECODE), False
    try:
        return (yield)
    finally:
        sys.pycache_prefix, sys.dont_write_bytecode = None, True


def _shard(text: str) -> tuple[int, int]:
    """Parse K/N, the K-th of N shards."""
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if match and 1 <= int(match[1]) <= int(match[2]):
        return int(match[1]), int(match[2])
    raise argparse.ArgumentTypeError(f"invalid {text!r} (expected K/N with 1 <= K <= N)")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --shard, by which several machines share the tests, and --nightly."""
    parser.addoption(
        "--shard", type=_shard, default=(1, 1), metavar="K/N", help="run the K-th of N parts"
    )

    parser.addoption(f"--{NIGHTLY}", action="store_true", help="do not leave out the nightly tests")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Select the tests of the shard, without the nightly ones by default.

    The tests of a parameter stay together, since those of an operator share its build; the tests
    without one stay together by their file.
    """
    shard: tuple[int, int] = config.getoption("shard")
    number, count = shard
    is_nightly: bool = config.getoption(NIGHTLY)

    def is_left_out(item: pytest.Item) -> bool:
        if not is_nightly and item.get_closest_marker(NIGHTLY):
            return True
        file, _, test = item.nodeid.partition("::")
        _, _, parameter = test.partition("[")
        return zlib.crc32((parameter or file).encode()) % count != number - 1

    if left_out := [item for item in items if is_left_out(item)]:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not is_left_out(item)]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Name the tests that did not run: the tests require Python alone."""
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", ())
        if isinstance(report.longrepr, tuple)
    )
    if reasons:
        terminalreporter.section("left out")
    for reason, count in reasons.most_common():
        line = f"{count} test{'s' * (count > 1)}: {reason}"
        terminalreporter.write_line(textwrap.fill(line, 80, subsequent_indent="  "))
    if terminalreporter.config.option.markexpr == f"not {SLOW}":
        terminalreporter.write_line(
            f"the {SLOW} tests: run them by `pytest -m {SLOW}`, all by `pytest -m '' --{NIGHTLY}`"
        )
