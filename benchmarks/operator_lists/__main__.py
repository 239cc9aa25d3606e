"""Measure what RKNN-Toolkit2 makes of each operator of ONNX, as YAML.

    python -m benchmarks.operator_lists PYTHON [OPERATOR ...] [--folder FOLDER] [--write]

PYTHON has RKNN-Toolkit2, with PyTorch. The models are those of contexts.py; they stay in FOLDER.
Operators with cases that differ are listed on stderr. With OPERATORs, only these are measured; the
entries of the others are the recorded ones. --write records the lists instead of printing them.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx
import yaml

from benchmarks.operator_lists import contexts
from rknn_op.models import onnx_model
from rknn_op.runtimes.rknn2 import models as rknn2

TARGET = "rk3588"
COMMAND = "python -m benchmarks.operator_lists PYTHON --write"
RECORD = Path(rknn2.__file__).with_name("conversions.yml")
"""The recorded lists."""
_MAX_REASON = 70
_LAYOUT = {"Reshape", "Transpose"}
"""Nodes that the toolkit adds around a Conv, too; every chip has them."""
_FLOW = {"left": None, "refused": False, "constant": None}
"""The style of each list in YAML: items of a list are on one line."""


@dataclass(frozen=True)
class Build:
    """The result for a model.

    Attributes:
        opset: the opset.
        case: the case.
        left: the types of the nodes that are not the context's.
        refusal: why there are none; empty if the toolkit builds the model.
    """

    opset: int
    case: str
    left: frozenset[str]
    refusal: str

    @property
    def changing(self) -> int | None:
        """The position of the input that is not constant, too; None: the inputs are as usual."""
        found = re.search(r"\.input(\d+)$", self.case)
        return int(found[1]) if found else None


def read(folder: Path) -> dict[str, list[Build]]:
    """Return entry of the lists -> the results for its models in a folder."""
    found: dict[str, list[Build]] = {}
    for model in sorted(folder.glob("*.onnx"), key=lambda each: each.stem):
        op_type, opset, case = model.stem.split(".", 2)
        package, reason = model.with_suffix(".rknn"), model.with_suffix(".txt")
        text = reason.read_text() if reason.is_file() else ""
        if "by zero" in text:  # the toolkit runs models with zeros, also as divisors
            continue
        refusal = _line(text) if text else ""
        built = () if refusal else rknn2.nodes_of(package.read_bytes())
        left = {type_ for type_, name in built if not name.startswith(contexts.CONTEXT)} - _LAYOUT
        node = next(each for each in onnx_model.read(model).nodes if each.op_type == op_type)
        builds = found.setdefault(rknn2.entry(node), [])
        builds.append(Build(int(opset), case, frozenset(left), refusal))
    return found


def _line(reason: str) -> str:
    """Return the last error of a traceback as one short line."""
    errors = re.findall(r"^[\w.]*?(?:\w*Error|Fail|\w*Exception|\w+Argument): (.+)$", reason, re.M)
    line = (errors or reason.strip().splitlines())[-1]
    line = re.sub(r"\[ONNXRuntimeError\] : \d+ : \w+ : ", "onnxruntime: ", line)
    line = line.replace(f"('{contexts.OPERATOR}')", "")
    return line if len(line) <= _MAX_REASON else f"{line[:_MAX_REASON].rpartition(' ')[0]} ..."


def lists(found: Mapping[str, Iterable[Build]]) -> dict[str, Any]:
    """Return the lists: what is left, refused, and has to be constant."""
    left, refused, constant = {}, {}, {}
    for op_type, builds in found.items():
        usual = [each for each in builds if each.changing is None]
        built = [each for each in usual if not each.refusal]
        if not built:
            refused[op_type] = usual[0].refusal
            continue
        if (names := sorted(frozenset.union(*(each.left for each in built)))) != [op_type]:
            left[op_type] = names
        votes: Counter[int] = Counter()  # position -> models that are refused, less those built
        takes = {(each.opset, each.case) for each in built}
        for each in builds:
            usual_case = each.opset, each.case.partition(".")[0]
            if each.changing is not None and usual_case in takes:
                votes[each.changing] += 1 if each.refusal else -1
        if positions := sorted(position for position, vote in votes.items() if vote >= 0):
            constant[op_type] = positions
    return {"left": left, "refused": refused, "constant": constant}


def updated(
    record: Mapping[str, Any], operators: Collection[str], new: Mapping[str, Any]
) -> dict[str, Any]:
    """Return recorded lists with the new entries of some operators."""
    return {
        name: {key: each for key, each in record[name].items() if key.split()[0] not in operators}
        | entries
        for name, entries in new.items()
    }


def differences(found: Mapping[str, Iterable[Build]]) -> str:
    """Return the operators whose usual cases differ, as lines."""
    lines = []
    for op_type, builds in found.items():
        results: dict[str, list[str]] = {}
        for each in builds:
            if each.changing is None:
                result = each.refusal or ", ".join(sorted(each.left)) or "nothing"
                results.setdefault(result, []).append(f"{each.opset} {each.case}")
        if len(results) > 1:
            lines += [f"{op_type}:"]
            lines += [f"  {result}: {'; '.join(cases)}" for result, cases in results.items()]
    return "".join(f"{line}\n" for line in lines)


def measured(python: Path, operators: list[str], folder: Path) -> dict[str, list[Build]]:
    """Write and build the models; return the results.

    Args:
        python: a Python with the toolkit.
        operators: the operators; empty: all.
        folder: the folder for the models.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, model in contexts.models(operators):
        onnx.save(model, folder / f"{name}.onnx")
    script = Path(__file__).with_name("builds.py")
    subprocess.run([python, script, folder, TARGET], check=True)
    return read(folder)


