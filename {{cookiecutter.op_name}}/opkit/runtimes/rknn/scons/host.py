"""env.Host(): what plays the board on this PC, in `build/host/`."""

from __future__ import annotations

from typing import Any

from SCons.Action import Action

FOLDER = "build/host"
# Each tensor that the kernel opens lies between forbidden pages, instead of all in one block.
GUARDED = ["-DOPKIT_GUARDED"]
HARNESS_COMPILE = "-std=c11 -O2 -g -fno-sanitize=undefined".split()
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
    return [_harness(env), runtime, _guarded_library(env, runtime), _vx_runtime(env)]


def _harness(env: Any) -> Any:
    """Return the node of `harness`, the program that loads the runtime and a kernel's library."""
    harness_env = env.CompilerFor("x64")
    harness_env.Replace(CCFLAGS=HARNESS_COMPILE)
    return harness_env.Command(
        f"{FOLDER}/harness",
        [
            harness_env.SharedObject(f"{FOLDER}/harness-{source.name[:-2]}.o", source)
            for source in env.Glob("opkit/check/harness/*.c")
        ],
        Action("$CC -o $TARGET $SOURCES -ldl", "$SHAREDCOMSTR"),
    )


def _host_runtime(env: Any) -> Any:
    """Return the node of `libOpenVX.so`: our own small OpenVX."""
    host_env = env.CompilerFor("x64")
    host_env.Replace(CCFLAGS="-std=c11 -O2 -g -fno-omit-frame-pointer", LINKFLAGS="")
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
    kernel = f"rknn_kernel_{operator.lower}"
    exports = f"generated/{operator.lower}.exports"
    host_env = env.CompilerFor("x64")

    def with_lines(flags: str) -> list[str]:
        return ["-g" if flag in ("-g0", "-s") else flag for flag in host_env[flags]]

    library = host_env.Command(
        f"{FOLDER}/lib{operator.lower}.so",
        host_env.SharedObject(
            f"{FOLDER}/{kernel}.o", f"{kernel}.c", CCFLAGS=[*with_lines("CCFLAGS"), *GUARDED]
        ),
        Action("$SHAREDCOM", "$SHAREDCOMSTR"),
        LINKFLAGS=with_lines("LINKFLAGS"),
        LIBRARIES=[f"-Wl,--version-script={exports}", f"-L{FOLDER}", "-lOpenVX", "-lm"],
    )
    host_env.Depends(library, [host_runtime, exports])
    return library


def _vx_runtime(env: Any) -> Any:
    """Return the node of `vx_runtime`, the program that runs VX kernels."""
    vx_env = env.CompilerFor("x64")
    vx_env.Replace(CCFLAGS=VX_COMPILE, CPPPATH=[])
    return vx_env.Command(
        f"{FOLDER}/vx_runtime",
        [
            vx_env.SharedObject(f"{FOLDER}/vx/{source.name[:-2]}.o", source)
            for source in env.Glob("opkit/runtimes/rknn/vx/runtime/*.c")
        ],
        Action("$CC -o $TARGET $SOURCES $LIBRARIES", "$SHAREDCOMSTR"),
        LIBRARIES=VX_LINK,
    )
