"""The C in docs/rknn2.md, which applications copy: it compiles, and checks for errors."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from opkit.description.spec import OpSpec
from tests.compiling import build, compile_c
from tests.pages import PAGES, blocks
from tests.runtimes.c_math import compute_text
from tests.runtimes.rknn2.support import HEADERS, write_operator

DESCRIPTION = """\
name: Blend
runtimes: [rknn2]
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR}}
"""
COMPUTE = compute_text("blend", "")
RKNN_API = """\
/* Those declarations of the vendor's rknn_api.h that an application needs. */
#include <rknn_custom_op.h>

#define RKNN_SUCC 0

typedef struct _rknn_init_extend rknn_init_extend;

int rknn_init(rknn_context *context, void *model, uint32_t size, uint32_t flag,
              rknn_init_extend *extend);
int rknn_destroy(rknn_context context);
"""
APPLICATION = """\
#include <string.h>

#include "snippet.c"

static const char *failing;

int rknn_init(rknn_context *context, void *model, uint32_t size, uint32_t flag,
              rknn_init_extend *extend)
{
    (void)model, (void)size, (void)flag, (void)extend;
    *context = 7;
    return strcmp(failing, "rknn_init") == 0 ? -3 : 0;
}

int rknn_destroy(rknn_context context)
{
    printf("destroyed %d\\n", (int)context);
    return 0;
}

int rknn_register_custom_ops(rknn_context context, rknn_custom_op *op, uint32_t count)
{
    (void)op;
    printf("registered %d in %d\\n", (int)count, (int)context);
    return strcmp(failing, "blend_register_all") == 0 ? -1 : 0;
}

int main(int count, char **arguments)
{
    rknn_context context = 0;

    failing = arguments[count - 1];
    printf("load returns %d\\n", load(&context, NULL, 0));
    return 0;
}
"""


def write_application(folder: Path) -> OpSpec:
    """Write the operator, and the page's C as snippet.c."""
    spec = write_operator(folder, DESCRIPTION, COMPUTE)
    (block,) = blocks("c", PAGES["rknn2"])
    (folder / "snippet.c").write_text(block.replace("resizearea", "blend"))
    return spec


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("application")
    write_application(folder)
    (folder / "rknn_api.h").write_text(RKNN_API)
    (folder / "application.c").write_text(APPLICATION)
    files = ("application.c", "rknn2/blend_custom_op.c", "rknn2/register_all.c")
    sources = [folder / file for file in files]
    flags = (HEADERS, f"-I{folder}", "-Wno-missing-prototypes", "-Wno-reserved-identifier")
    return build(folder / "application", *sources, *flags)


@pytest.mark.parametrize(
    ("failing", "printed", "message"),
    [
        ("nothing", ["registered 1 in 7", "load returns 0"], ""),
        ("rknn_init", ["load returns -3"], "rknn_init returns -3\n"),
        (
            "blend_register_all",
            ["registered 1 in 7", "destroyed 7", "load returns -1"],
            "blend_register_all returns -1\n",
        ),
    ],
)
def test_application(program: Path, failing: str, printed: list[str], message: str) -> None:
    result = subprocess.run([program, failing], capture_output=True, text=True, check=True)
    assert (result.stdout.splitlines(), result.stderr) == (printed, message)


@pytest.mark.skipif(
    "RKNN_INCLUDE" not in os.environ,
    reason="RKNN_INCLUDE names no folder with the vendor's headers",
)
def test_application_with_the_headers_of_the_vendor(tmp_path: Path) -> None:
    write_application(tmp_path)
    headers = f"-isystem{os.environ['RKNN_INCLUDE']}"
    for source in ("snippet.c", "rknn2/blend_custom_op.c", "rknn2/register_all.c"):
        arguments = ("-c", tmp_path / source, headers, f"-I{tmp_path}", "-Wno-missing-prototypes")
        result = compile_c(tmp_path / "object.o", *arguments)
        assert result.returncode == 0, result.stderr
