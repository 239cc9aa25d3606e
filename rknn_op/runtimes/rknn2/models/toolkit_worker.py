"""Builds a model for a chip; runs in the Python of RKNN-Toolkit2.

    python toolkit_worker.py MODEL TARGET PACKAGE [RULE...]

RULE is a rule of the toolkit's optimizer to disable. Writes the package, the .rknn file. A line of
stdout is the toolkit's version. If the toolkit refuses the model, its reason is the last line of
stderr, and the exit status is 1.
"""

import importlib.metadata
import sys
from collections.abc import Callable
from typing import Any

from rknn.api import RKNN


def main() -> None:
    """Build the model of the command line."""
    model, target, package, *rules = sys.argv[1:]
    disabled = {"disable_rules": rules} if rules else {}
    rknn = RKNN(verbose=False)
    steps: tuple[tuple[str, Callable[[], Any]], ...] = (
        ("config", lambda: rknn.config(target_platform=target, **disabled)),
        ("load_onnx", lambda: rknn.load_onnx(model)),
        ("build", lambda: rknn.build(do_quantization=False)),
        ("export_rknn", lambda: rknn.export_rknn(package)),
    )
    for name, step in steps:
        try:
            status = step()
        except Exception as error:  # any type: the toolkit raises its libraries' own
            lines = str(error).strip().splitlines()
            sys.exit(f"{name}: {lines[-1] if lines else type(error).__name__}")
        if status not in (0, None):
            sys.exit(f"{name} returned {status}")
    print(importlib.metadata.version("rknn-toolkit2"))


if __name__ == "__main__":
    main()
