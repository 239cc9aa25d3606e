"""Operators with `threads` in ppl.nn: kernel objects keep the threads."""

from __future__ import annotations

import numpy as np
import pytest

from opkit import runtimes
from opkit.runtimes.pplnn.sources import sources
from opkit.runtimes.pplnn.tree_names import ENGINES
from tests.runtimes.pplnn.engines import SUCCESS, Engine, build
from tests.runtimes.rknn2.test_node_threads import COMPUTE, DESCRIPTION, PARAM

TEXT = DESCRIPTION.replace("rknn2", "pplnn")
COUNT = """\
    struct stat tasks;
    if (begin == 0 && stat("/proc/self/task", &tasks) == 0) {
        fprintf(stderr, "%d threads", (int)tasks.st_nlink - 2);
    }
"""
COUNTED = COMPUTE.replace("    for (size_t i", f"{COUNT}    for (size_t i")
GUARDED = f"#ifndef C_H\n#define C_H\n#include <stdio.h>\n#include <sys/stat.h>\n{COUNTED}#endif\n"


@pytest.fixture(scope="module", params=["", PARAM])
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    mine = tmp_path_factory.mktemp("mine")
    (mine / "twice_compute.h").write_text(GUARDED)
    return build(runtimes.parse(TEXT + request.param), tmp_path_factory.mktemp("twice"), mine)


@pytest.mark.slow
@pytest.mark.parametrize("name", ENGINES)
def test_kernel_keeps_threads(name: str, engine: Engine) -> None:
    x = np.arange(1000, dtype=np.float32)
    answer = engine.run(name, {"x": x})
    assert answer.status["execute"] == SUCCESS
    assert answer.outputs["y"].tolist() == (2 * x).tolist()
    assert answer.log == "4 threads"


def test_only_operators_with_threads_have_their_code() -> None:
    without = sources(runtimes.parse(TEXT.replace("threads: 4\n", "")))
    assert not [path for path, text in without.items() if "hread" in text]


def test_macros_precede_includes() -> None:
    (glue,) = [
        text for path, text in sources(runtimes.parse(TEXT)).items() if path.endswith("glue.cc")
    ]
    assert glue.index("#define OPKIT_THREADS 4 ") < glue.index("#include")
