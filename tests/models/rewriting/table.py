"""Write docs/rewrites.md, the table of all forms.

    python -m tests.models.rewriting.table PYTHON > docs/rewrites.md

PYTHON has RKNN-Toolkit2.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rknn_op.models.rewriting.body import Body
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
* **chips**: `NPU`, or the operators of the runtime's CPU among them, or those that the chip lacks,
  by the vendor's lists. RK3568 has the list of RK3566, RV1126B that of RK3576.

"""
COLUMNS = ("operator", "form", "becomes", "exact", "nodes", "constants", "float16", "simulator")


def page(results: Sequence[Simulated]) -> str:
    """Return the page."""
    rows = [[*COLUMNS, *CHIPS], ["---"] * (len(COLUMNS) + len(CHIPS))]
    for example, result in zip(examples(), results, strict=True):
        rows.append([*of_this_pc(example), in_simulator(result), *places(example.trial.body)])
    return HEAD + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def of_this_pc(example: Example) -> Iterator[str]:
    """Yield the cells that need no toolkit."""
    body, form = example.trial.body, example.form
    yield form.op_type
    yield f"`{form.name}`"
    yield form.summary.rstrip(".")
    yield "exact" if form.is_exact else f"{form.error:g}"
    yield str(sum(body.op_types.values()))
    yield f"{body.weights / 1000:.1f} KB" if body.weights >= 1000 else "-"
    yield "wrong" if example.proof.problem else f"{_largest(example.proof.half)}"


def in_simulator(result: Simulated) -> str:
    """Return the cell of the simulator."""
    return f"wrong: {result.problem}"[:60] if result.problem else _largest(result.differences)


def _largest(differences: Sequence[object]) -> str:
    return f"{max((getattr(each, 'relative', 0.0) for each in differences), default=0.0):.1g}"


def places(body: Body) -> Iterator[str]:
    """Yield for each chip where the form runs."""
    for operators in lists().values():
        yield _place(body, operators)


def _place(body: Body, operators: OperatorList) -> str:
    lacking = sorted(each for each in body.op_types if operators.missing(each))
    on_cpu = sorted(each for each in body.op_types if operators.is_on_cpu(each))
    if lacking:
        return f"lacks {', '.join(lacking)}"
    return f"CPU: {', '.join(on_cpu)}" if on_cpu else "NPU"


if __name__ == "__main__":
    print(page(simulated(Path(sys.argv[1]))), end="")
