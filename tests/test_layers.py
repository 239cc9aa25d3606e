"""The layers of opkit and rknn_op: what may import what.

Every import counts, in functions and for type checkers too.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Set
from fnmatch import fnmatch
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from opkit.runtimes import available
from tests.repositories import ROOT

LAYERS = (
    # What everything may use.
    ("opkit.common",),
    ("opkit", "opkit.version", "opkit.manifest", "opkit.workspace_members"),
    # op.yml, and what it can say to a runtime.
    ("opkit.description",),
    ("opkit.toolchains",),
    # The sources that mutation tests change.
    ("opkit.mutation.plan",),
    # The interface of a runtime: types of kernels, the parts, the table.
    ("opkit.runtimes.executor", "opkit.runtimes.invocation"),
    ("opkit.runtimes.files", "opkit.runtimes.build"),
    ("opkit.runtimes.check", "opkit.runtimes.report"),
    ("opkit.runtimes.interface",),
    ("opkit.runtimes",),
    # The texts that every operator has.
    ("opkit.files",),
    # The cases: they run, are shown, and are built for.
    ("opkit.check",),
    ("opkit.report", "opkit.mutation"),
    ("opkit.build",),
    # Kernels in OpenCL C on the PC.
    ("opkit.opencl",),
    # The runtimes; none imports another one.
    ("opkit.runtimes.*",),
    ("opkit.runtimes.*.scons",),
    ("opkit.runtimes.*.build",),
    # A repository, and who works in it.
    ("opkit.repository", "opkit.shared_files"),
    ("opkit.testing", "opkit.sconstruct", "opkit.ci"),
    # The command: what all of it may use.
    ("rknn_op",),
    # New repositories.
    ("rknn_op.creation",),
    ("hooks", "rknn_op_template"),
    # What the command needs of a runtime: the type, the table. Its list looks at nodes.
    ("rknn_op.models.model_graph",),
    ("rknn_op.runtimes", "rknn_op.runtimes.models"),
    # Models with operators that a target lacks.
    ("rknn_op.models",),
    ("rknn_op.models.running",),
    ("rknn_op.models.rewriting",),
    ("rknn_op.models.scanning",),
    ("rknn_op.models.rewriting.rewrite_file",),
    ("rknn_op.models.drafting",),
    ("rknn_op.models.grafting",),
    # Repositories that exist.
    ("rknn_op.upkeep",),
    # The runtimes' own; none imports another one.
    ("rknn_op.runtimes.*",),
    # The verbs, and those of a runtime.
    ("rknn_op.verbs",),
    ("rknn_op.runtimes.*.verbs",),
    ("rknn_op.cli", "rknn_op.__main__"),
)
"""The layers from the bottom up. A module is in the layer whose pattern fits it best; it imports
from its own layer and from lower ones."""

COSTS = {
    "describe": {"numpy", "SCons", "elftools"},
    "files": {"numpy", "SCons", "elftools"},
    "build": {"numpy"},
    "check": {"SCons"},
    "report": {"SCons"},
    "models": {"numpy", "SCons", "elftools"},
}
"""Part of a runtime -> the distributions that its import must not load: they are missing where it
is asked for, or slow."""

Graph = Mapping[str, Set[str]]
"""Module -> the modules that it imports."""


def modules() -> dict[str, Path]:
    """Return all modules by name."""
    paths = [ROOT / "rknn_op_template.py"]
    for folder in ("opkit", "rknn_op", "hooks"):
        paths += (ROOT / folder).rglob("*.py")
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in paths
        if "templates" not in path.parts
    }


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the names that a syntax tree imports: modules, and what may be one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def graph_of(sources: Mapping[str, str]) -> dict[str, set[str]]:
    """Return which of some modules import which, by their texts."""

    def module(name: str) -> str:
        return name if name in sources else name.rpartition(".")[0]

    return {
        name: {module(each) for each in imported(ast.parse(text))} & {*sources}
        for name, text in sources.items()
    }


def layer_of(module: str) -> int:
    """Return the number of a module's layer."""
    fitting = {
        pattern: number
        for number, layer in enumerate(LAYERS)
        for pattern in layer
        if fnmatch(f"{module}.", f"{pattern}.*")
    }
    return fitting[max(fitting, key=len)]


