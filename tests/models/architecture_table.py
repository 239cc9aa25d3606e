"""Takes architectures from PyTorch to a converted model, by the command alone; makes their table.

    python -m tests.models.architecture_table [NAME...] > docs/architectures.yml
    python -m docs.site.evidence > docs/evidence.md

RKNN_OP_TORCH_PYTHON names the Python of architectures.py, RKNN_OP_RKNN2_PYTHON the toolkit's.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from tests.repositories import OWN_BYTECODE
from tests.rknn_op.command import process

PROGRAM = Path(__file__).with_name("architectures.py")
EXPORTERS = ("torchscript", "dynamo")
TORCH_VARIABLE = "RKNN_OP_TORCH_PYTHON"
TOOLKIT_VARIABLE = "RKNN_OP_RKNN2_PYTHON"

_ERROR = re.compile(r"^error: (.*)", re.M)
_SENSITIVE = re.compile(r"^warning: output '([^']*)' changes by up to ", re.M)
_NODES = re.compile(r"^Each node on .*:\n.*\n((?:.+\n)+)", re.M)
_TORCH = "torch torchgen sympy mpmath networkx jinja2 markupsafe fsspec filelock".split()
"""torch, and what it imports that the toolkit's environment does not have."""

Row = dict[str, Any]
"""The result of a model.

missing: missing or unsuitable operator -> count of its nodes in the exported model.
cleaned: the same in the cleaned model.
rewritten: operator -> count of the cleaned model's nodes that `rewrite` writes with operators that
    the chip has.
refused: what the converter refuses in the cleaned model, by the lists.
made: the operators with a repository.
green: those of them whose check passes.
nodes: the count of nodes in the grafted model that were compared.
equal: the count of them whose outputs are equal.
built: whether the toolkit built the grafted model; if nothing is missing, the cleaned one.
sensitive: the outputs whose difference in the simulator is tolerated, because small changes of the
    inputs make as large ones.
reasons: the errors on the way, and what to do about unsuitable operators.
"""


def names(python: str) -> list[str]:
    """Return the names of all models, `architecture, exporter`."""
    return [
        f"{name}, {each}" for name in run_elsewhere(python, PROGRAM).split() for each in EXPORTERS
    ]


def export(python: str, name: str, folder: Path) -> Path:
    """Export a model; return its file."""
    architecture, exporter = name.split(", ")
    file = folder / "model.onnx"
    run_elsewhere(python, PROGRAM, architecture, exporter, file)
    return file


def with_torch(toolkit: str, python: str, folder: Path) -> Path:
    """Return a Python with the toolkit and with the torch of another Python.

    The toolkit computes with torch in some models. The tests' environment has a stub of it, because
    the import of torch takes seconds.
    """
    version, site = (
        run_elsewhere(
            each, "-c", "import sys, site; print(sys.version_info[:2], site.getsitepackages()[0])"
        )
        for each in (toolkit, python)
    )
    (toolkit_version, _), (torch_version, packages) = (
        each.strip().rsplit(" ", 1) for each in (version, site)
    )
    assert toolkit_version == torch_version, f"{toolkit} and {python} must have the same version"
    folder.mkdir()
    for name in _TORCH:
        (folder / name).symlink_to(Path(packages) / name)
    file = folder / "python"
    variables = {"PYTHONPATH": str(folder), **OWN_BYTECODE}
    text = " ".join(f"{name}={shlex.quote(value)}" for name, value in variables.items())
    file.write_text(f'#!/bin/sh\n{text} exec {shlex.quote(toolkit)} "$@"\n')
    file.chmod(0o755)
    return file


def run_elsewhere(*command: str | Path, cwd: Path | None = None) -> str:
    """Run a Python of another environment; return its output."""
    variables = {**os.environ, **OWN_BYTECODE}
    done = subprocess.run(
        command, cwd=cwd, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def row(model: Path, toolkit: Path) -> Row:
    """Take an exported model to a converted one; return its row.

    The repositories and the grafted model are written beside it.
    """
    folder = model.parent
    reasons: list[str] = []

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        done = process(*arguments, cwd=folder)
        assert "Traceback" not in done.stderr, done.stderr
        reasons.extend(_ERROR.findall(done.stderr.replace(str(toolkit), "PYTHON")))
        return done

    exported = json.loads(run("scan", model.name, "--as-is", "--json").stdout)
    cleaned = json.loads(run("scan", model.name, "--toolkit", toolkit, "--json").stdout)
    reasons += [f"{each['op_type']}: {each['remedy']}" for each in cleaned["unsuitable"]]
    made: list[str] = []
    nodes: list[str] = []
    sensitive: list[str] = []
    is_built = bool(cleaned["toolkit"]["version"]) and not cleaned["missing"]
    rewritten: dict[str, int] = {}
    if cleaned["missing"]:
        rewritten = _rewritten(model, toolkit, _counts(cleaned))
        run("create", "--from", model.name, "--all", "-p", "operators", "--toolkit", toolkit)
        made = sorted(path.parent.name for path in folder.glob("operators/*/op.yml"))
    green = [name for name in made if run("check", "-p", f"operators/{name}").returncode == 0]
    if made:
        roots = [f"operators/{name}" for name in made]
        done = run("graft", model.name, "-p", *roots, "-o", "out.onnx", "--toolkit", toolkit)
        if table := _NODES.search(done.stdout):
            nodes = table[1].splitlines()
        sensitive = _SENSITIVE.findall(done.stderr)
        is_built = (folder / "out.rknn").exists()
    return {
        "missing": _counts(exported),
        "cleaned": _counts(cleaned),
        "rewritten": rewritten,
        "refused": [each["problem"] for each in cleaned["refused"]],
        "made": made,
        "green": green,
        "nodes": len(nodes),
        "equal": sum(line.endswith(" equal") for line in nodes),
        "built": is_built,
        "sensitive": sensitive,
        "reasons": reasons,
    }


def _rewritten(model: Path, toolkit: Path, cleaned: Mapping[str, int]) -> dict[str, int]:
    """Rewrite a model; return operator -> count of its rewritten nodes."""
    output = model.with_name("rewritten.onnx")
    done = process("rewrite", model.name, "-o", output.name, "--toolkit", toolkit, cwd=model.parent)
    assert "Traceback" not in done.stderr, done.stderr
    if not output.exists():
        assert "error: " in done.stderr, done.stderr
        return {}
    scan = process("scan", output.name, "--as-is", "--json", cwd=model.parent)
    left = _counts(json.loads(scan.stdout))
    counts = {op_type: count - left.get(op_type, 0) for op_type, count in cleaned.items()}
    return {op_type: count for op_type, count in counts.items() if count}


def _counts(scan: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, int]:
    found = [*scan["missing"], *scan["unsuitable"]]
    return {each["op_type"]: len(each["nodes"]) for each in found}


def main() -> None:
    """Print the table as YAML."""
    # Absolute, but not resolved: the Python of an environment is a link.
    torch, toolkit = (
        os.path.abspath(os.environ[name])  # noqa: PTH100
        for name in (TORCH_VARIABLE, TOOLKIT_VARIABLE)
    )
    for name in sys.argv[1:] or names(torch):
        with tempfile.TemporaryDirectory() as folder:
            both = with_torch(toolkit, torch, Path(folder) / "toolkit")
            found = {name: row(export(torch, name, Path(folder)), both)}
        print(yaml.safe_dump(found, sort_keys=False, width=100), end="", flush=True)


if __name__ == "__main__":
    main()
