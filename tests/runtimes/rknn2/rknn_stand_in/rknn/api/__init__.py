"""See custom_op; and a toolkit that writes models of one node as text, for fake_librknnrt.c."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

TYPES = {"float32": 0, "float16": 0, "int32": 6, "int64": 8, "bool": 9}
"""dtype -> rknn_tensor_type."""
FLOAT32, UINT8, INT64 = 0, 3, 8


class RKNN:
    """The part of RKNN-Toolkit2 that convert.py uses; it converts any model of one node."""

    def __init__(self, verbose: bool) -> None:
        self.operators: dict[str, Any] = {}

    def config(self, target_platform: str) -> int:
        return 0

    def reg_custom_op(self, operator: Any) -> int:
        self.operators[operator.op_type] = operator
        return 0

    def load_onnx(self, model: str) -> int:
        import onnx

        self.graph = onnx.load(model).graph
        return 0

    def build(self, do_quantization: bool) -> int:
        return 0

    def export_rknn(self, path: str) -> int:
        Path(path).write_text("\n".join(self._lines()))
        return 0

    def init_runtime(self) -> int:
        return 0

    def inference(self, inputs: Sequence[Any], data_format: str) -> Any:
        (node,) = self.graph.node
        arrays = dict(zip(self._variables(), inputs, strict=True)) | self._constants()
        attributes = [SimpleNamespace(name=n, value=v) for n, v in self._attributes()]
        made = SimpleNamespace(name=node.name, op_type=node.op_type, attribute=attributes)
        return self.operators[node.op_type].compute(made, [arrays[name] for name in node.input])

    def release(self) -> None:
        pass

    def _constants(self) -> dict[str, Any]:
        from onnx import numpy_helper

        return {each.name: numpy_helper.to_array(each) for each in self.graph.initializer}

    def _variables(self) -> list[str]:
        return [each.name for each in self.graph.input if each.name not in self._constants()]

    def _attributes(self) -> Iterator[tuple[str, Any]]:
        from onnx import helper

        for attribute in self.graph.node[0].attribute:
            value = helper.get_attribute_value(attribute)
            is_list = not isinstance(value, (bytes, int, float))
            yield (
                attribute.name,
                value.decode() if isinstance(value, bytes) else (list(value) if is_list else value),
            )

    def _lines(self) -> Iterator[str]:
        (node,) = self.graph.node
        yield f"node {node.op_type} {node.name or node.output[0]}"
        tensors = {each.name: each.type.tensor_type for each in self.graph.input}
        constants = self._constants()
        for name in node.input:
            if name in constants:
                array = constants[name]
                numbers = [float(number).hex() for number in array.ravel()]
                yield _tensor("input", name, array.dtype.name, array.shape, numbers)
            else:
                yield _variable("input", name, tensors[name])
        for output in self.graph.output:
            yield _variable("output", output.name, output.type.tensor_type)
        for name, value in self._attributes():
            yield _attribute(name, value)


def _variable(what: str, name: str, type_: Any) -> str:
    from onnx import helper

    shape = [size.dim_value for size in type_.shape.dim]
    return _tensor(what, name, helper.tensor_dtype_to_np_dtype(type_.elem_type).name, shape, [])


def _tensor(what: str, name: str, dtype: str, shape: Sequence[int], numbers: list[str]) -> str:
    words = [what, name, TYPES[dtype], len(shape), *shape, len(numbers), *numbers]
    return " ".join(map(str, words))


def _attribute(name: str, value: Any) -> str:
    if isinstance(value, str):
        items, kind = list(json.dumps(value, ensure_ascii=False).encode()), UINT8
    else:
        items = value if isinstance(value, list) else [value]
        kind = FLOAT32 if isinstance(items[0], float) else INT64
    words = ["attribute", name, kind, len(items), *(float(item).hex() for item in items)]
    return " ".join(map(str, words))
