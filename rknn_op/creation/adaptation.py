"""Adaptation of a description to other runtimes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opkit.complaint import Complaint
from opkit.description.describe import Describe
from opkit.description.parser import PC
from opkit.runtimes import available, parse
from rknn_op.creation.rewriting import entries, with_framework, with_runtimes, with_target, without

_REWRITE = {"target_platform": with_target, "framework": with_framework}


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
        changed = with_target(changed, target)
    if not names or not set(names) <= set(available()):
        parse(changed, file)  # raises the error
    chosen = [available()[name].describe for name in names]
    foreign = dict(_foreign_keys(changed, chosen))
    changed = without(changed, foreign)
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
    for key in refused:
        value, instead = entries(changed)[key][1], getattr(spec, key)
        warnings[key] = f"{value} is not for {listed}; op.yml has {instead}"
        changed = _REWRITE[key](changed, instead)
    lines = {key: line for key, (line, _) in entries(text).items()}
    return changed, [
        Complaint(file, problem, lines[key], field=key, severity="warning")
        for key, problem in sorted(warnings.items(), key=lambda each: lines[each[0]])
    ]


def _foreign_keys(text: str, chosen: Sequence[Describe]) -> Iterator[tuple[str, str]]:
    """Yield each key of a description that belongs to other runtimes only, with its runtime."""
    owners = {key: name for name, each in available().items() for key in _keys(each.describe)}
    known = {key for each in chosen for key in _keys(each)}
    return ((key, owners[key]) for key in entries(text) if key in owners and key not in known)


def _keys(runtime: Describe) -> list[str]:
    return [*runtime.keys, *runtime.foreign_keys]


def _allowed(chosen: Sequence[Describe]) -> dict[str, list[str]]:
    """Return key -> the values that the runtimes accept."""
    targets = [target for runtime in chosen for target in runtime.targets]
    frameworks = set.intersection(*(set(runtime.frameworks) for runtime in chosen))
    return {"target_platform": targets or [PC], "framework": [*frameworks]}
