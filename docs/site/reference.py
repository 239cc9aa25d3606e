"""The reference: keys of descriptions, verbs, `scons -h`, outputs for programs."""

from __future__ import annotations

import html
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import click.testing

from opkit import runtimes
from opkit.report.profiles import EXPLANATIONS
from rknn_op import cli
from rknn_op.creation.choices import Choices
from rknn_op.creation.description_schema import schema
from rknn_op.creation.new_repository import create, plan_text
from rknn_op.own_opkit import unpacked

_WIDTH = 80  # columns of a terminal
_TEXT_TYPES = ["string", "number", "boolean"]  # YAML reads a text such as `1` as a number
_SHOWN = 2  # items of a list in an example of JSON
_OPERATOR = """\
name: Scale
framework: tensorflow
runtimes: [rknn, pplnn, rknn2]
inputs:
  x: {type: VX_TYPE_TENSOR}
outputs:
  y: {type: VX_TYPE_TENSOR}
params:
  factor: {type: float, default: 1.0}
"""


def pages() -> Mapping[str, str]:
    """Return path -> text of each page."""
    return {
        "reference/description.md": description(),
        "reference/command.md": verbs(),
        "reference/scons.md": scons(),
        "reference/report.md": report(),
        "reference/json.md": outputs(),
    }


def description() -> str:
    """Return the page on the keys of a description, from its JSON Schema."""
    whole = schema(runtimes.available(), runtimes.DEFAULT)
    rows = [
        _row(key, value) for key, value in whole["properties"].items() if "description" in value
    ]
    entries = [
        f"## Keys of an entry of `{key}`\n\n{_TABLE}"
        + "".join(
            _row(name, each) for name, each in value["additionalProperties"]["properties"].items()
        )
        for key, value in whole["properties"].items()
        if isinstance(value.get("additionalProperties"), dict)
    ]
    return "\n".join(
        [
            "# Keys of a description\n",
            "This page is made from the JSON Schema that `rknn-op schema` prints. "
            f"Required are {_names(whole['required'])}. "
            "[The description](../description.md) tells what they are for.\n",
            _TABLE + "".join(rows),
            *entries,
        ]
    )


_TABLE = "| key | meaning | values |\n| --- | --- | --- |\n"


def _row(key: str, value: Mapping[str, Any]) -> str:
    meaning = html.escape(value.get("description", ""), quote=False)
    return f"| `{key}` | {meaning} | {_values(value)} |\n"


def _values(value: Mapping[str, Any]) -> str:
    """Return the values that a schema allows, in words."""
    if "anyOf" in value:
        return " or ".join(dict.fromkeys(filter(None, map(_values, value["anyOf"]))))
    if "enum" in value:
        return _names(json.dumps(each).strip('"') for each in value["enum"])
    if value.get("type") == _TEXT_TYPES:
        return "a text"
    kinds = value.get("type", "any")
    kind = kinds if isinstance(kinds, str) else " or ".join(kinds)
    if "pattern" in value:
        # A spelling in any case of the words of `enum` has no information of its own.
        return "" if value["pattern"].startswith("^(?:[") else "a text"
    if kind.startswith("array"):
        return f"a list of {_values(value['items']).replace('a text', 'texts')}"
    limits = [value.get("minimum"), value.get("maximum")]
    return f"{kind}, {limits[0]} to {limits[1]}" if None not in limits else kind


def _names(words: Any) -> str:
    return ", ".join(dict.fromkeys(f"`{each}`" for each in words))


def verbs() -> str:
    """Return the page on the verbs of `rknn-op`, with the help of each."""
    names = cli.main.context_settings["help_option_names"]
    whole = click.Context(
        cli.main, info_name="rknn-op", max_content_width=_WIDTH, help_option_names=names
    )
    texts = [f"# Verbs\n\n{_block(cli.main.get_help(whole))}"]
    for name in cli.VERBS:
        verb = cli.main.get_command(whole, name)
        assert verb is not None
        context = click.Context(verb, whole, name, max_content_width=_WIDTH)
        texts.append(f"## `rknn-op {name}`\n\n{_block(verb.get_help(context))}")
    return "\n".join(texts)


def scons() -> str:
    """Return the page with `scons -h`, of an operator for all runtimes."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "Scale"
        create(plan_text(_OPERATOR, "the example", made, choices=Choices()))
        done = subprocess.run(
            [sys.executable, "-m", "SCons", "-Q", "-h"],
            cwd=made,
            env={**os.environ, "PYTHONPATH": str(unpacked(made))},
            check=True,
            capture_output=True,
            text=True,
        )
    return (
        "# Targets and options of `scons`\n\n"
        "`scons -h` of an operator for all runtimes. An operator for one has the lines of that "
        f"one.\n\n{_block(done.stdout)}"
    )


def report() -> str:
    """Return the page about the report."""
    rows = "".join(f"| {name} | {text} |\n" for name, text in EXPLANATIONS.items())
    return f"{_REPORT}\n## Where a kernel's time goes\n\n| part | meaning |\n| --- | --- |\n{rows}"


_REPORT = """\
# The report

`scons report` draws the results of the last check as one HTML page, `build/report.html`, without
anything from elsewhere. `scons verbose=1 check` prints the same columns.

| column | meaning |
| --- | --- |
| outcome | passed, failed, or left out with the reason |
| case | its test and its name |
| errors | a picture of where the elements are that differ |
| parity | the kernel's elements over the reference's |
| max error | the largest absolute difference |
| ulp | the largest difference in units of the last place of the output's dtype |
| time | the minimum time of the kernel function on this PC; it tells nothing about a board |
"""


def outputs() -> str:
    """Return the page on the outputs for programs, with an example of each."""
    texts = [_JSON]
    for arguments in (["targets", "--json"], ["library", "--json"]):
        result = click.testing.CliRunner().invoke(cli.main, arguments)
        assert result.exit_code == 0, result.output
        shortened = json.dumps(_shortened(json.loads(result.output)), indent=2)
        texts.append(f"## `rknn-op {' '.join(arguments)}`\n\n{_block(shortened, 'json')}")
    return "\n".join(texts)


_JSON = f"""\
# Outputs for programs

With `--json` a verb prints one JSON document on stdout, and messages on stderr. The exit status is
0, or 1 with the reason in a line on stderr, or 2 for a wrong command line. [scan](../scan.md) has
statuses of its own, and a table of the fields of its document. Examples show the first
{_SHOWN} items of a list.
"""


def _shortened(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shortened(each) for key, each in value.items()}
    return [_shortened(each) for each in value[:_SHOWN]] if isinstance(value, list) else value


def _block(text: str, language: str = "text") -> str:
    return f"```{language}\n{text.rstrip()}\n```\n"
