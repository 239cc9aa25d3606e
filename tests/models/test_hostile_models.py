"""Hostile models: one message of each verb, or a result that no terminal executes."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import onnx
import pytest
from click.testing import Result

from rknn_op.models.model_files import MAX_NODES
from tests.marks import quick_first
from tests.models.hostile import ESCAPES, INVALID, READABLE
from tests.models.models import detection_head, half, saved
from tests.repositories import ROOT
from tests.rknn_op.command import rknn_op

MESSAGES = {
    "missing file": "cannot be read: No such file or directory",
    "empty file": "is not an ONNX model: it has no graph or no opset",
    "truncated": "is not an ONNX model, or is truncated",
    "pickle": "is not an ONNX model",
    "text": "is not an ONNX model",
    "zip": "is not an ONNX model",
    "other suffix": "invalid file name (expected a model",
    "folder": "is a folder, not a file (expected an ONNX model)",
    "FIFO": "is a device or a pipe, not a file (expected an ONNX model)",
    "device": "is a device or a pipe",
    "link to itself": "cannot be read: Too many levels of symbolic links",
    "below a file": "cannot be read: Not a directory",
    "not UTF-8": r"the name '\xff\xfe\xff\x1b' is not UTF-8",
    "cycle": "node 'first' reads the tensor 'b', which a later node computes: the nodes have a",
    "unsorted nodes": "or are not in the order of computation; docs/scan.md shows how to sort them",
    "unknown tensor": "node 's' reads the tensor 'z', which is neither an input nor an output of",
    "uncomputed output": "no node computes the output 'y'",
    "tensor of two nodes": "computes the tensor 'y', which is also an output of node 'same'",
    "tensor of an input": "computes the tensor 'x', which is also an input of the graph",
    "domain without opset": "No opset import for domain com.example",
    "negative sizes": "tensor 'w' has negative sizes: [-16, 3, 3, 3]",
    "a million nodes": f"has 1,000,000 nodes (expected at most {MAX_NODES:,})",
    "nested subgraphs": "is not an ONNX model, or is truncated",
    "recursive functions": "local functions call each other in a cycle, or more than 50 deep",
    "doubling functions": f"nodes (expected at most {MAX_NODES:,})",
    "deep functions": "local functions call each other in a cycle, or more than 50 deep",
    "huge attribute": "shape inference needs more than 4 GB of memory",
    "absolute external data": "its external data in '/etc/hostname', outside of the model's folder",
    "external data of another folder": "its external data in '../outside', outside of the model's",
    "linked external data": "tensor 'w' has its external data in 'data', outside of the model's",
    "external data in two files": "tensor 'w' has invalid external data: 'data'",
    "external data of a device": "its external data in '/dev/zero', outside of the model's folder",
    "external data of a linked device": "tensor 'w' has its external data in 'data', outside of",
    "external data without a name": "has its external data in '', outside of the model's folder",
    "external data with NUL": r"tensor 'w' has invalid external data: 'data\x00'",
    "empty graph": "is not a frozen graph (GraphDef): it has no nodes",
    "truncated graph": "is not a frozen graph (GraphDef), or is truncated",
    "text graph": "is not a frozen graph",
    "cyclic graph": "the graph has a cycle: 'a' -> 'b' -> 'a'",
    "graph with an unknown node": r"""node 'a' reads 'a"b\'c\n\t\r\x1b]0;title\x07""",
    "graph with two nodes of a name": "two nodes have the name 'a'",
}
LONG = {"a million nodes"}


def scan(*arguments: object) -> Result:
    """Run the command."""
    return rknn_op("scan", *arguments)


def marked(name: str) -> object:
    return pytest.param(name, marks=[pytest.mark.slow, pytest.mark.nightly] if name in LONG else [])


