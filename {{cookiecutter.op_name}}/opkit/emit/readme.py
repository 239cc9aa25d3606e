"""The README of a generated repository."""

from __future__ import annotations

from opkit.emit.template import fill
from opkit.platforms import CHIPS, TARGETS
from opkit.spec import OpSpec


def targets_table() -> str:
    """Return the chips, their families and what each must run, as a Markdown table."""
    rows = [TARGETS[name] for name in CHIPS]
    look_ups = [target.look_up.replace("|", "\\|") for target in rows]
    return "\n".join(
        (
            "| target | family | must run at least | how to look it up on the board |",
            "| --- | --- | --- | --- |",
            *(
                f"| {target.name} | {target.family} | {target.needs} | {look_up} |"
                for target, look_up in zip(rows, look_ups, strict=True)
            ),
        )
    )


def readme(spec: OpSpec) -> str:
    """Return the text of README.md."""
    return fill(
        "README.md",
        name=spec.name,
        lower=spec.lower,
        target=spec.target_platform,
        targets=targets_table(),
    )
