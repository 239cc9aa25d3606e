"""host(env): the host runtime, the guarded library and the VX runtime, in `build/host/`."""

from __future__ import annotations

from typing import Any

from SCons.Action import Action

from opkit.build.compiler import compiler_for
from opkit.build.harness import RUNTIME_LINK, harness, runtime_library
from opkit.build.host_link import linked
from opkit.build.machinery import FOLDER as MACHINERY
from opkit.build.static_harness import Parts
from opkit.runtimes.rknn.scons.kernel import kernel_objects
from opkit.runtimes.rknn.settings import settings

FOLDER = "build/host"
# Each tensor that the kernel opens lies between forbidden pages, instead of all in one block.
GUARDED = ["-DOPKIT_GUARDED"]
RUNTIME = f"{MACHINERY}/runtimes/rknn/host_runtime/*.c"
INCLUDES = (f"#{MACHINERY}/runtimes/rknn/include",)
VX_COMPILE = "-std=c11 -D_GNU_SOURCE -O2 -fno-sanitize=undefined".split()
VX_LINK = "-Wl,-Bsymbolic -lm -ldl".split()


def host(env: Any) -> list[Any]:
    """Return the nodes that the cases need besides the device library for this PC."""
    runtime = runtime_library(
        env, f"{FOLDER}/libOpenVX.so", RUNTIME, INCLUDES
    )  # our own small OpenVX
    nodes = [harness(env), runtime, _guarded_library(env, runtime)]
    if settings(env["OPERATOR"]).has_vx_kernel:
        vx_runtime = linked(  # the emulator's part of the harness
            env,
            "$SHAREDCOM",
            target=f"{FOLDER}/vx_runtime.so",
            sources=[f"{MACHINERY}/runtimes/rknn/vx/runtime/*.c"],
            objects=f"{FOLDER}/vx/",
            CCFLAGS=VX_COMPILE,
            LINKFLAGS=RUNTIME_LINK,
            LIBRARIES=VX_LINK,
        )
        nodes.append(vx_runtime)
    return nodes


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
    nodes: list[Any] = kernel_objects(env, folder, CCFLAGS=[*GUARDED, *flags])
    return nodes


def _guarded_library(env: Any, host_runtime: Any) -> Any:
    """Return the node of `lib<operator>.so`.

    It is compiled as the device library is, but with debug information, and has the host runtime
    guard its tensors. It is never packed.
    """
    operator = env["OPERATOR"]
    exports = f"generated/{operator.lower}.exports"
    host_env = compiler_for(env, "x64")

    def with_debug_info(flags: str) -> list[str]:
        return ["-g" if flag in ("-g0", "-s") else flag for flag in host_env[flags]]

    host_env.Replace(CCFLAGS=with_debug_info("CCFLAGS"), LINKFLAGS=with_debug_info("LINKFLAGS"))
    library = host_env.Command(
        f"{FOLDER}/lib{operator.lower}.so",
        kernel_objects(host_env, FOLDER, CCFLAGS=GUARDED),
        Action("$SHAREDCOM", "$SHAREDCOMSTR"),
        LIBRARIES=[
            f"-Wl,--version-script={exports}",
            "-Wl,-z,defs",
            f"-L{FOLDER}",
            "-lOpenVX",
            "-lm",
        ],
    )
    host_env.Depends(library, [host_runtime, exports])
    return library
