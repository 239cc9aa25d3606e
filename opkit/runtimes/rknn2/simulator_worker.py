"""Converts and simulates models one by one; runs in the Python of RKNN-Toolkit2.

    python simulator_worker.py TARGET FOLDER

FOLDER has the operator's scripts and, unless the toolkit has the operator itself, its class. Each
line of stdin is a request in JSON:

    names     the names of the inputs, in order
    params    name -> value of each param
    inputs    the .npz file with the arrays of the inputs, in order
    outputs   the .npz file to write, with the arrays of the outputs, in order; empty: the model is
              not simulated
    package   the .rknn file to write

Each line of stdout is an answer in JSON, which is empty, or has

    problem   the reason why the model cannot be converted or simulated

The toolkit's output goes to stderr. If a model ends the process that converts it, this process ends
without an answer.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np


class Worker:
    """An operator in the toolkit, which is imported once."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.convert: Any = import_module("convert")
        self.make_onnx: Any = import_module("make_onnx")
        self.operators = [each() for each in self.convert.CLASSES]

    def forked_answer(self, request: str) -> str:
        """Run a case in a child process: the toolkit converts only one model in a process.

        Returns:
            The answer; empty if the child ended without one.
        """
        reader, writer = os.pipe()
        if os.fork() == 0:
            with os.fdopen(writer, "w") as file:
                file.write(json.dumps(self.answer(json.loads(request))))
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as file:
            answer = file.read()
        os.wait()
        return answer

    def answer(self, request: dict[str, Any]) -> dict[str, str]:
        """Run a case; return its answer."""
        try:
            self._run(**request)
        except (self.convert.ConversionError, OSError, ValueError) as error:
            return {"problem": str(error)}
        return {}

    def _run(
        self, names: list[str], params: dict[str, Any], inputs: str, outputs: str, package: str
    ) -> None:
        with np.load(inputs) as file:
            arrays = list(file.values())
        signatures = {
            name: (array.shape, array.dtype)
            for name, array in zip(names, arrays)  # noqa: B905 - Python 3.8
        }
        path = Path(package).with_suffix(".onnx")
        path.write_bytes(self.make_onnx.make_model(signatures, params).SerializeToString())
        converter = self.convert.Converter(self.operators)
        with converter.converted(path, self.target, output=package) as simulate:
            if outputs:
                np.savez(outputs, *simulate(arrays))


def main() -> None:
    """Answer every line of stdin."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    target, folder = sys.argv[1:]
    sys.path.insert(0, folder)
    worker = Worker(target)
    for line in sys.stdin:
        answer = worker.forked_answer(line)
        if not answer:
            break
        answers.write(f"{answer}\n")


if __name__ == "__main__":
    main()
