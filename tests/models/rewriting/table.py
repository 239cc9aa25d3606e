"""Write docs/rewrites.md, the table of all forms.

    python -m tests.models.rewriting.table PYTHON > docs/rewrites.md

PYTHON has RKNN-Toolkit2.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rknn_op.models.rewriting.simulation import Simulated
from rknn_op.runtimes.models import OperatorList
from tests.models.rewriting.examples import CHIPS, Example, examples, lists, simulated

HEAD = """\
# Forms of missing operators

`rknn-op rewrite` ([rewrite.md](rewrite.md)) tries these forms, for each operator from the top
down. `schema` is the function that ONNX itself gives in the operator's schema. Each row is the form
of one node with the sizes of a real model; written by:

    python -m tests.models.rewriting.table PYTHON > docs/rewrites.md

* **exact**: the same in float32 but for the order of sums, 2e-6 of the largest output; else the
  bound.
* **nodes**, **constants**: what the model gets instead of the node; constants in float16.
* **float16**: the largest difference if each tensor of the form is rounded to float16, relative to
  the largest output; the node gets inputs that are rounded alike.
* **simulator**: the same with RKNN-Toolkit2 2.5.0, which converts the form alone; `wrong`: it
  breaks the form, and `rewrite --toolkit` tries the next one.
* **left**: the operators that the toolkit leaves of the form, without Reshape and Transpose.
* **where**: `NPU`, or those of them on the runtime's CPU, by the vendor's lists of {chips}. RK3568
  has the list of RK3566, RV1126B that of RK3576.

"""
COLUMNS = (
    *("operator", "form", "becomes", "exact", "nodes", "constants", "float16"),
    *("simulator", "left", "where"),
)
LAYOUT = {"Reshape", "Transpose"}


def page(results: Sequence[Simulated]) -> str:
    """Return the page."""
    rows = [[*COLUMNS], ["---"] * len(COLUMNS)]
    for example, result in zip(examples(), results, strict=True):
        rows.append([*of_this_pc(example), *in_simulator(result)])
    head = HEAD.replace("{chips}", ", ".join(chip.upper() for chip in CHIPS))
    return head + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def of_this_pc(example: Example) -> Iterator[str]:
    """Yield the cells that need no toolkit."""
    body, form = example.trial.body, example.form
    yield form.op_type
    yield f"`{form.name}`"
    yield form.summary.rstrip(".")
    yield "exact" if form.is_exact else f"{form.error:g}"
    yield str(sum(body.op_types.values()))
    yield f"{body.weights / 1000:.1f} KB" if body.weights >= 1000 else "-"
    yield "wrong" if example.proof.problem else _largest(example.proof.half)


def in_simulator(result: Simulated) -> Iterator[str]:
    """Yield the cells of the toolkit."""
    if result.problem:
        yield from ("wrong", "-", "-")
        return
    yield _largest(result.differences)
    left = result.left - LAYOUT
    yield ", ".join(sorted(left)) or "nothing"
    texts = {chip: where(left, operators) for chip, operators in lists().items()}
    same = set(texts.values())
    yield same.pop() if len(same) == 1 else "; ".join(f"{c}: {text}" for c, text in texts.items())


def where(left: Iterable[str], operators: OperatorList) -> str:
    """Return where a chip runs what the toolkit leaves."""
    names = {each: operators.names.get(each, each) for each in left}
    elsewhere = {each for each, name in names.items() if name not in operators.operators}
    lacking = sorted(each for each in elsewhere if names[each] not in operators.cpu)
    if lacking:
        return f"lacks {', '.join(lacking)}"
    return f"CPU: {', '.join(sorted(elsewhere))}" if elsewhere else "NPU"


def _largest(differences: Sequence[object]) -> str:
    return f"{max((getattr(each, 'relative', 0.0) for each in differences), default=0.0):.1g}"


if __name__ == "__main__":
    print(page(simulated(Path(sys.argv[1]))), end="")