def tree(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


@pytest.mark.parametrize("name", READABLE)
@pytest.mark.parametrize("option", ["--json", "--format=text", "--format=github"])
def test_readable_models(tmp_path: Path, name: str, option: str) -> None:
    result = scan(READABLE[name](tmp_path), option)
    assert (result.exit_code, result.stderr) == (1, ""), result.output
    assert all(line.isprintable() for line in result.stdout.split("\n"))


@pytest.fixture(scope="module")
def selu(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository of Selu."""
    folder = tmp_path_factory.mktemp("selu")
    result = create(saved(half(), folder), folder / "selu")
    assert result.exit_code == 0, result.output
    return folder / "selu"


def create(file: Path, folder: Path, op_type: str = "Selu") -> Result:
    """Make the repository of an operator."""
    return rknn_op("create", "--from", file, "--op", op_type, "-p", folder)


def graft(file: Path, repository: Path, output: Path) -> Result:
    """Make the nodes of a model those of a repository."""
    return rknn_op("graft", file, "-p", repository, "-o", output)


@pytest.mark.parametrize("name", [*map(marked, INVALID)])
def test_invalid_models_are_refused(tmp_path: Path, selu: Path, name: str) -> None:
    """All verbs refuse the same models, and write nothing."""
    file = INVALID[name](tmp_path)
    before = tree(tmp_path)
    scanned = scan(file)
    assert (scanned.exit_code, scanned.stdout) == (2, ""), scanned.output
    assert scanned.stderr.startswith(f"error: {file}: ")
    assert MESSAGES[name] in scanned.stderr
    assert len(scanned.stderr) < 600
    made = create(file, tmp_path / "new"), graft(file, selu, tmp_path / "new.onnx")
    for result in (scanned, *made):
        assert result.exit_code in (1, 2), result.output
        assert "Traceback" not in result.output
        assert len(result.stderr.splitlines()) == 1, result.stderr
        assert result.stderr.rstrip("\n").isprintable()
    assert tree(tmp_path) == before


@pytest.mark.parametrize("name", quick_first(3, READABLE))
def test_readable_models_do_no_harm(tmp_path: Path, selu: Path, name: str) -> None:
    """`create --from` and `graft` end with a message or a result, in their own folders."""
    inside = tmp_path / "models"
    inside.mkdir()
    file = READABLE[name](inside)
    before = tree(tmp_path)
    new, grafted = tmp_path / "new", tmp_path / "new.onnx"
    for result in (create(file, new), graft(file, selu, grafted)):
        assert result.exit_code in (0, 1, 2), result.output
        assert not set("\x1b\x07\r\u202e") & set(result.output)
    made = tree(tmp_path) - before
    assert all(path.is_relative_to(new) or path.name.startswith("new.onnx") for path in made)


def test_external_data_in_a_fifo_is_named(tmp_path: Path, selu: Path) -> None:
    """Nothing waits for its writer."""
    file = READABLE["external data in a FIFO"](tmp_path)
    for result in (
        create(file, tmp_path / "new", "GridSample"),
        graft(file, selu, tmp_path / "o.onnx"),
    ):
        assert "the external data of tensor 'w' is not in a file: 'data'" in result.stderr
    assert not [*tmp_path.glob("*new*"), *tmp_path.glob("o.onnx*")]


def test_names_are_whole_in_json_and_on_one_line_in_text(tmp_path: Path) -> None:
    file = READABLE["names"](tmp_path)
    [missing] = json.loads(scan(file, "--json").stdout)["missing"]
    [node] = missing["nodes"]
    assert (missing["domain"], node["name"], node["attributes"]) == (
        ESCAPES,
        ESCAPES,
        {ESCAPES: ESCAPES},
    )
    lines = scan(file).stdout.splitlines()
    escaped = "a\"b'c\\n\\t\\r\\x1b]0;title\\x07\\x1b[31m\\u202e\\"
    assert f"  {escaped}" in lines


def test_memory_limit_ends_with_the_inference(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    assert scan(saved(detection_head(), tmp_path)).exit_code == 1
    assert scan(INVALID["huge attribute"](tmp_path)).exit_code == 2
    assert resource.getrlimit(resource.RLIMIT_AS) == before


def test_weights_are_not_needed(tmp_path: Path) -> None:
    """Weights in any field are dropped, also of Constant nodes."""
    proto = detection_head()
    weights = onnx.numpy_helper.to_array(proto.graph.initializer[0])
    for kind in ("float_data", "Constant"):
        other = detection_head()
        tensor = other.graph.initializer[0]
        tensor.ClearField("raw_data")
        tensor.float_data.extend(weights.ravel().tolist())
        if kind == "Constant":
            node = onnx.helper.make_node("Constant", [], ["w"], value=tensor)
            other.graph.node.insert(0, node)
            del other.graph.initializer[0]
        expected = scan(saved(proto, tmp_path), "--json").stdout
        assert scan(saved(other, tmp_path), "--json").stdout == expected


@pytest.mark.slow
def test_ctrl_c(tmp_path: Path) -> None:
    nodes = [onnx.helper.make_node("Selu", [f"t{i}"], [f"t{i + 1}"]) for i in range(200_000)]
    proto = detection_head()
    proto.graph.node.extend([onnx.helper.make_node("Relu", ["x"], ["t0"]), *nodes])
    file = saved(proto, tmp_path)
    process = subprocess.Popen(
        [sys.executable, "-m", "rknn_op", "scan", str(file)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    memory = Path(f"/proc/{process.pid}/statm")
    page = resource.getpagesize()
    while int(memory.read_text().split()[1]) * page < 90e6:  # onnx is imported; the file is read
        assert process.poll() is None
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGINT)
    stdout, stderr = process.communicate(timeout=120)
    assert (process.returncode, stdout) == (130, b"")
    assert stderr == b"interrupted\n"
