"""The tool's part of a runtime, `models`: the work with users' models.

    models      users' models, for `scan`, `create --from`, `graft`     rknn_op/runtimes/models.py

A runtime's folder beside this file has it, as its folder in opkit has the other five: a value in
the module of its name, with that name in capitals. It is imported at the first access, as those
are. A folder `verbs` has the verbs of `rknn-op` for this runtime alone.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from rknn_op.runtimes.models import Models


@cache
def models_of(runtime: str) -> Models:
    """Return a runtime's part of the work with users' models.

    Args:
        runtime: its name.
    """
    found: Models = import_module(f"rknn_op.runtimes.{runtime}.models").MODELS
    return found
