"""A hostile description gets a short message, in bounded time and memory."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from opkit.description.reader import MAX_DEPTH, DescriptionError
from opkit.runtimes import complaints, parse
from opkit.runtimes.rknn.settings import PACKAGE_KEYS
from tests.marks import quick_first
from tests.repositories import ROOT

HEAD = "name: A\ninputs: {x: {type: VX_TYPE_TENSOR}}\noutputs: {y: {type: VX_TYPE_TENSOR}}\n"


def laughs(levels: int) -> str:
    """Return a list that is ten times as long for each level."""
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, levels)]
    return "".join(lines)


def merges(levels: int) -> str:
    """Return nested merge keys, in a default."""
    parts = ["&m0 {k: 1}"]
    for n in range(1, levels):
        parts.append(f"&m{n} {{<<: [{', '.join([f'*m{n - 1}'] * 9)}]}}")
    return f"{HEAD}params: {{p: {{type: VX_TYPE_ARRAY, default: [{', '.join(parts)}]}}}}\n"


PARAM = f"{HEAD}params: {{p: {{type: VX_TYPE_INT8, default: "
TEXTS = {
    "10 MB of one word": "name: " + "a" * 10_000_000,
    "10 MB of lines": "name: A\n" * 1_300_000,
    "200 kB of brackets": "[" * 199_000,
    "nested lists": f"{HEAD}params: {'[' * 100}{']' * 100}\n",
    "nested mappings": f"{HEAD}params: {'{a: ' * 100}1{'}' * 100}\n",
    "a billion laughs": HEAD + laughs(9),
    "a billion laughs in a default": f"{HEAD}params:\n  p: {laughs(9)}".replace("\na", "\n  a"),
    "merges in a default": merges(9),
    "terminal commands in a key": f'{HEAD}"\\e[2J\\e]0;title\\a": 1\n',
    "terminal commands in a value": f'{HEAD}framework: "\\e[31mred"\n',
    "terminal commands in a name": HEAD.replace("name: A", 'name: "\\e[31mred"'),
    "a key of 100 kB": f"{HEAD}{'k' * 100_000}: 1\n",
    "a param of 100 kB": f"{HEAD}params: {{{'k' * 100_000}: {{type: VX_TYPE_INT8}}}}\n",
    "a value of 100 kB": f"{HEAD}framework: {'k' * 100_000}\n",
    "a type of 100 kB": f"{HEAD}params: {{p: {{type: {'k' * 100_000}}}}}\n",
    "a numeric escape out of range": f'{HEAD}framework: "\\U2FFFFFFF"\n',
    "another numeric escape": f'{HEAD}framework: "\\UFFFFFFFF"\n',
    "a number of 100 kB": f"{PARAM}{'9' * 100_000}}}}}\n",
    "a base-60 number": f"{PARAM}{'1:' * 50_000}1}}}}\n",
    "a Python object": f"{PARAM}!!python/object:a.B {{}}}}}}\n",
}

PROGRAM = """
import json, sys
from opkit.common.errors import OpkitError
from opkit.runtimes import parse
try:
    parse(json.load(sys.stdin))
except OpkitError as error:
    print(json.dumps(str(error)))
"""


def limit() -> None:
    """Bound time and memory of the process, so that an endless one is killed."""
    resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))


@pytest.mark.parametrize("name", quick_first(2, TEXTS))
def test_description_is_refused_briefly(name: str, tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(TEXTS[name]),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limit,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    message = json.loads(run.stdout)
    assert message.startswith("op.yml:")
    assert len(message) < 700
    assert message.isprintable()


def test_deepest_nesting() -> None:
    """The value of an ignored key is limited in depth alone."""
    for lists, expected in ((MAX_DEPTH - 1, []), (MAX_DEPTH, ["is nested too deeply"])):
        text = f"{HEAD}{PACKAGE_KEYS[0]}: {'[' * lists}{']' * lists}\n"
        assert [each.problem for each in complaints(text, "op.yml")[1]] == expected


LOOK_ALIKES = [
    *("\N{CYRILLIC SMALL LETTER A}", "\N{FULLWIDTH LATIN SMALL LETTER A}", "gr\xf6\xdfe"),
    *("\N{LATIN SMALL LIGATURE FI}", "x\N{SUPERSCRIPT TWO}", "x\N{ZERO WIDTH SPACE}"),
    *("a b", "a\nb", "a'b", 'a"b', "a\\b"),
    *("{{a}}", "{% a %}", "${a}", "$(a)", "a;b", "a/b", "..", "a-b", "a?b", "*/", "1a", ""),
]


@pytest.mark.parametrize("section", ["name", "inputs", "outputs", "params"])
@pytest.mark.parametrize("name", LOOK_ALIKES, ids=ascii)
def test_name_that_only_looks_like_an_identifier(name: str, section: str) -> None:
    tensor = {"type": "VX_TYPE_TENSOR"}
    document: dict[str, object] = {"name": "A", "inputs": {"x": tensor}, "outputs": {"y": tensor}}
    document[section] = name if section == "name" else {name: tensor}
    with pytest.raises(DescriptionError) as error:
        parse(json.dumps(document))
    assert str(error.value).startswith(f"op.yml:1: {section}")
    assert str(error.value).isprintable()
