"""Without the extra `onnx`: verbs that read models name the command that installs it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from rknn_op.models.model_files import EXTRA
from tests.models.models import detection_head, frozen_graph, saved, saved_graph
from tests.repositories import ROOT

WITHOUT = """\
import sys


class Finder:
    def find_spec(self, name, path=None, target=None):
        if name in {libraries}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)


sys.meta_path.insert(0, Finder())
{more}
from rknn_op.__main__ import main
main()
"""


def rknn_op(
    *arguments: object,
    libraries: Sequence[str] = ("onnx", "onnxruntime", "tensorboardX", "google"),
    more: str = "",
) -> subprocess.CompletedProcess[str]:
    """Run the command in a Python without the libraries; `more` runs before."""
    program = WITHOUT.format(libraries=libraries, more=more)
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("library", ["onnx", "tensorboardX"])
def test_scan_names_the_extra(tmp_path: Path, library: str) -> None:
    is_onnx = library == "onnx"
    file = saved(detection_head(), tmp_path) if is_onnx else saved_graph(frozen_graph(), tmp_path)
    done = rknn_op("scan", file)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"error: {library} is not installed, which reads models; install it: "
        f"{sys.executable} -m pip install onnx onnxruntime onnxscript tensorboardX\n"
    )


@pytest.mark.parametrize("arguments", [["--help"], ["scan", "--help"], ["targets"]])
def test_other_verbs_do_without_it(arguments: list[str]) -> None:
    done = rknn_op(*arguments)
    assert (done.returncode, done.stderr) == (0, "")


def test_broken_library(tmp_path: Path) -> None:
    """A library that is installed, but lacks one of its own parts, is not missing."""
    (tmp_path / "onnx.py").write_text("import no_such_part\n")
    done = rknn_op(
        "scan",
        saved(detection_head(), tmp_path),
        libraries=["no_such_part"],
        more=f"sys.path.insert(0, {str(tmp_path)!r})",
    )
    assert done.returncode == 2
    assert done.stderr == (
        "error: onnx cannot be imported: No module named 'no_such_part'; install onnx again\n"
    )


def test_extra_of_the_distribution() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    extras = {
        name: re.findall(r'^  "([\w.\[\]-]+)', lines, re.MULTILINE)
        for name, lines in re.findall(r"^(\w+) = \[\n(.*?)^\]", text, re.MULTILINE | re.DOTALL)
    }
    assert extras["onnx"] == ["onnx", "onnxruntime", "onnxscript", "tensorboardX"]
    assert " ".join(extras["onnx"]) == EXTRA
    assert '"rknn-op-template[docs,onnx]",' in text  # what the tests require
