"""The libraries that read models: an extra, because most verbs do without them."""

from __future__ import annotations

import importlib
import shlex
import sys
from typing import Any

from opkit.errors import OpkitError
from opkit.text import printable, shortened

EXTRA = "onnx onnxruntime tensorboardX"
"""The distributions of the extra: names of their owners, on every index."""


def required(module: str) -> Any:
    """Return a module of the extra `onnx`.

    Raises:
        OpkitError: it is not installed, or cannot be imported.
    """
    distribution = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if error.name == distribution:
            raise OpkitError(
                f"{distribution} is not installed, which reads models; install it: "
                f"{shlex.quote(sys.executable)} -m pip install {EXTRA}"
            ) from None
        reason = printable(shortened(str(error).partition("\n")[0], 200))
        raise OpkitError(
            f"{module} cannot be imported: {reason}; install {distribution} again"
        ) from None