def text(lists_: Mapping[str, Any], toolkit: str) -> str:
    """Return the content of the YAML file."""
    opsets = f"{contexts.OPSETS[0]} to {contexts.OPSETS[-1]}"
    head = f"""\
# What RKNN-Toolkit2 makes of the operators of ONNX. Written by:
#
#     {COMMAND}
#
# Models of three nodes: Conv, the operator, Conv; float32, opsets {opsets}, for {TARGET}.
#
#   left       operator -> the nodes in its place, without Reshape and Transpose, and without those
#              that are fused into a Conv; without an entry: its own
#   refused    operator -> why the toolkit builds none of its models
#   constant   operator -> the positions of the inputs that have to be constant in most models
#
# `GatherND along one axis` has computed indices of the first axis alone.
"""
    sections = [
        yaml.safe_dump({name: entries}, default_flow_style=_FLOW[name], width=100)
        for name, entries in lists_.items()
    ]
    return "\n".join([head, f"toolkit: {toolkit}\n", *sections])


def main() -> None:
    """Measure, and print or record the lists."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.operator_lists")
    parser.add_argument("python", type=Path)
    parser.add_argument("operators", nargs="*", metavar="OPERATOR")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    toolkit = "RKNN-Toolkit2 "
    toolkit += subprocess.run(
        [
            options.python,
            "-c",
            "import importlib.metadata as m; print(m.version('rknn-toolkit2'))",
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    record = yaml.safe_load(RECORD.read_text(encoding="utf-8"))
    if options.operators and toolkit != record["toolkit"]:
        parser.error(f"{RECORD.name} is of {record['toolkit']}; measure all operators")
    with tempfile.TemporaryDirectory() as scratch:
        found = measured(options.python, options.operators, options.folder or Path(scratch))
    measured_lists = lists(found)
    if options.operators:
        measured_lists = updated(record, options.operators, measured_lists)
    content = text(measured_lists, toolkit)
    if options.write:
        RECORD.write_text(content, encoding="utf-8")
    else:
        print(content, end="")
    print(differences(found), end="", file=sys.stderr)


if __name__ == "__main__":
    main()
