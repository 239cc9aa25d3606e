"""The page of evidence about the vendors' closed parts and published architectures.

Its data are docs/evidence.yml and docs/architectures.yml.

python -m docs.site.evidence > docs/evidence.md
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

_DOCS = Path(__file__).resolve().parents[1]
DATA = _DOCS / "evidence.yml"
ARCHITECTURES = _DOCS / "architectures.yml"
CERTAINTIES = {
    "proven": "it ran in the vendor's own runtime or library, of the named version",
    "evidenced": "published code or documents of the vendor show it",
    "inferred": "nothing decides it; the most probable choice was taken",
    "unknown": "no choice was taken: refused by name, or reported as an event",
}
"""Certainty -> its meaning; the most certain first."""

_HEAD = """\
# Evidence

RKNN-Toolkit, its runtimes and the language of `.vx` files are closed. No operator ran on a board
for this project. This page says of each assumption how certain it is, and what shows it. It is made
from `docs/evidence.yml`.

| word | meaning |
| --- | --- |
"""
_ARCHITECTURES = """\
## Published architectures

The way of models with random weights in small configurations from PyTorch to RKNN-Toolkit2 2.5.0
and rk3588, by `scan`, `create --from`, `check` and `graft --toolkit`, without a change by hand.
RAFT was written for it, the others are those of transformers. `torchscript` is PyTorch's older
exporter, `dynamo` the newer one. *missing* are the operators that are missing or that a custom
operator cannot replace, with the counts of their nodes, *cleaned* the same after cleaning.
*rewritten* are those of them that `rewrite --toolkit` writes with operators that the chip has, each
right in the simulator: they need no custom operator. *equal* is the count of grafted nodes with the
original's outputs, *built* whether the toolkit built the grafted model, or the cleaned one where
nothing is missing. *simulated* are the grafted model's outputs in the toolkit's simulator: equal,
or sensitive, where 0.2 % of noise on the inputs changes the original's outputs as much, so that
they prove nothing. The table is made from `docs/architectures.yml`, which
`python -m tests.models.architecture_table` writes.

| model | exporter | missing | cleaned | rewritten | made | green | equal | built | simulated |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
"""
_CELLS = ("missing", "cleaned", "rewritten", "made", "green")
_LIMITS = """\
## Limits

* A correct result on the host runtime, in an emulator or in a simulator does not prove that a board
  gives it. `scons target=T check qemu=ssh:HOST` asks the board.
* The VX emulator runs the `.vx` file as it is, over the work items that its initializer sets. It
  tests a kernel's logic. It does not prove that the vendor's compiler takes the file, and predicts
  neither speed nor limits on registers and instructions. `exp`, `log`, `rsqrt`, division and the
  like may differ from the device's in the last bits: tolerances are per operator and stand in its
  test file.
* Every load and store of a VX kernel is checked on the PC: an access outside a variable, an array,
  a uniform or a table is named with its line (not under a limit on address space, `ulimit -v`). Two
  calls of one function with a barrier in it count as one barrier. Work items run one after the
  other, in both orders; a race that neither order shows is not seen. The emulator runs on x86-64
  Linux alone. The generated VX kernel and those of the examples take FLOAT16.
* Tensors are dense, of rank 1 to 6, FLOAT16, FLOAT32, or integers up to 64 bits.
* The reference is pasted into the file of RKNN-Toolkit 1.x's class: a few global names, such as the
  operator's own, are refused there.
* Of an allocation over 32 MB the check fills 16 MB at each end: uninitialized memory between is not
  found.
"""


@dataclass(frozen=True)
class Claim:
    """A statement on a closed part.

    Attributes:
        text: the statement, in Markdown.
        certainty: a key of CERTAINTIES.
        by: what shows it; empty if nothing does.
        tests: the files of the tests of it, relative to the project.
        messages: what opkit says of it, literally.
    """

    text: str
    certainty: str
    by: str
    tests: Sequence[str]
    messages: Sequence[str]


def claims() -> Mapping[str, Sequence[Claim]]:
    """Return part -> its claims, the most certain first."""
    order = [*CERTAINTIES]
    return {
        part: sorted(map(_claim, entries), key=lambda claim: order.index(claim.certainty))
        for part, entries in yaml.safe_load(DATA.read_text()).items()
    }


def _claim(entry: Mapping[str, Any]) -> Claim:
    return Claim(
        entry["claim"],
        entry["certainty"],
        entry.get("by", ""),
        entry.get("tests", ()),
        entry.get("messages", ()),
    )


def page() -> str:
    """Return the page."""
    meanings = "".join(f"| *{word}* | {meaning} |\n" for word, meaning in CERTAINTIES.items())
    sections = [_section(part, found) for part, found in claims().items()]
    return "\n".join([_HEAD + meanings, *sections, _table(architectures()), _LIMITS])


def architectures() -> Mapping[str, Mapping[str, Any]]:
    """Return the rows of tests/models/architecture_table.py: `architecture, exporter` -> row."""
    rows: Mapping[str, Mapping[str, Any]] = yaml.safe_load(ARCHITECTURES.read_text())
    return rows


def _table(rows: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the table of the architectures, with the reasons of those that are not built."""
    text = _ARCHITECTURES
    for name, found in rows.items():
        cells = [
            *name.split(", "),
            *(_names(found[key]) for key in _CELLS),
            f"{found['equal']} of {found['nodes']}" if found["nodes"] else "",
            "yes" if found["built"] else "no",
            _simulated(found),
        ]
        text += f"| {' | '.join(cells)} |\n"
    built = [found for found in rows.values() if found["built"]]
    rewritten, cleaned = (
        sum(count for found in built for count in found[key].values())
        for key in ("rewritten", "cleaned")
    )
    text += (
        f"\nIn the models that are built, {rewritten} of the {cleaned} nodes that cleaning leaves "
        "missing are rewritten.\n"
    )
    failed = {name: found for name, found in rows.items() if not found["built"]}
    models: dict[str, list[str]] = {}
    for name, found in failed.items():
        for reason in found["reasons"]:
            models.setdefault(reason, []).append(name.replace(",", " by"))
    reasons = "".join(f"* {reason} ({'; '.join(names)})\n" for reason, names in models.items())
    return f"{text}\nWhat the command printed for the others:\n\n{reasons}"


def _simulated(found: Mapping[str, Any]) -> str:
    if not (found["built"] and found["made"]):
        return ""
    return f"sensitive: {', '.join(found['sensitive'])}" if found["sensitive"] else "equal"


def _names(operators: Mapping[str, int] | Sequence[str]) -> str:
    """Return the names of operators, with the counts of their nodes."""
    if isinstance(operators, Mapping):
        return ", ".join(f"{name} {count}" for name, count in operators.items())
    return ", ".join(operators)


def _section(part: str, found: Sequence[Claim]) -> str:
    rows = "".join(f"| {each.certainty} | {each.text} | {each.by} |\n" for each in found)
    return f"## {part}\n\n|  | claim | shown by |\n| --- | --- | --- |\n{rows}"


if __name__ == "__main__":
    print(page(), end="")
