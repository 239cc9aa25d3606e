"""Params without use in the math in C are found, without false positives."""

from __future__ import annotations

from pathlib import Path

import pytest

from opkit.files.source_check import unread_params
from opkit.runtimes import parse
from tests.files.texts import once_only_files
from tests.repositories import EXAMPLE_NAMES, EXAMPLES, example_folder

DESCRIPTION = """
name: Scan
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR}}
params: {size: {type: VX_TYPE_INT32}, reverse: {type: VX_TYPE_BOOL}}
"""
SPEC = parse(DESCRIPTION)
COMPUTE = """\
%s
static const char *scan_compute(const struct scan_inputs *inputs, const struct scan_params *params,
                                struct scan_outputs *outputs)
{
    %s
    return NULL;
}
"""
REFERENCE = """\
def output_shapes(input_shapes, params):
    return {"y": input_shapes["x"]}


def reference(inputs, params):
    return {"y": inputs["x"][::-1] if params["reverse"] else inputs["x"][: params["size"]]}
"""


def unread(folder: Path, before: str, code: str) -> list[str]:
    (folder / "scan_compute.h").write_text(COMPUTE % (before, code))
    if not (folder / "scan_reference.py").exists():
        (folder / "scan_reference.py").write_text(REFERENCE)
    return [each.problem.split("'")[1] for each in unread_params(folder, SPEC)]


BOTH = ["size", "reverse"]


@pytest.mark.parametrize(
    ("before", "code", "expected"),
    [
        ("", "use(params->size, params->reverse);", []),
        ("", "use(params->size);", ["reverse"]),
        ("", "(void)params;", BOTH),
        ("", "use(params);", BOTH),
        ("", "use((*params).size, params -> /* of it */ reverse);", []),
        ("", "use(params->size); /* params->reverse */ // params->reverse", ["reverse"]),
        ("", 'use(params->size, "params->reverse");', ["reverse"]),
        ("", "use(params->size, params->reverse_axis);", ["reverse"]),
        ("", "const bool reverse = false; use(params->size, reverse);", ["reverse"]),
        # The member of a tensor has the name of a param.
        ("", "use(inputs->x.size, outputs->y.size, params->reverse);", ["size"]),
        ("", "const struct opkit_tensor *x = &inputs->x; use(x->size, params->reverse);", ["size"]),
        # Other ways to the params.
        ("", "const struct scan_params own = *params; use(own.size, own.reverse);", []),
        (
            "static int f(const struct scan_params *const p) { return p->size + p->reverse; }",
            "",
            [],
        ),
        ("#define P(name) params->name", "use(P(size), P(reverse));", []),
        ("#define P(name) \\\n    (params->name)", "use(P(size));", ["reverse"]),
        ("#define JOIN(a, b) params->a##b", "use(JOIN(re, verse), params->size);", []),
        ("#define REVERSE params->reverse", "use(params->size, REVERSE);", []),
        ("#define PARAMS (*params)", "use(PARAMS.reverse, params->size);", []),
        ("", "(void)params->reverse; use(params->size);", []),
    ],
)
def test_reads_in_c(before: str, code: str, expected: list[str], tmp_path: Path) -> None:
    assert unread(tmp_path, before, code) == expected


def test_reads_in_other_files(tmp_path: Path) -> None:
    """Headers of the repository count, the generated ones do not."""
    (tmp_path / "src").mkdir()
    (tmp_path / "generated").mkdir()
    (tmp_path / "generated/scan.h").write_text("struct scan_params { int size; bool reverse; };\n")
    (tmp_path / "generated/other.h").write_text("use(params->reverse);")
    (tmp_path / "src/helper.h").write_text('#include "deeper.h"\n#include "helper.h"\n')
    (tmp_path / "src/deeper.h").write_text(
        "static int f(const struct scan_params *params) { return params->size; }"
    )
    includes = '#include "generated/scan.h"\n#include "generated/other.h"\n#include "src/helper.h"'
    assert unread(tmp_path, includes, "f(params);") == ["reverse"]
    assert unread(tmp_path, "#include <helper.h>", "f(params);") == BOTH
    spec = parse(f"{DESCRIPTION}include: [src]\n")
    (found,) = unread_params(tmp_path, spec)
    assert "'reverse'" in found.problem
    (tmp_path / "math.c").write_text("int g(const struct scan_params *p) { return p->reverse; }")
    assert unread_params(tmp_path, parse(f"{DESCRIPTION}include: [src]\nsources: [math.c]\n")) == []


def test_param_of_the_shape_rule_needs_no_c(tmp_path: Path) -> None:
    (tmp_path / "scan_reference.py").write_text(
        "def _length(params):\n    return params['size']\n\n\n"
        "def _other(params):\n    return params['reverse']\n\n\n"
        "def output_shapes(input_shapes, params):\n    return {'y': (_length(params),)}\n"
    )
    assert unread(tmp_path, "", "") == ["reverse"]


def test_generated_math_has_no_complaint(tmp_path: Path) -> None:
    """Until its comment is replaced, it copies the input."""
    for path, text in once_only_files(SPEC).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    assert unread_params(tmp_path, SPEC) == []
    compute = tmp_path / "scan_compute.h"
    compute.write_text(compute.read_text().replace("Write the real math here.", ""))
    assert [str(each) for each in unread_params(tmp_path, SPEC)] == [
        f"scan_compute.h: param '{name}' is not read; read params->{name}, or write "
        f"(void)params->{name}; if the math does not need it"
        for name in ("size", "reverse")
    ]


@pytest.mark.parametrize("name", EXAMPLE_NAMES)
def test_examples_read_all_params(name: str) -> None:
    spec = parse((EXAMPLES / name / f"{name}.yml").read_text())
    assert unread_params(example_folder(name), spec) == []
