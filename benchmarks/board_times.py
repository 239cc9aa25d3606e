"""Count the instructions of the library's operators of ONNX on 64-bit ARM.

    python -m benchmarks.board_times [--operators TopK ...] [--record]

Compiles the math of an operator with the flags of a product, and counts the instructions of one
call of moderate size with qemu. Prints them per unit of work, the elements or products that
rknn_op/models/costs.py counts in a node. With --record, writes operators/instructions.yml, from
where `rknn-op scan` estimates times on the boards.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from benchmarks import calls, instructions
from benchmarks.operators.calls import CALLS
from benchmarks.operators.measurement import described, invocation_of, operators
from opkit.check.operators import Operator
from opkit.common.text import c_string
from opkit.description.spec import OpSpec, Param
from opkit.runtimes.invocation import Invocation
from opkit.toolchains.flags import EXACT, optimization
from rknn_op.creation import new_repository, operator_library
from rknn_op.creation.choices import Choices
from rknn_op.models import costs
from rknn_op.models.model_graph import Node, Tensor
from tests.operators.oracle import Call

COMMAND = "python -m benchmarks.board_times --record"
ABI = "aarch64"
RUNTIME = "rknn2"
SMALL = 1  # of an operator's calls: qemu writes a line for each block of instructions


def counted(name: str) -> costs.Count | None:
    """Return the count of an operator's small call; None: its work has no formula.

    Args:
        name: of an operator of the library.

    Raises:
        RuntimeError: the call fails.
    """
    call = CALLS[name][SMALL].call()
    with tempfile.TemporaryDirectory() as parent:
        plan = operator_library.plan(name, Path(parent, name), Choices(runtimes=[RUNTIME]))
        new_repository.create(plan)
        operator = Operator(plan.folder)
        invocation = invocation_of(operator, call)
        work = costs.work(node_of(name, call, invocation))
        if work is None:
            return None
        write_call(operator.spec, invocation, plan.folder)
        source = Path(__file__).with_name("board_call.c")
        flags = (*optimization(ABI, "zig"), *EXACT)
        program = calls.compiled(plan.folder, ABI, flags, "program", source=source)
        data, log = str(plan.folder / "data"), plan.folder / "log"
        blocks = instructions.executed(program.command, program.path, [data], log)
    if blocks is None:
        raise RuntimeError(f"{name}: the call of {described(call)} fails")
    per_work = instructions.total(blocks) / work
    return costs.Count(float(f"{per_work:.3g}"), described(call))


def node_of(name: str, call: Call, invocation: Invocation) -> Node:
    """Return the node of a model for a call."""

    def tensor(name: str, shape: tuple[int, ...], dtype: Any) -> Tensor:
        return Tensor(name, shape, np.dtype(dtype).name)

    inputs = (tensor(each, array.shape, array.dtype) for each, array in call.inputs.items())
    outputs = (tensor(each, *output) for each, output in invocation.outputs.items())
    attributes = {
        each: tuple(value) if isinstance(value, list) else value
        for each, value in call.attributes.items()
    }
    return Node(name, name, "", tuple(inputs), tuple(outputs), attributes)


def write_call(spec: OpSpec, invocation: Invocation, folder: Path) -> None:
    """Write case.h, and the elements of the inputs, into an operator's repository."""
    inputs = [invocation.inputs[each.name] for each in spec.inputs]
    tensors = [
        _bound(f"inputs.{each.name}", array.shape, array.dtype, "false")
        for each, array in zip(spec.inputs, inputs, strict=True)
    ]
    tensors += [
        _bound(f"outputs.{each.name}", *invocation.outputs[each.name], "true")
        for each in spec.outputs
    ]
    params = {each.name: _c_value(each, invocation.params[each.name]) for each in spec.params}
    calls.write_case(spec, tensors, params, folder)
    (folder / "data").write_bytes(b"".join(array.tobytes() for array in inputs))


def _bound(name: str, shape: tuple[int, ...], dtype: Any, is_output: str) -> str:
    type_ = np.dtype(dtype).name.replace("bool", "uint8").upper()
    sizes = ", ".join(map(str, shape))
    return f"{{&{name}, OPKIT_{type_}, {is_output}, {len(shape)}, {{{sizes}}}}}"


def _c_value(param: Param, value: Any) -> str:
    if param.type.is_text:
        return c_string(value)
    if not param.type.is_list:
        return repr(value)
    item = "float" if param.type.element.kind == "float" else "int32_t"
    items = ", ".join(map(repr, value))
    return f"{{{len(value)}, (const {item}[]){{{items}}}}}" if items else "{0, NULL}"


def record(found: Mapping[str, costs.Count]) -> None:
    """Write the counts of operators into the library; those of others stay."""
    every = {**costs.counts(), **found}
    entries = {name: every[name]._asdict() for name in sorted(every)}
    text = f"# Written by `{COMMAND}`.\n" + yaml.safe_dump(entries, sort_keys=False, width=200)
    costs.FILE.write_text(text)


def main() -> None:
    """Count, print, and write with --record."""
    known = [name for name, each in operators().items() if RUNTIME in each.spec.runtimes]
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--operators", nargs="+", choices=known, default=known)
    parser.add_argument("--record", action="store_true", help="write operators/instructions.yml")
    options = parser.parse_args()
    found = {}
    for name in options.operators:
        if count := counted(name):
            found[name] = count
            print(f"{name}, {count.call}: {count.instructions}", flush=True)
    if options.record:
        record(found)


if __name__ == "__main__":
    main()
