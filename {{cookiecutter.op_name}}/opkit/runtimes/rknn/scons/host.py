"""env.Host(): what plays the board on this PC, in `build/host/`."""

from __future__ import annotations

from typing import Any

from SCons.Action import Action

from opkit.runtimes.rknn.settings import settings

FOLDER = "build/host"
# Each tensor that the kernel opens lies between forbidden pages, instead of all in one block.
GUARDED = ["-DOPKIT_GUARDED"]
# zig would check for undefined behaviour by default, and compile a library for that.
RUNTIME_COMPILE = "-O2 -g -fno-omit-frame-pointer -fno-sanitize=undefined".split()
LINK = "-fno-sanitize=undefined -Wl,-z,defs".split()
VX_COMPILE = "-std=c11 -D_GNU_SOURCE -O2 -fno-sanitize=undefined".split()
# A kernel, which is a library, finds the functions that it calls in the program.
VX_LINK = "-rdynamic -lm -ldl".split()


def exists(env: Any) -> bool:
    """Whether the tool can be used: always; a missing compiler is named when it is needed."""
    return True


def generate(env: Any) -> None:
    """Add the method to the environment."""
    env.AddMethod(host, "Host")


def host(env: Any) -> list[Any]:
    """Return the nodes of all that the cases need besides the device library for this PC."""
    runtime = _host_runtime(env)
    emulator = [_vx_runtime(env)] if settings(env["OPERATOR"]).has_vx_kernel else []
    return [env.Harness(), runtime, _guarded_library(env, runtime), *emulator]


def _host_runtime(env: Any) -> Any:
    """Return the node of `libOpenVX.so`: our own small OpenVX."""
    host_env = env.CompilerFor("x64")
    host_env.Replace(CCFLAGS=RUNTIME_COMPILE, LINKFLAGS=LINK)
    host_env = host_env.UserCache()
    return host_env.Command(
        f"{FOLDER}/libOpenVX.so",
        [
            host_env.SharedObject(f"{FOLDER}/{source.name[:-2]}.o", source)
            for source in env.Glob("opkit/runtimes/rknn/host_runtime/*.c")
        ],
        Action("$SHAREDCOM", "$SHAREDCOMSTR"),
        LIBRARIES=["-Wl,-soname,libOpenVX.so"],
    )


def _guarded_library(env: Any, host_runtime: Any) -> Any:
    """Return the node of `lib<operator>.so`.

    It is compiled as the device library is, but knows its lines, and has the host runtime guard
    its tensors. It is never packed.
    """
    operator = env["OPERATOR"]
    exports = f"generated/{operator.lower}.exports"
    host_env = env.CompilerFor("x64")

    def with_lines(flags: str) -> list[str]:
        return ["-g" if flag in ("-g0", "-s") else flag for flag in host_env[flags]]

    host_env.Replace(CCFLAGS=with_lines("CCFLAGS"), LINKFLAGS=with_lines("LINKFLAGS"))
    library = host_env.Command(
        f"{FOLDER}/lib{operator.lower}.so",
        host_env.KernelObjects(FOLDER, CCFLAGS=GUARDED),
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


def _vx_runtime(env: Any) -> Any:
    """Return the node of `vx_runtime`, the program that runs VX kernels."""
    vx_env = env.CompilerFor("x64")
    vx_env.Replace(CCFLAGS=VX_COMPILE, CPPPATH=[], LINKFLAGS=LINK)
    vx_env = vx_env.UserCache()
    return vx_env.Command(
        f"{FOLDER}/vx_runtime",
        [
            vx_env.SharedObject(f"{FOLDER}/vx/{source.name[:-2]}.o", source)
            for source in env.Glob("opkit/runtimes/rknn/vx/runtime/*.c")
        ],
        Action("$PROGRAMCOM", "$SHAREDCOMSTR"),
        LIBRARIES=VX_LINK,
    )
