"""The syntax tree that clang writes as JSON."""

from __future__ import annotations

import json
from typing import Any

Node = dict[str, Any]
"""A node as clang writes it."""
DUMP = ("-Xclang", "-ast-dump=json")
"""The arguments by which clang writes the tree to stdout."""


def top_level(tree: str) -> list[Node]:
    """Return the top-level nodes of a tree; every source location has its file and line."""
    nodes: list[Node] = json.loads(tree, object_hook=_Locations().complete).get("inner", [])
    return nodes


class _Locations:
    """Completes source locations: clang omits a file or a line that equals the previous one."""

    def __init__(self) -> None:
        self.file = ""
        self.line = 0

    def complete(self, node: Node) -> Node:
        if "offset" in node and "tokLen" in node:
            self.line = node.setdefault("line", self.line)
            self.file = node.setdefault("file", self.file)
        return node
