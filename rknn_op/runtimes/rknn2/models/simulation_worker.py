"""Converts and simulates a grafted model; runs in the Python of RKNN-Toolkit2.

    python simulation_worker.py WORK [RULE...]

RULE is a rule of the toolkit's optimizer to disable. WORK is a JSON file:

    scripts   a repository's folder with convert.py
    classes   the files with the operators' classes
    model     the ONNX model
    target    the target
    inputs    the .npz file with the arrays of the inputs, in order; empty: no simulation
    outputs   the .npz file to write, with the arrays of the outputs, in order
    package   the .rknn file to write

A line of stdout is the toolkit's version. On an error the last line of stderr is the reason,
and the exit status is 1.
"""

from __future__ import annotations

import importlib.metadata
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np


def main() -> None:
    """Convert the model of the command line."""
    work: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    sys.path.insert(0, work["scripts"])
    convert: Any = import_module("convert")
    try:
        operators = [convert.load_operator(file) for file in work["classes"]]
        converter = convert.Converter(operators, sys.argv[2:])
        with converter.converted(
            Path(work["model"]), work["target"], output=Path(work["package"])
        ) as simulate:
            if work["inputs"]:
                with np.load(work["inputs"]) as file:
                    results = simulate([*file.values()])
                np.savez(work["outputs"], *results)
    except (convert.ConversionError, OSError, ValueError) as error:
        sys.exit(" ".join(str(error).split()))
    print(importlib.metadata.version("rknn-toolkit2"))


if __name__ == "__main__":
    main()
