"""The libraries that read models: an extra, because most verbs do without them."""

from __future__ import annotations

import importlib
from typing import Any

from opkit.errors import OpkitError


def required(module: str) -> Any:
    """Return a module of the extra `onnx`.

    Raises:
        OpkitError: it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        distribution = module.partition(".")[0]
        raise OpkitError(
            f"{distribution} is not installed, which reads models; "
            "`pip install 'rknn-op-template[onnx]'` installs it"
        ) from None
