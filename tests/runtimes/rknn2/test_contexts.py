"""Several contexts with one node: rknn_dup_context, and two rknn_init in threads."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.compiling import C_SOURCES, build
from tests.runtimes.rknn2.support import HEADERS, write_operator
from tests.runtimes.rknn2.test_tensors import COMPUTE, DESCRIPTION

# The params of a node are 3 blocks; a call that has run at the same time as no other adds 1.
AFTER_DUP_CONTEXT = """\
init 0, 3 blocks
init 0, 6 blocks
init 0, 6 blocks
2 6 0 4
compute 0
destroy 0, 7 blocks
2 6 0 4
compute 0
destroy 0, 3 blocks
compute -1
destroy 0, 3 blocks
init 0, 6 blocks
destroy 0, 3 blocks
2 6 0 4
compute 0
destroy 0, 0 blocks
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("contexts")
    write_operator(folder, DESCRIPTION, COMPUTE)
    source = C_SOURCES / "rknn2_contexts.c"
    return build(folder / "contexts", source, HEADERS, f"-I{folder}", "-lpthread")


def test_contexts_share_a_node(program: Path) -> None:
    result = subprocess.run([program], capture_output=True, text=True, check=True)
    assert result.stdout == AFTER_DUP_CONTEXT
    assert result.stderr == "Two: the node is not initialized, or already destroyed\n"


def test_contexts_in_threads(program: Path) -> None:
    result = subprocess.run([program, "threads"], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-4:] == ["lived"] * 4
