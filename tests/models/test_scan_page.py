"""docs/scan.md: its output is that of the command, and it documents every field of the JSON."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result
from onnxruntime.transformers.float16 import convert_float_to_float16

from rknn_op.cli import main
from rknn_op.models.model_files import MAX_NODES
from rknn_op.models.scanning import ToolkitReport, Unsuitable, scan_file
from rknn_op.runtimes.models import models_of
from rknn_op.verbs.scan import as_json
from tests.models.models import (
    classifier,
    detection_head,
    frozen_graph,
    saved,
    saved_graph,
    text_encoder,
)
from tests.pages import assert_printed, blocks, console
from tests.repositories import ROOT

PAGE = (ROOT / "docs/scan.md").read_text()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with the page's model."""
    monkeypatch.chdir(tmp_path)
    saved(detection_head(20), tmp_path, "head.onnx")
    return tmp_path


def scan(*arguments: str) -> Result:
    """Run the command."""
    return CliRunner().invoke(main, ["scan", *arguments])


@pytest.mark.parametrize(("command", "expected"), [*console(PAGE)])
def test_documented_output(folder: Path, command: str, expected: list[str]) -> None:
    program, verb, *arguments = shlex.split(command)
    assert (program, verb) == ("rknn-op", "scan")
    result = scan(*arguments)
    assert result.exit_code == 1
    assert_printed(expected, result.stdout)
    assert len(result.stdout.splitlines()) == len(expected)


def test_documented_json(folder: Path) -> None:
    [example] = blocks("json", PAGE)
    assert json.loads(example) == json.loads(scan("head.onnx", "--json").stdout)


def fields(value: Any, prefix: str = "") -> Iterator[str]:
    """Yield the paths of all fields of a JSON value, such as `cpu[].nodes`."""
    if isinstance(value, list):
        for each in value:
            yield from fields(each, f"{prefix}[]")
    elif isinstance(value, dict) and not prefix.endswith((".attributes", ".npu", ".cpu")):
        for key, each in value.items():
            path = f"{prefix}.{key}" if prefix else key
            yield path
            yield from fields(each, path)


def test_every_field_is_documented(folder: Path) -> None:
    result = scan_file(Path("head.onnx"), None)
    report = ToolkitReport("Toolkit", "2.5.0", ("one",))
    unsuitable = (Unsuitable("Shape", result.missing[0].nodes, "reason", "remedy"),)
    whole = replace(result, toolkit=report, unsuitable=unsuitable)
    [(name, form)] = result.rewrites.items()
    without = replace(whole, rewrites={name: replace(form, bodies=(), reasons=("why",))})
    found = {*fields(as_json(whole)), *fields(as_json(without))}
    section = PAGE.partition("## JSON")[2].partition("\n## ")[0]
    documented = re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)
    same = {each.replace(".outputs[]", ".inputs[]") for each in found}
    assert sorted(documented) == sorted(same)


def test_documented_exit_statuses(folder: Path) -> None:
    saved(text_encoder(), folder, "text.onnx")
    statuses = [scan(each).exit_code for each in ("text.onnx", "head.onnx", "none.onnx")]
    documented = re.findall(r"^\| (\d) \|", PAGE, re.MULTILINE)
    assert [*map(int, documented)] == statuses
    assert scan("head.onnx", "--target", "none").exit_code == 2
    assert scan("--none").exit_code == 2


def test_documented_options() -> None:
    """The page names every option of the command."""
    command = main.get_command(click.Context(main), "scan")
    assert command is not None
    options = {name for each in command.params for name in each.opts if name.startswith("--")}
    assert {name for name in options if name not in PAGE} == set()


def test_documented_defaults_and_limits(folder: Path) -> None:
    saved_graph(frozen_graph(), folder)
    targets = [
        json.loads(scan(each, "--json").stdout)["target"] for each in ("head.onnx", "graph.pb")
    ]
    assert f"another chip than `{targets[0]}` or `{targets[1]}`" in PAGE
    assert f"{MAX_NODES:,} nodes" in PAGE


def test_links_and_sources() -> None:
    for link in re.findall(r"\]\(([^)#]+)", PAGE):
        assert (ROOT / "docs" / link).is_file()
    assert "PPLNN_SRC" in PAGE
    ways = models_of("rknn2").operators("rk3588", None).ways
    assert re.findall(r"^\| `(\w+)` \| (?:`cst|nothing)", PAGE, re.MULTILINE) == [*ways]


def test_unsorted_nodes_are_sorted_as_documented(folder: Path) -> None:
    saved(convert_float_to_float16(classifier(17), keep_io_types=True), folder, "unsorted.onnx")
    result = scan("unsorted.onnx")
    assert "docs/scan.md shows how to sort them" in result.stderr
    [program] = blocks("python", PAGE)
    exec(compile(program, "scan.md", "exec"), {})
    assert scan("sorted.onnx").exit_code == 1