def arrows_up(graph: Graph) -> list[str]:
    return [
        f"{module} imports {name}"
        for module, names in graph.items()
        for name in names
        if layer_of(name) > layer_of(module)
    ]


def circle(graph: Graph) -> list[str]:
    """Return the modules of a circle; nothing if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    return graph_of({name: path.read_text() for name, path in modules().items()})


def test_no_arrow_up(graph: Graph) -> None:
    assert len(graph) > 200
    assert arrows_up(graph) == []


def test_no_circle(graph: Graph) -> None:
    assert circle(graph) == []


def test_every_layer_is_needed(graph: Graph) -> None:
    assert {layer_of(module) for module in graph} == {*range(len(LAYERS))}


def test_only_a_runtime_imports_its_modules(graph: Graph) -> None:
    """Neither another runtime, nor a module outside of the folders of runtimes."""

    def runtime_of(module: str) -> str:
        found = re.match(r"(?:opkit|rknn_op)\.runtimes\.(\w+)", module)
        return found[1] if found and found[1] in available() else ""

    for module, names in graph.items():
        assert {runtime_of(name) for name in names} <= {runtime_of(module), ""}, module


def runtimes_in(text: str) -> set[str]:
    """Return the words of a text that are names of runtimes, or of their toolkits."""
    words = re.findall(r"\b[a-z]+\d?\b", re.sub(r"rknn[-_]op", "", text.lower()))
    return {*words} & {*available()}


def test_only_the_folder_of_a_runtime_names_it() -> None:
    """A text or a rule of the tool for one runtime is in the tool's part of that runtime."""
    named = {
        module: names
        for module, path in modules().items()
        if module.startswith("rknn_op.") and not module.startswith("rknn_op.runtimes.")
        if (names := runtimes_in(path.read_text()))
    }
    assert named == {}


def test_name_of_a_runtime_is_found() -> None:
    assert runtimes_in('if name == "rknn2": # RKNN-Toolkit, in .venv-rknn') == {"rknn", "rknn2"}
    assert runtimes_in("for PPLNN, a file.rknn") == {"pplnn", "rknn"}
    assert runtimes_in("`rknn-op check`, from rknn_op.cli; rknn-opkit, rknn_kernel_add.c") == set()


@pytest.mark.parametrize(
    "text",
    [
        "from opkit.check import cases",
        "import opkit.check.cases",
        "def function() -> None:\n    from opkit.check.cases import Case",
        "if TYPE_CHECKING:\n    from opkit.check.cases import Case",
    ],
)
def test_arrow_up_is_found(text: str) -> None:
    lower, upper = "opkit.description.spec", "opkit.check.cases"
    assert arrows_up(graph_of({lower: text, upper: ""})) == [f"{lower} imports {upper}"]
    assert arrows_up(graph_of({upper: f"import {lower}", lower: ""})) == []


def test_circle_is_found() -> None:
    a, b, c = (f"opkit.check.{name}" for name in "abc")
    texts = {a: f"import {b}", b: f"def f():\n    from {c} import g", c: f"from {a} import h"}
    assert {*circle(graph_of(texts))} == {a, b, c}
    assert circle(graph_of(texts | {c: ""})) == []


def loaded_with(module: str) -> set[str]:
    """Return the top-level packages that the import of a module loads."""
    program = f"import sys, {module}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return {*done.stdout.split()}


@pytest.mark.slow
@pytest.mark.parametrize("part", COSTS)
@pytest.mark.parametrize("runtime", ["rknn", "pplnn", "rknn2"])
def test_parts_load_no_more_than_they_may(runtime: str, part: str) -> None:
    package = "rknn_op" if part == "models" else "opkit"
    assert not loaded_with(f"{package}.runtimes.{runtime}.{part}") & COSTS[part]
