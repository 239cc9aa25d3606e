"""The cache of SCons, without a message for each file from it."""

from __future__ import annotations

from typing import Any

from SCons.CacheDir import CacheDir, CacheRetrieveSilent


class QuietCache(CacheDir):  # type: ignore[misc] # SCons has no types
    """The cache of SCons, without a message for each file from it."""

    def retrieve(self, node: Any) -> bool:
        """Copy the file of a node from the cache; return whether it is there."""
        env = node.get_build_env()
        return bool(self.is_enabled() and CacheRetrieveSilent(node, [], env, execute=1) == 0)
