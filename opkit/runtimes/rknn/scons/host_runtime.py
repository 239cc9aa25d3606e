"""host(env, reports): the host runtime, the libraries for the cases, the VX runtime."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from SCons.Action import Action

from opkit.build.compile_environment import compiler_for
from opkit.build.harness import GUARDED, RUNTIME_LINK, Parts, harness, linked, runtime_library
from opkit.build.libraries import Phase, instrumented, kernel_objects, profiled_objects
from opkit.build.machinery import FOLDER as MACHINERY
from opkit.build.user_cache import shared_folder
from opkit.common.errors import OpkitError
from opkit.opencl.clang import FOLDER as VX_FOLDER
from opkit.opencl.clang import code, language, share_precompiled
from opkit.runtimes.rknn.kernel_source import kernel_sources
from opkit.runtimes.rknn.settings import has_vx_kernel, settings

FOLDER = "build/host"
PROFILED = f"{FOLDER}/profiled"
RUNTIME = f"{MACHINERY}/runtimes/rknn/host_runtime/*.c"
INCLUDES = (f"#{MACHINERY}/runtimes/rknn/include",)
VX_COMPILE = "-std=c11 -D_GNU_SOURCE -O2 -fPIC -fno-sanitize=undefined".split()
VX_LINK = "-Wl,-Bsymbolic -lm -ldl".split()


def host(env: Any, reports: bool) -> list[Any]:
    """Return the nodes that the cases need besides the device library for this PC.

    One is a library like the device library, but instrumented, and with guarded tensors. It is
    never packed.

    Args:
        env: the environment.
        reports: whether a report follows, which needs the profiled library.
    """
    runtime = runtime_library(env, f"{FOLDER}/libOpenVX.so", RUNTIME, INCLUDES)
    host_env = instrumented(compiler_for(env, "x64"))
    guarded = _library(host_env, FOLDER, _kernel(host_env, FOLDER, []), runtime)
    nodes = [harness(env), runtime, guarded]
    nodes += [_profiled_library(env, runtime)] if reports else []
    own = settings(env["OPERATOR"])
    if not has_vx_kernel(env["OPERATOR"]):
        return nodes
    # The precompiled prelude of VX kernels comes from the user's cache, or goes there.
    shared = shared_folder(env)
    flags = (*language(own.vx_version), *code(sanitize=True, debug=False))
    if shared is not None:
        # A failure is ignored here: the next step compiles its own prelude, or reports the error.
        with suppress(OSError, OpkitError):
            share_precompiled(VX_FOLDER.absolute(), flags, shared)
    vx_runtime = linked(  # the emulator's part of the harness
        env,
        "$SHAREDCOM",
        target=f"{FOLDER}/vx_runtime.so",
        sources=[f"{MACHINERY}/{folder}/runtime/*.c" for folder in ("opencl", "runtimes/rknn/vx")],
        objects=f"{FOLDER}/vx/",
        CCFLAGS=VX_COMPILE,
        LINKFLAGS=RUNTIME_LINK,
        LIBRARIES=VX_LINK,
    )
    return [*nodes, vx_runtime]


def harness_parts(env: Any) -> Parts:
    """Return the parts of static harnesses."""
    return Parts(
        prefix="",
        entry=f"vx_kernel_{env['OPERATOR'].name}_list",
        kernel=_kernel,
        sources=(RUNTIME,),
        includes=INCLUDES,
    )


def _kernel(env: Any, folder: str, flags: list[str]) -> list[Any]:
    # Each tensor that the kernel opens lies between guard pages, instead of all in one block.
    sources = kernel_sources(env["OPERATOR"])
    return kernel_objects(env, sources, folder, CCFLAGS=[*GUARDED, *flags])


def _profiled_library(env: Any, host_runtime: Any) -> Any:
    """Return the node of a library like the device library, with a profile."""
    host_env = compiler_for(env, "x64")
    kernel, *others = kernel_sources(env["OPERATOR"])
    objects = profiled_objects(
        host_env,
        PROFILED,
        [Phase("copy", "<VX/vx_helper.h>", ("vxCopyTensorPatch",))],
        lambda flags: kernel_objects(host_env, [kernel], PROFILED, CCFLAGS=flags),
    )
    objects += kernel_objects(host_env, others, PROFILED)
    return _library(host_env, PROFILED, objects, host_runtime)


def _library(env: Any, folder: str, objects: list[Any], host_runtime: Any) -> Any:
    """Return the node of `lib<operator>.so` in a folder, linked to the host runtime."""
    operator = env["OPERATOR"]
    exports = f"generated/{operator.lower}.exports"
    library = env.Command(
        f"{folder}/lib{operator.lower}.so",
        objects,
        Action("$SHAREDCOM", "$SHAREDCOMSTR"),
        LIBRARIES=[
            f"-Wl,--version-script={exports}",
            "-Wl,-z,defs",
            f"-L{FOLDER}",
            "-lOpenVX",
            "-lm",
        ],
    )
    env.Depends(library, [host_runtime, exports])
    return library
