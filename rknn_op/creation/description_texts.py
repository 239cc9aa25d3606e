"""Texts of descriptions: a new one, and changes to single keys, which keep the rest of the text."""

from __future__ import annotations

from collections.abc import Container, Sequence

import yaml

from opkit.common.complaint import Complaint
from opkit.description.describe import RuntimeDescription
from opkit.description.parser import PC
from opkit.description.spec import CPU
from opkit.runtimes import DEFAULT, available, parse

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
    taken = [available()[name].describe.frameworks for name in runtimes or [DEFAULT]]
    common = (each for each in taken[0] if all(each in others for others in taken))
    text = text.replace("$framework", next(common, taken[0][0]))
    return text if [*runtimes] == [DEFAULT] else with_runtimes(text, runtimes)


def with_runtimes(text: str, names: Sequence[str]) -> str:
    """Set the runtimes of a description."""
    return with_entry(text, "runtimes", f"[{', '.join(names)}]")


def with_repeated_input(text: str, count: int) -> str:
    """Set the count of inputs of a description; all are copies of the first one with another index.

    Args:
        text: a valid description in block style. The name of the first input ends with 0.
        count: the count of inputs.
    """
    inputs = next(value for key, value in _root(text).value if key.value == "inputs")
    first = inputs.value[0][0]
    start = first.start_mark.index - first.start_mark.column
    ends = [text.find("\n", _end(value) - 1) + 1 for _, value in inputs.value]
    line, stem = text[start : ends[0]], first.value.removesuffix("0")
    lines = [line.replace(first.value, f"{stem}{index}", 1) for index in range(count)]
    return text[:start] + "".join(lines) + text[ends[-1] :]


def with_dtype(text: str, name: str, dtype: str) -> str:
    """Declare the dtype of an input or an output.

    Args:
        text: a valid description; the tensors are in block style.
        name: the tensor.
        dtype: the dtype.
    """
    groups = {key.value: value.value for key, value in _root(text).value}
    tensors = {key.value: value for key, value in (*groups["inputs"], *groups["outputs"])}
    tensor = tensors[name]
    for key, value in tensor.value:
        if key.value == "dtype":
            return text[: value.start_mark.index] + dtype + text[value.end_mark.index :]
    start = tensor.start_mark
    if tensor.flow_style:
        return f"{text[: start.index + 1]}dtype: {dtype}, {text[start.index + 1 :]}"
    return f"{text[: start.index]}dtype: {dtype}\n{' ' * start.column}{text[start.index :]}"


def entries(text: str) -> dict[str, tuple[int, str]]:
    """Return key -> line, from 1, and value of each entry; the value of a collection is empty."""
    return {
        key.value: (
            key.start_mark.line + 1,
            value.value if isinstance(value, yaml.ScalarNode) else "",
        )
        for key, value in _root(text).value
    }


def without(text: str, keys: Container[str]) -> str:
    """Remove keys from a description; a comment behind a value is removed with it.

    Args:
        text: a valid description.
        keys: the keys; at least one other key must remain.
    """
    root = _root(text)
    if root.flow_style:  # all in braces
        kept = [
            text[key.start_mark.index : _end(value)]
            for key, value in root.value
            if key.value not in keys
        ]
        if len(kept) == len(root.value):
            return text
        start, end = root.value[0][0].start_mark.index, _end(root.value[-1][1])
        return text[:start] + ", ".join(kept) + text[end:]
    for key, value in reversed(root.value):
        if key.value in keys:
            start = text.rfind("\n", 0, key.start_mark.index) + 1
            # A text block ends after its last line, other values within it.
            line_end = text.find("\n", _end(value) - 1) + 1
            text = text[:start] + (text[line_end:] if line_end else "")
    return text


