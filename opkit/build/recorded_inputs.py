"""What built files were made of: the inputs of the operator's objects, and the sources of products.

SCons itself finds headers with a literal name in the folders of CPPPATH, and no others. So each
compile records its inputs beside the object, and an object with other inputs is built again. The
sources of products give their age in the report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from SCons.Action import Action
from SCons.Node import executed, up_to_date

from opkit.build.compile_environment import LISTED
from opkit.report import ages
from opkit.toolchains.compile_inputs import Inputs, digests, prerequisites


def operator_object(env: Any, target: str, source: str) -> list[Any]:
    """Return the node of an object of the operator's sources, in a list.

    Args:
        env: the environment of an ABI's compiler, compiler_for(env, abi).
        target: the path of the object.
        source: the path of the source.
    """
    nodes: list[Any] = env.SharedObject(target, source)
    env.AddPostAction(nodes, Action(_record, None))
    env.Clean(nodes, [f"{target}{LISTED}", str(inputs_file(target))])
    inputs = Inputs.load(inputs_file(target))
    if inputs is None or not inputs.are_current():
        env.AlwaysBuild(nodes)
    return nodes


def inputs_file(target: str) -> Path:
    """Return the path of the inputs of an object."""
    return Path(f"{target}.inputs")


def _record(target: Any, source: Any, env: Any) -> None:
    path = target[0].path
    rule = Path(f"{path}{LISTED}").read_text(encoding="utf-8", errors="surrogateescape")
    # zig's own headers are beside it. They stand for its version, which is a flag.
    own = Path(str(env["CC"][0])).resolve().parent
    read = [file for file in prerequisites(rule) if not Path(file).resolve().is_relative_to(own)]
    folders = [folder.path for folder in map(env.Dir, env["CPPPATH"])]
    Inputs.found(read, folders).store(inputs_file(path))


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
