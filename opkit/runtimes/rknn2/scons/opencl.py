"""opencl(env): what stands for libOpenCL while GPU kernels run on this PC."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from opkit.build.harness import RUNTIME_LINK, linked
from opkit.build.machinery import FOLDER as MACHINERY
from opkit.build.user_cache import shared_folder
from opkit.common.errors import OpkitError
from opkit.opencl.clang import share_precompiled
from opkit.runtimes.rknn2.cl_compiler import FLAGS
from opkit.runtimes.rknn2.cl_compiler import FOLDER as CL_FOLDER
from opkit.runtimes.rknn2.gpu_files import HOST_FOLDER
from opkit.runtimes.rknn2.opencl_libraries import COMPILE, EMULATOR, LINK, SHIM, Library


def opencl(env: Any) -> list[Any]:
    """Return the nodes of the emulator and of the shim before another OpenCL."""
    shared = shared_folder(env)
    if shared is not None:
        # A failure is ignored here: the next step compiles its own prelude, or reports the error.
        with suppress(OSError, OpkitError):
            share_precompiled(CL_FOLDER.absolute(), FLAGS, shared)
    return [_library(env, library) for library in (EMULATOR, SHIM)]


def _library(env: Any, library: Library) -> Any:
    return linked(
        env,
        "$SHAREDCOM",
        target=f"{HOST_FOLDER}/{library.folder}/libOpenCL.so",
        sources=[f"{MACHINERY}/{folder}/*.c" for folder in library.sources],
        objects=f"{HOST_FOLDER}/{library.folder}/",
        CCFLAGS=list(COMPILE),
        LINKFLAGS=RUNTIME_LINK,
        LIBRARIES=list(LINK),
    )
