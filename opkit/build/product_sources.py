"""Records the sources of built products, for their age in the report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from SCons.Node import executed, up_to_date

from opkit.build.objects import inputs_file
from opkit.report import ages
from opkit.toolchains.inputs import Inputs, digests

_DESCRIPTION = "op.yml"  # part of commands, so not among SCons' sources


def nodes_below(product: Any) -> list[Any]:
    """Return the nodes that a product is made of, while they are declared and not built."""
    found: dict[Any, None] = {}
    left = [product]
    while left:
        node = left.pop()
        if node not in found:
            found[node] = None
            left += [*node.sources, *node.depends]
    return [node for node in found if node is not product]


def record_sources(root: Path, products: Mapping[Any, Iterable[Any]]) -> None:
    """Record the sources of the products that SCons has built or found up to date.

    Args:
        root: the repository, the working directory.
        products: node of a product -> nodes_below(product).
    """
    load = cache(Inputs.load)  # products share objects
    current = {
        node.path: {**_sources(below, load), **digests({node.path})}
        for node, below in products.items()
        if node.get_state() in (executed, up_to_date)
    }
    if current:
        with suppress(OSError):  # on a full disk, packages are only called stale
            ages.record(root, current)


def _sources(nodes: Iterable[Any], load: Callable[[Path], Inputs | None]) -> dict[str, str]:
    """Return the digests of the files that nodes were built from; empty: places without a file."""
    leaves = {node.path for node in nodes if not node.has_builder()}
    found = digests({_DESCRIPTION, *leaves})
    for node in nodes:
        inputs = load(inputs_file(node.path)) if node.has_builder() else None
        if inputs is not None:
            found.update({**dict.fromkeys(inputs.paths(), ""), **inputs.files})
    return dict(sorted(found.items()))
