"""The JSON Schema of an operator description, for completion and checks in editors.

It is made from the parser's tables, and accepts all valid descriptions, except for names and words
that other versions of YAML read as truth values. It is weaker than the parser: it knows neither
reserved words of languages nor relations between two places.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from opkit import runtimes
from opkit.common.code_layout import LINE_LENGTH
from opkit.description.build_keys import FLAG, MAX_PATH, PATH, SOURCE_SUFFIXES
from opkit.description.describe import Described, RuntimeDescription, any_case_words
from opkit.description.parser import AUTO, IDENTIFIER, LARGEST, SOURCE
from opkit.description.reader import EXAMPLES
from opkit.description.spec import CPU, TENSOR_DTYPES
from opkit.description.types import (
    FLOAT32,
    MAX_CHOICES,
    MAX_ELEMENTWISE_INPUTS,
    MAX_TEXT,
    MAX_THREADS,
    ONNX_WORDS,
    PARAM_TYPES,
    TENSOR,
    Limits,
    ParamType,
)

Schema = dict[str, Any]

FILE = "generated/op.schema.json"
"""The path of the schema in a repository."""
MODELINE = f"# yaml-language-server: $schema={FILE}\n"
"""The first line of an op.yml: the path of the schema for editors."""

_TEXT: Schema = {"type": ["string", "number", "boolean"]}
_DOC: Schema = {"description": "A sentence for readers of the generated code.", **_TEXT}


def with_schema(text: str) -> str:
    """Add the line with the schema for editors to a description, unless it has one."""
    return text if "yaml-language-server:" in text else MODELINE + text


def schema(runtimes: Mapping[str, Described], default: str) -> Schema:
    """Return the schema of descriptions.

    Args:
        runtimes: the available runtimes by name.
        default: the runtime of a description without `runtimes`.
    """
    parts = [runtime.describe for runtime in runtimes.values()]
    targets = [target for each in parts for target in each.targets]
    frameworks = dict.fromkeys(framework for each in parts for framework in each.frameworks)
    kernels = [CPU, *(kernel for each in parts for kernel in each.kernels)]
    own_keys = {key: value for each in parts for key, value in each.keys.items()}
    foreign_keys: Schema = {key: {} for each in parts for key in each.foreign_keys}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Operator description",
        "type": "object",
        "required": ["name", "inputs", "outputs"],
        "properties": {
            "name": {"description": "The operator's name, and its type in models.", **_NAME},
            "framework": {
                "description": "The framework of the models.",
                **any_case_words(frameworks),
            },
            "target_platform": {
                "description": "The default target of builds.",
                **any_case_words(targets),
            },
            "runtimes": {
                "description": f"The runtimes of the operator; by default [{default}].",
                **_list({"enum": [each.name for each in parts]}, min_items=1),
                "examples": [[each.name] for each in parts],
            },
            **_PARAMETER_KEYS,
            **_BUILD_KEYS,
            "kernels": {
                "description": "The kernels of the operator; cpu is one of every operator.",
                **_list(any_case_words(kernels)),
                "contains": any_case_words([CPU]),
            },
            **own_keys,
            **foreign_keys,
        },
        "additionalProperties": False,
        "allOf": [
            condition for each in parts for condition in _conditions(each, each.name == default)
        ]
        + [_ELEMENTWISE],
        "$defs": {"param": {"allOf": [_of_type(row) for row in PARAM_TYPES.values()]}},
    }


_NAME: Schema = {
    "type": "string",
    "pattern": f"^{IDENTIFIER}$",
    "maxLength": Limits().name_length,
}
_OWN_PATH = r"(?![/~])(?!(?:.*/)?(?:\.\.|\.git)(?:/|$))(?!(?:.*/)?-)(?!(?:\./+)*build(?:/|$))"
_SUFFIX = "|".join(map(re.escape, SOURCE_SUFFIXES))
_SOURCE_PATH = f"^{_OWN_PATH}(?=.*(?:{_SUFFIX})$){PATH}$"


def _list(items: Schema, min_items: int = 0, unique: bool = True) -> Schema:
    return {"type": "array", "items": items, "minItems": min_items, "uniqueItems": unique}


def _list_or_nothing(items: Schema, unique: bool = True) -> Schema:
    return {**_list(items, unique=unique), "type": ["array", "null"]}


def _entries(properties: Schema, required: list[str], **more: Any) -> Schema:
    """Return the schema of inputs, outputs or params."""
    entry = {
        "type": "object",
        "required": required,
        "properties": properties,
        "additionalProperties": False,
    }
    if "default" in properties:
        entry["$ref"] = "#/$defs/param"
    return {"type": "object", "propertyNames": _NAME, "additionalProperties": entry, **more}


def _of_type(row: ParamType) -> Schema:
    """Return the conditional schema of the keys that depend on the type, for one type."""
    aliases = [word.lower() for word, name in ONNX_WORDS.items() if name == row.name]
    default: Schema = _value(row)
    limit = _value(FLOAT32 if row.element.kind == "float" else row)
    if row.is_list:
        default = {**_list(default, 1, unique=False), "maxItems": Limits().items}
    then: Schema = {"properties": {"default": {"anyOf": [{"type": "null"}, default]}}}
    if not row.is_list:
        then["properties"]["length"] = False
    is_bool = row.element.kind == "bool"
    has_range = not is_bool and not row.is_text
    then["properties"] |= dict.fromkeys(("min", "max"), limit if has_range else False)
    then["properties"]["choices"] = (
        False if is_bool else {**_list(limit, 1), "maxItems": MAX_CHOICES}
    )
    is_it = {"properties": {"type": any_case_words([row.name, *aliases])}, "required": ["type"]}
    return {"if": is_it, "then": then}


def _value(row: ParamType) -> Schema:
    if row.is_text:
        return {"type": "string", "maxLength": MAX_TEXT}
    if row.element.kind == "bool":
        return {"type": "boolean"}
    if row.element.limits is None:
        largest = LARGEST[row.element.name]
        return {"type": "number", "minimum": -largest, "maximum": largest}
    low, high = row.element.limits
    return {"type": "integer", "minimum": low, "maximum": high}


def _conditions(runtime: RuntimeDescription, is_default: bool) -> list[Schema]:
    """Return the conditions for descriptions with and without a runtime."""
    named: Schema = {
        "required": ["runtimes"],
        "properties": {"runtimes": {"contains": {"const": runtime.name}}},
    }
    is_chosen = {"anyOf": [{"not": {"required": ["runtimes"]}}, named]} if is_default else named
    limits = runtime.limits
    refused = [name for name in PARAM_TYPES if runtime.type_refusal(name)]
    names = {"propertyNames": {"maxLength": limits.name_length}}
    parameters: Schema = {**names, "maxProperties": limits.parameters}
    dtypes = [dtype for dtype in TENSOR_DTYPES if dtype in runtime.tensor_types]

    def tensors(names: Iterable[str]) -> Schema:
        return {
            **parameters,
            "additionalProperties": {"properties": {"dtype": {"enum": [*names]}}},
        }

    outputs = [dtype for dtype in dtypes if dtype not in runtime.lost_outputs]
    of_param: Schema = {
        "properties": {"length": {"maximum": limits.items}, "default": {"maxItems": limits.items}}
    }
    if refused:
        of_param["properties"]["type"] = {"not": any_case_words(refused)}
    conditions: list[Schema] = [
        {
            "if": is_chosen,
            "then": {
                "properties": {
                    "name": {"maxLength": limits.name_length},
                    "framework": any_case_words(runtime.frameworks),
                    "inputs": tensors(dtypes),
                    "outputs": tensors(outputs),
                    "params": {**parameters, "additionalProperties": of_param},
                }
            },
            "else": {
                "properties": {
                    **dict.fromkeys((*runtime.keys, *runtime.foreign_keys), False),
                    **({"kernels": _without(runtime.kernels)} if runtime.kernels else {}),
                },
            },
        }
    ]
    if runtime.targets:
        is_target = {
            "required": ["target_platform"],
            "properties": {"target_platform": any_case_words(runtime.targets)},
        }
        conditions.append({"if": is_target, "then": is_chosen})
    return conditions


def _without(kernels: Iterable[str]) -> Schema:
    return {"not": {"contains": any_case_words(kernels)}}


_ELEMENTWISE: Schema = {
    "if": {"required": ["elementwise"], "properties": {"elementwise": {"const": True}}},
    "then": {
        "properties": {
            "inputs": {"maxProperties": MAX_ELEMENTWISE_INPUTS},
            "outputs": {"maxProperties": 1},
        }
    },
}
"""The condition for an elementwise operator."""


_TENSOR: Schema = {
    "type": {"description": "The type of every tensor.", **any_case_words([TENSOR])},
    "doc": _DOC,
    "dtype": {
        "description": "The dtype that the math gets; by default the dtype in the model.",
        "enum": [*TENSOR_DTYPES],
    },
}
_OUTPUT: Schema = {
    **_TENSOR,
    "dtype": {
        "description": "The dtype that the math writes; by default that of the first input.",
        "enum": [*TENSOR_DTYPES],
    },
    "same_as": {"description": "The input that has the shape of this output.", **_TEXT},
}
_PARAM: Schema = {
    "type": {
        "description": "The type of the value.",
        **any_case_words([*PARAM_TYPES, *map(str.lower, ONNX_WORDS)]),
    },
    "doc": _DOC,
    "default": {"description": "The value where a node has none; without it, nodes need one."},
    "source": {
        "description": "const:NAME: the constant input NAME; by default the node's attribute.",
        "type": "string",
        "pattern": f"^{SOURCE}$",
    },
    "length": {
        "description": "The number of elements of an array; by default any.",
        "type": "integer",
        "minimum": 1,
        "maximum": Limits().items,
    },
    "min": {"description": "The minimum of the number, or of each item; by default any."},
    "max": {"description": "The maximum of the number, or of each item; by default any."},
    "choices": {"description": "The only values of the param, or of each item."},
}
_PARAMETER_KEYS: Schema = {
    "inputs": {
        "description": f"The input tensors, in order: {EXAMPLES['inputs']}",
        **_entries(_TENSOR, ["type"], minProperties=1),
    },
    "outputs": {
        "description": f"The output tensors, in order: {EXAMPLES['outputs']}",
        **_entries(_OUTPUT, ["type"], minProperties=1),
    },
    "params": {
        "description": "The other arguments of the kernels, in order.",
        **_entries(_PARAM, ["type"]),
        "type": ["object", "null"],
    },
    "elementwise": {
        "description": "Whether <op>_scalar.h has the math, as a function of one element.",
        "type": "boolean",
    },
}
_BUILD_KEYS: Schema = {
    "sources": {
        "description": "C and C++ sources besides the operator's own.",
        **_list_or_nothing({"type": "string", "pattern": _SOURCE_PATH, "maxLength": MAX_PATH}),
    },
    "include": {
        "description": "Include folders for headers.",
        **_list_or_nothing(
            {"type": "string", "pattern": f"^{_OWN_PATH}{PATH}$", "maxLength": MAX_PATH}
        ),
    },
    "cflags": {
        "description": "Flags for the compilers.",
        **_list_or_nothing({"type": "string", "pattern": f"^(?:{FLAG})$"}, unique=False),
    },
    "threads": {
        "description": "The maximum threads of a kernel; auto: one for each processor.",
        "anyOf": [
            {"type": "integer", "minimum": 1, "maximum": MAX_THREADS},
            any_case_words([AUTO]),
        ],
    },
    "fp16_math": {
        "description": "true: compute in halves on processors with their arithmetic.",
        "type": "boolean",
    },
}


def description_schema() -> Schema:
    """Return the JSON Schema of a description, for all runtimes."""
    return schema(runtimes.available(), runtimes.DEFAULT)


def to_text(value: Any, indent: int = 0) -> str:
    """Return a value as JSON: on one line where it fits in 100 columns, else an item a line."""
    line = json.dumps(value)
    if len(line) + indent <= LINE_LENGTH or not isinstance(value, dict | list):
        return line
    if isinstance(value, dict):
        brackets = "{}"
        items = [f"{json.dumps(key)}: {to_text(item, indent + 1)}" for key, item in value.items()]
    else:
        brackets = "[]"
        items = [to_text(item, indent + 1) for item in value]
    start = "\n" + " " * (indent + 1)
    return f"{brackets[0]}{start}{f',{start}'.join(items)}\n{' ' * indent}{brackets[1]}"
