"""`scons` for PPLNN: the products, and the cases on this PC and on riscv64."""

from __future__ import annotations

import os
import re
import shutil
import struct

import pytest

from opkit.description.spec import Param
from opkit.description.types import PARAM_TYPES
from opkit.runtimes.invocation import RefusedError
from opkit.runtimes.pplnn.kernels import CONVENTION
from rknn_op.creation.description_texts import adapted
from tests.check.target_repositories import counts, need
from tests.marks import slow_first
from tests.repositories import EXAMPLES, Repository, generate

pytestmark = pytest.mark.slow

NAME = "decode_boxes"


@pytest.fixture(scope="module")
def boxes(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Return the repository of DecodeBoxes for RKNN and PPLNN."""
    folder = tmp_path_factory.mktemp("boxes")
    text, _ = adapted((EXAMPLES / NAME / f"{NAME}.yml").read_text(), ["rknn", "pplnn"])
    repository = generate(folder, text)
    for path in (EXAMPLES / NAME).rglob("*"):
        target = repository.path / path.relative_to(EXAMPLES / NAME)
        if path.suffix in (".h", ".py"):
            assert target.is_file()
            shutil.copy(path, target)
    return repository


@pytest.mark.nightly
def test_cases_on_this_pc(boxes: Repository) -> None:
    checked = boxes.scons("check").stdout
    assert counts(checked) == {"CPU kernel": 49, "CPU kernel, pplnn": 49}
    assert re.search(r"^CPU kernel, pplnn .* [\d.]+ us$", checked, re.MULTILINE)


def test_library(boxes: Repository) -> None:
    """The library contains no code of ppl.nn, as opkit has only declarations of it."""
    boxes.scons("target=x64-pplnn")
    library = (boxes.path / "build/x64-pplnn/libpplnn_decodeboxes.a").read_bytes()
    assert library.startswith(b"!<arch>\n")
    assert b"RunDecodeBoxes" in library
    assert b"DecodeBoxesKernel" not in library
    folder = boxes.path / "build/pplnn/x64"
    assert len([*folder.rglob("*.o")]) == 2
    compiled = {part for rule in folder.rglob("*.o.d") for part in rule.read_text().split()}
    sources = {
        path.relative_to(boxes.path).as_posix() for path in (boxes.path / "pplnn").rglob("*.cc")
    }
    assert len(sources) == 10
    assert sources <= compiled


@pytest.mark.slow
def test_cases_on_riscv64(boxes: Repository) -> None:
    need("qemu-riscv64-static", "qemu-user-static")
    checked = boxes.scons("target=riscv64", "check", path=os.environ["PATH"]).stdout
    kernels = ("CPU kernel", "CPU kernel, pplnn", "CPU kernel, pplnn riscv64")
    assert counts(checked) == dict.fromkeys(kernels, 49)


MISTAKES = [
    (
        "pplnn/decodeboxes_shapes.h",
        "deltas->rank - 1;",
        "deltas->rank;",
        "output 'areas' has the shape (1, 1, 4) by the shape rule for PPLNN, but (1, 1) by",
    ),
    (
        "pplnn/decodeboxes_shapes.h",
        "deltas->rank - 1;",
        "deltas->rank - 2;",
        "output 'areas' has the shape (1,) by the shape rule for PPLNN, but (1, 1) by",
    ),
    (
        "pplnn/decodeboxes_shapes.h",
        "deltas->rank - 1;",
        "deltas->rank - 1 - (1000000 / deltas->shape[0] == 7);",
        "the shape rule, called with a dimension of 0, divides an integer by zero",
    ),
    (
        "decodeboxes_compute.h",
        "delta[3], image_size[1], params);",
        "delta[3], image_size[2], params);",
        "param 'image_size'",
    ),
    (
        "decodeboxes_compute.h",
        "        box[3] =",
        "        box[4] = 1;\n        box[3] =",
        "write",
    ),
]


@pytest.mark.parametrize(
    ("file", "before", "after", "problem"),
    slow_first(2, MISTAKES),
    ids=["shape", "rank", "empty tensor", "list", "out of bounds"],
)
def test_mistakes_are_found(
    file: str, before: str, after: str, problem: str, boxes: Repository
) -> None:
    path = boxes.path / file
    text = path.read_text()
    path.write_text(text.replace(before, after))
    refused = boxes.scons("check", "verbose=1", check=False)
    path.write_text(text)
    assert refused.returncode == 2
    of_pplnn = refused.stdout.split("CPU kernel, pplnn of DecodeBoxes")[1]
    assert problem in of_pplnn


@pytest.mark.parametrize(
    ("type_", "value", "problem"),
    [
        ("VX_TYPE_UINT8", 256, "256 (expected a whole number from 0 to 255)"),
        ("VX_TYPE_INT8", 0.5, "0.5 (expected a whole number from -128 to 127)"),
        ("VX_TYPE_ARRAY", [], "has 0 items (expected 1 to 20,000, the limit of PPLNN)"),
    ],
)
def test_values_out_of_range_for_attributes(type_: str, value: object, problem: str) -> None:
    with pytest.raises(RefusedError, match=re.escape(problem)):
        CONVENTION.marshal([Param("p", PARAM_TYPES[type_])], {"p": value})


def test_a_double_arrives_as_its_attribute() -> None:
    """ONNX has float attributes, so only the default of a double stays exact."""
    param = Param("p", PARAM_TYPES["VX_TYPE_FLOAT64"], default=0.1)
    (value,) = CONVENTION.marshal([param], {"p": 0.3})
    assert struct.unpack("<d", value.data) == struct.unpack("<f", struct.pack("<f", 0.3))
    (value,) = CONVENTION.marshal([param], {"p": 0.1})
    assert struct.unpack("<d", value.data) == (0.1,)