def _end(node: yaml.Node) -> int:
    """Return the end of a node's text; the end mark of a block is the start of the next text."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(node, yaml.MappingNode) else last
    end: int = node.end_mark.index
    return end


def _root(text: str) -> yaml.MappingNode:
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    assert isinstance(root, yaml.MappingNode)  # other nodes were refused
    return root


def with_entry(text: str, name: str, value: str) -> str:
    """Set the value of a key in a description; a new key goes after the first one.

    Args:
        text: a valid description.
        name: the key.
        value: YAML on one line.
    """
    root = _root(text)
    for key, node in root.value:
        if key.value == name:
            start, end = node.start_mark.index, node.end_mark.index
            return text[:start] + value + text[start + len(text[start:end].rstrip()) :]
    if root.flow_style:  # all in braces
        start = root.start_mark.index + 1
        return f"{text[:start]}{name}: {value}, {text[start:]}"
    after_first_entry = root.value[1][0].start_mark
    start, indent = after_first_entry.index, " " * after_first_entry.column
    return f"{text[:start]}{name}: {value}\n{indent}{text[start:]}"


def adapted(
    text: str, names: Sequence[str], file: str = "op.yml", target: str = ""
) -> tuple[str, list[Complaint]]:
    """Adapt a description to other runtimes; return its text and a warning for each lost value.

    Keys of other runtimes are removed. A target or a framework that these runtimes do not have is
    replaced by their default.

    Args:
        text: a valid description.
        names: the names of the runtimes.
        file: the name of the description, for messages.
        target: the target; empty: the description's target, if the runtimes have it.

    Raises:
        DescriptionError: the runtimes, or they and the rest of the description, are invalid.
    """
    changed = with_runtimes(text, names)
    if target:
        changed = with_entry(changed, "target_platform", target)
    if not names or not set(names) <= set(available()):
        parse(changed, file)  # raises the error
    chosen = [available()[name].describe for name in names]
    owners = {key: name for name, each in available().items() for key in _keys(each.describe)}
    known = {key for each in chosen for key in _keys(each)}
    foreign = {key: owners[key] for key in entries(changed) if key in owners and key not in known}
    changed = without(changed, foreign)
    changed, lost = _with_known_kernels(changed, chosen)
    refused = [
        key
        for key, allowed in _allowed(chosen).items()
        if key in entries(changed)
        and entries(changed)[key][1].lower() not in allowed
        and not (target and key == "target_platform")
    ]
    spec = parse(without(changed, refused), file)
    listed = ", ".join(names)
    warnings = {
        key: f"is for the runtime {owner}; left out of op.yml" for key, owner in foreign.items()
    }
    if lost:
        warnings["kernels"] = f"{', '.join(lost)} is not for {listed}; left out of op.yml"
    for key in refused:
        value, instead = entries(changed)[key][1], getattr(spec, key)
        warnings[key] = f"{value} is not for {listed}; op.yml has {instead}"
        changed = with_entry(changed, key, instead)
    lines = {key: line for key, (line, _) in entries(text).items()}
    return changed, [
        Complaint(file, problem, lines[key], field=key, severity="warning")
        for key, problem in sorted(warnings.items(), key=lambda each: lines[each[0]])
    ]


def _with_known_kernels(text: str, chosen: Sequence[RuntimeDescription]) -> tuple[str, list[str]]:
    """Return a description without kernels that no runtime has, and these kernels."""
    known = {CPU, *(kernel for runtime in chosen for kernel in runtime.kernels)}
    node = next((value for key, value in _root(text).value if key.value == "kernels"), None)
    given = [item.value for item in node.value] if node else []
    lost = [kernel for kernel in given if kernel.lower() not in known]
    if not lost:
        return text, []
    kept = [kernel for kernel in given if kernel not in lost and kernel.lower() != CPU]
    return with_kernels(text, kept), lost


def with_kernels(text: str, kernels: Sequence[str]) -> str:
    """Set the kernels of a description.

    Args:
        text: a valid description.
        kernels: the kernels besides the CPU kernel.
    """
    return with_entry(without(text, ["kernels"]), "kernels", f"[{', '.join([CPU, *kernels])}]")


def _keys(runtime: RuntimeDescription) -> list[str]:
    return [*runtime.keys, *runtime.foreign_keys]


def _allowed(chosen: Sequence[RuntimeDescription]) -> dict[str, list[str]]:
    """Return key -> the values that the runtimes accept."""
    targets = [target for runtime in chosen for target in runtime.targets]
    frameworks = set.intersection(*(set(runtime.frameworks) for runtime in chosen))
    return {"target_platform": targets or [PC], "framework": [*frameworks]}
