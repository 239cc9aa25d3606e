"""Put opkit's wheel, as every repository has it, into the wheel of rknn-op: no command makes it."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class OpkitWheel(BuildHookInterface[Any]):
    """The hook of the wheel's build."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the wheel in a temporary folder."""
        if version == "editable":  # an editable opkit changes
            return
        sys.path.insert(0, self.root)
        from rknn_op.creation.wheel import STORED, wheel

        own, data = wheel()
        self.scratch = tempfile.TemporaryDirectory()
        path = Path(self.scratch.name) / own.name
        path.write_bytes(data)
        build_data["force_include"][str(path)] = f"rknn_op/template/{STORED}/{own.name}"
