"""The generated files that exist only for the files that name them."""

from __future__ import annotations

from pathlib import Path

import pytest

from opkit import repository
from opkit.files.generation import ACTION
from tests.repositories import Repository
from tests.rknn_op.command import rknn_op, snapshot

TENSORS = "inputs: {x: {type: VX_TYPE_TENSOR}}\noutputs: {y: {type: VX_TYPE_TENSOR}}\n"
COMPUTE = "include/opkit/compute"


@pytest.mark.parametrize(("runtime", "most"), [("rknn", 40), ("rknn2", 34)])
def test_number_of_files(runtime: str, most: int, tmp_path: Path) -> None:
    (tmp_path / "copy.yml").write_text(f"name: Copy\nruntimes: [{runtime}]\n{TENSORS}")
    made = tmp_path / "Copy"
    done = rknn_op("create", "-c", str(tmp_path / "copy.yml"), "-p", str(made))
    assert done.exit_code == 0, done.output
    assert len(snapshot(made)) <= most
    assert not (made / COMPUTE / "fourier.h").exists()
    assert rknn_op("lint", str(made)).exit_code == 0


@pytest.fixture
def root(copy_of_fresh: Repository) -> Path:
    return copy_of_fresh.path


def include(file: Path, header: str) -> None:
    """Write an #include at the top of a file, which is made if it does not exist."""
    before = file.read_text() if file.exists() else ""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#include {header}\n{before}")


def headers(root: Path) -> set[str]:
    return {path for path in snapshot(root) if path.startswith("include/")}


@pytest.mark.parametrize(
    ("file", "header", "added"),
    [
        ("myoperator_compute.h", f'"{COMPUTE}/math.h"', {"math.h", "processor.h"}),
        ("src/more.cpp", f'"../{COMPUTE}/reduce.h"', {"processor.h", "reduce.h"}),
        ("src/more.h", "<opkit/compute/axes.h>", {"axes.h", "processor.h"}),
        (
            "rknn_kernel_myoperator.c",
            f'"{COMPUTE}/elementwise.h"',
            {"elementwise.h", "parallel.h", "processor.h", "thread_pool.h"},
        ),
    ],
)
def test_header_follows_the_files_that_include_it(
    file: str, header: str, added: set[str], root: Path
) -> None:
    before = headers(root)
    include(root / file, header)
    missing = rknn_op("lint", str(root)).stdout
    repository.update(root)
    new = {f"{COMPUTE}/{name}" for name in added}
    assert headers(root) - before == new
    assert all(path in missing for path in new)
    for path in new:
        assert path in repository.read_manifest(root).generated
    text = (root / file).read_text().partition("\n")[2]
    (root / file).write_text(text)
    repository.update(root)
    assert headers(root) == before


def test_header_stays_as_long_as_a_file_includes_it(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also one outside of the build, and by a macro."""
    include(root / "myoperator_compute.h", f'"{COMPUTE}/fourier.h"')
    repository.update(root)
    (root / "tools").mkdir()
    (root / "tools/bench.c").write_text(
        f'#define HEADER "../{COMPUTE}/fourier.h"\n#include HEADER\n'
    )
    text = (root / "myoperator_compute.h").read_text().partition("\n")[2]
    (root / "myoperator_compute.h").write_text(text)
    repository.update(root)
    assert f"{COMPUTE}/fourier.h" in headers(root)
    (root / "tools/bench.c").unlink()
    assert capsys.readouterr().out == ""
    repository.update(root)
    assert capsys.readouterr().out == f"delete {COMPUTE}/fourier.h: no file names it\n"
    assert f"{COMPUTE}/fourier.h" not in headers(root)


def test_headers_of_the_vendor(root: Path) -> None:
    before = headers(root)
    include(root / "rknn_kernel_myoperator.c", "<VX/vx_khr_cnn.h>")
    repository.update(root)
    assert headers(root) - before == {"include/VX/vx_khr_cnn.h"}


@pytest.mark.parametrize("folder", ["build", ".hidden", "env", "node_modules"])
def test_files_of_others_are_not_read(folder: str, root: Path) -> None:
    before = headers(root)
    include(root / folder / "a.c", f'"../{COMPUTE}/math.h"')
    (root / "env").mkdir(exist_ok=True)
    (root / "env/pyvenv.cfg").touch()
    repository.update(root)
    assert headers(root) == before


def test_steps_of_ci_follow_the_workflow(root: Path) -> None:
    workflow = root / ".github/workflows/ci.yml"
    text = workflow.read_text()
    workflow.unlink()
    repository.update(root)
    assert not (root / ACTION).exists()
    (root / ".github/workflows/mine.yaml").write_text(text)
    repository.update(root)
    assert (root / ACTION).is_file()
