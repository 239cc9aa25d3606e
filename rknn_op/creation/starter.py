"""The description of a new operator, without one of the user's."""

from __future__ import annotations

from collections.abc import Sequence

from opkit.runtimes import DEFAULT, available
from rknn_op.creation.rewriting import with_runtimes

_STARTER = """\
name: $name
framework: $framework
$starter
# Every build reads this file; the kernels get inputs, outputs and params in this order.
inputs:
  input: {type: VX_TYPE_TENSOR}
outputs:
  output: {type: VX_TYPE_TENSOR}

# A param is the model's attribute of its name, or the constant input in `source`; `default` is for
# models without it. To add one, remove the # and run `scons`.
params:
  # size: {type: VX_TYPE_ARRAY, length: 2, source: "const:size", doc: "height and width"}
  # align_corners: {type: VX_TYPE_BOOL, default: false}
  # epsilon: {type: VX_TYPE_FLOAT32, default: 0.001}"""


def starter(operator: str, runtimes: Sequence[str] = (DEFAULT,)) -> str:
    """Return the description of a new operator, without its last newline.

    Args:
        operator: its name.
        runtimes: the names of available runtimes.
    """
    starters = "".join(available()[name].describe.starter for name in dict.fromkeys(runtimes))
    of_keys: dict[str, str] = {}
    for line in starters.splitlines(keepends=True):
        of_keys.setdefault(line.partition(":")[0], line)  # the first runtime's
    lines = "".join(of_keys.values())
    text = _STARTER.replace("$name", operator)
    text = text.replace("$starter\n", f"{lines}\n" if lines else "\n")
    text = text.replace("$framework", _framework(runtimes))
    return text if [*runtimes] == [DEFAULT] else with_runtimes(text, runtimes)


def _framework(runtimes: Sequence[str]) -> str:
    """Return the first runtime's first framework that all of the runtimes have."""
    taken = [available()[name].describe.frameworks for name in runtimes or [DEFAULT]]
    return next((each for each in taken[0] if all(each in others for others in taken)), taken[0][0])
