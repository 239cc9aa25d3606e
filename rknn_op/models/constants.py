"""Compute the constants of a model: a script of its own process, which a model may crash.

It reads an ONNX model without inputs from stdin, and writes an .npz file to stdout: the arrays of
the model's outputs, under their positions, and `failed`, the positions of nodes that onnxruntime
cannot compute. Outputs behind these, and those larger than the bytes of the argument, are left out.
"""

from __future__ import annotations

import io
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

_MAX_TOTAL = 256 * 1024**2  # bytes of all outputs
_MAX_MEMORY = 4 * 1024**3
_FATAL = 4


def main() -> None:
    """Answer a request."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    limit = pages * resource.getpagesize() + _MAX_MEMORY
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    request = sys.stdin.buffer.read()
    failed: list[int] = []
    try:
        arrays = _run(request)
    except Exception:  # onnxruntime's own have no common class
        arrays = dict(_run_each(request, failed))
    total = 0
    kept: dict[str, Any] = {"failed": np.array(failed, np.int64)}
    for name, array in arrays.items():
        if isinstance(array, np.ndarray) and array.dtype.kind in "biuf":
            total += array.nbytes
            if array.nbytes <= int(sys.argv[1]) and total <= _MAX_TOTAL:
                kept[name] = array
    answer = io.BytesIO()
    np.savez(answer, **kept)
    sys.stdout.buffer.write(answer.getbuffer())


def _run(proto: bytes) -> dict[str, Any]:
    """Return the outputs of a model, by position."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _FATAL
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(proto, options, providers=["CPUExecutionProvider"])
    return {str(position): array for position, array in enumerate(session.run(None, {}))}


def _run_each(request: bytes, failed: list[int]) -> Iterator[tuple[str, Any]]:
    """Yield the outputs that can be computed: each node runs alone.

    Args:
        request: the model.
        failed: the positions of nodes that onnxruntime cannot compute, to be filled.
    """
    import onnx  # only here: the usual way does without

    proto = onnx.load_model_from_string(request)
    values = {each.name: each for each in proto.graph.initializer}
    arrays: dict[str, Any] = {}
    for position, node in enumerate(proto.graph.node):
        read = {*filter(None, node.input)}
        if not read <= values.keys():
            continue
        outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
        initializers = [values[name] for name in read]
        graph = onnx.helper.make_graph([node], "node", [], outputs, initializers)
        model = onnx.helper.make_model(
            graph, opset_imports=proto.opset_import, ir_version=proto.ir_version
        )
        try:
            for output, array in zip(
                outputs, _run(model.SerializeToString()).values(), strict=True
            ):
                values[output.name] = onnx.numpy_helper.from_array(array, output.name)
                arrays[output.name] = array
        except Exception:  # as above; also types without an array of numpy
            failed.append(position)
    for position, output in enumerate(proto.graph.output):
        if output.name in arrays:
            yield str(position), arrays[output.name]


if __name__ == "__main__":
    main()
