"""plugin(env, abi): compile, link and check the plugin, and build what runs its cases."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from SCons.Action import Action

from opkit.build.compile_environment import compiler_for, words
from opkit.build.harness import GUARDED, Parts, harness, runtime_library
from opkit.build.libraries import (
    Phase,
    archive,
    instrumented,
    kernel_objects,
    profiled_objects,
    stub,
    thread_libraries,
)
from opkit.build.machinery import FOLDER as MACHINERY
from opkit.build.options import Request, print_errors
from opkit.common import file_io
from opkit.common.errors import OpkitError
from opkit.description.spec import OpSpec
from opkit.files import c_parts
from opkit.runtimes.rknn2.c_files import application_sources, operator_sources, plugin_sources
from opkit.runtimes.rknn2.describe import NAME
from opkit.runtimes.rknn2.gpu_files import (
    BUILD_FOLDER,
    GPU,
    HOST_FOLDER,
    kernel_file,
    kernel_header,
    kernel_source,
)
from opkit.runtimes.rknn2.scons.opencl import opencl
from opkit.toolchains import elf
from opkit.toolchains.abi import ANDROID_ABIS, EVERY_ABI

_ENTRY = "get_rknn_custom_op"
_RUNTIME = elf.SystemLibrary("librknnrt.so", symbols="rknn_")
_LINUX = ("libc.so.6", "libm.so.6")
_ANDROID = ("libc.so", "libm.so", "libdl.so")


def _requirements(abi: str, has_threads: bool, has_gpu: bool) -> elf.Requirements:
    """Return the required export of a plugin, and the libraries that it may need."""
    threads = ("libpthread.so.0",) if has_threads or has_gpu else ()
    loader = ("libdl.so.2",) if has_gpu else ()  # opens libOpenCL.so
    names = _ANDROID if abi in ANDROID_ABIS else (*_LINUX, *threads, *loader)
    return elf.Requirements((_ENTRY,), (_RUNTIME, *map(elf.SystemLibrary, names)))


def check_plugin(path: Path, abi: str, has_threads: bool = False, has_gpu: bool = False) -> None:
    """Check that the boards of an ABI can load a plugin; on this PC, any glibc is accepted.

    Args:
        path: the plugin.
        abi: the name of its ABI.
        has_threads: whether the operator has threads of its own.
        has_gpu: whether it has a GPU kernel.
        has_gpu: whether it has a GPU kernel.

    Raises:
        OpkitError: the plugin cannot be read, or violates a requirement; the message lists every
            reason.
    """
    requirements = _requirements(abi, has_threads, has_gpu)
    elf.check(path, EVERY_ABI[abi], requirements, any_glibc=abi not in ("aarch64", "armhf"))


RUNTIME = f"{MACHINERY}/runtimes/rknn2"
INCLUDE = "include/librknnrt"
FOLDER = BUILD_FOLDER
HEADERS = ("rknn_custom_op.h", "rknn_api.h")


def options(variables: Any, operator: OpSpec) -> None:
    """Add the option for the folder of the vendor's headers."""
    text = "a folder with the vendor's rknn_custom_op.h and rknn_api.h, in place of opkit's"
    variables.Add("RKNN_INCLUDE", text, "")


def check(env: Any, request: Request) -> None:
    """Refuse a folder without the headers.

    Raises:
        OpkitError: a header is missing.
    """
    folder = env["RKNN_INCLUDE"]
    for header in HEADERS if folder else ():
        if not Path(folder, header).is_file():
            raise OpkitError(
                f"RKNN_INCLUDE={folder}: no {header} there (expected the folder of the vendor's "
                "SDK that holds it, such as rknpu2/runtime/Linux/librknn_api/include)"
            )


def objects(env: Any, sources: Sequence[str], folder: str, **flags: list[str]) -> list[Any]:
    """Return the nodes of the operator's objects, compiled with the headers of the options.

    Args:
        env: the environment of an ABI's compiler, compiler_for(env, abi).
        sources: the paths of the sources.
        folder: the folder of the objects.
        flags: appended to construction variables for these objects, such as CCFLAGS.
    """
    if env["RKNN_INCLUDE"]:
        env = env.Clone()
        own = env.Dir(f"#{INCLUDE}").path
        env.Replace(CPPPATH=[each for each in env["CPPPATH"] if env.Dir(each).path != own])
        # As system headers: compilers must not warn of the vendor's code.
        env.Append(CCFLAGS=words(["-isystem", Path(env["RKNN_INCLUDE"]).absolute()]))
    if GPU in env["OPERATOR"].kernels:
        env = env.Clone()
        env.Append(CPPPATH=[_gpu_kernel(env).dir])
    return kernel_objects(env, sources, folder, **flags)


def _gpu_kernel(env: Any) -> Any:
    """Return the node of the header with the text of the GPU kernel."""
    operator = env["OPERATOR"]
    header = f"{FOLDER}/{kernel_header(operator)}"
    node = env.File(header)
    if not node.has_builder():  # the environment of another ABI has declared it
        env.Command(node, kernel_file(operator), Action(print_errors(_write_kernel_source), None))
    return node


def _write_kernel_source(target: Any, source: Any, env: Any) -> None:
    text = Path(source[0].path).read_text(encoding="utf-8")
    file_io.write_atomically(Path(target[0].path), kernel_source(text, env["OPERATOR"]).encode())


def plugin(env: Any, abi_name: str) -> list[Any]:
    """Return the nodes of `librkcst_<op>.so` and `lib<op>_custom_op.a` in `build/rknn2/<abi>/`."""
    env.SetDefault(RKNN2_PLUGINS={})  # declared once for each ABI
    if abi_name not in env["RKNN2_PLUGINS"]:
        operator = env["OPERATOR"]
        folder = f"{FOLDER}/{abi_name}"
        abi_env = compiler_for(env, abi_name)
        common = objects(abi_env, operator_sources(operator), folder)
        librknnrt = stub(abi_env, f"{folder}/stub/librknnrt.so", f"{RUNTIME}/librknnrt_stub.c")
        library = linked_plugin(
            abi_env.Clone(ABI_NAME=abi_name),
            folder,
            [*common, *objects(abi_env, plugin_sources(operator), folder)],
            librknnrt,
            Action(print_errors(_examine), None, varlist=["ABI_NAME"]),
        )
        linked = [*common, *objects(abi_env, application_sources(), folder)]
        archived = archive(abi_env, f"{folder}/lib{operator.lower}_custom_op.a", linked)
        env["RKNN2_PLUGINS"][abi_name] = [*library, *archived]
    return list(env["RKNN2_PLUGINS"][abi_name])


def static_library(env: Any, abi_name: str) -> list[Any]:
    """Return the node of `lib<op>_custom_op.a` alone; see plugin."""
    return [node for node in plugin(env, abi_name) if node.path.endswith(".a")]


def linked_plugin(
    env: Any, folder: str, objects: Sequence[Any], librknnrt: Sequence[Any], *checks: Any
) -> Any:
    """Return the node of `librkcst_<op>.so` in a folder.

    It exports get_rknn_custom_op and nothing else. Linked against a librknnrt.so, it makes the
    loader find the runtime, no matter how that was loaded.

    Args:
        env: the environment of an ABI's compiler.
        folder: the folder of the plugin.
        objects: the nodes of its objects.
        librknnrt: the node of the library to link against.
        checks: the actions that examine the plugin.
    """
    exports = f"{RUNTIME}/plugin.exports"
    library = env.Command(
        f"{folder}/librkcst_{env['OPERATOR'].lower}.so",
        objects,
        [Action("$SHAREDCOM", "$SHAREDCOMSTR"), *checks],
        LIBRARIES=[
            f"-Wl,--version-script={exports}",
            "-Wl,-z,defs",
            f"-L{librknnrt[0].dir.path}",
            "-Wl,--no-as-needed",
            "-lrknnrt",
            "-Wl,--as-needed",
            "-lm",
            *(["-ldl"] if GPU in env["OPERATOR"].kernels else []),
            *thread_libraries(env),
        ],
    )
    env.Depends(library, [librknnrt, exports])
    return library


def deliver(env: Any, folder: str, built: Sequence[Any]) -> list[Any]:
    """Return the nodes of built files, copied to a target's folder in `build/`."""
    return [
        node
        for source in built
        for node in env.Command(
            f"build/{folder}/{source.name}", source, Action(print_errors(_deliver), None)
        )
    ]


def _examine(target: Any, source: Any, env: Any) -> None:

    operator = env["OPERATOR"]
    has_gpu = GPU in operator.kernels
    check_plugin(Path(target[0].path), env["ABI_NAME"], operator.has_threads, has_gpu)


def _deliver(target: Any, source: Any, env: Any) -> None:
    path = Path(target[0].path)
    file_io.write_atomically(path, Path(source[0].path).read_bytes())
    # One write per line: other targets are built in parallel.
    print(f"{path}: {path.stat().st_size} bytes\n", end="")


HOST_RUNTIME = f"{RUNTIME}/host_runtime/*.c"
INCLUDES = (f"#{RUNTIME}/include",)
PROFILED = f"{HOST_FOLDER}/profiled"
CONVERSION = Phase(
    "conversion",
    '"include/opkit/runtimes/rknn2/tensors.h"',
    ("opkit_read_tensor", "opkit_write_tensor"),
)


def host(env: Any, reports: bool) -> list[Any]:
    """Return the nodes that the cases need besides the plugin for this PC.

    In `build/rknn2/host/` they are the host runtime, librknnrt.so, and an instrumented plugin.

    Args:
        env: the environment.
        reports: whether a report follows, which needs the profiled plugin.
    """
    librknnrt = runtime_library(env, f"{HOST_FOLDER}/librknnrt.so", HOST_RUNTIME, INCLUDES)
    host_env = instrumented(compiler_for(env, "x64"))
    library = linked_plugin(host_env, HOST_FOLDER, _kernel(host_env, HOST_FOLDER), librknnrt)
    nodes = [harness(env), librknnrt, library]
    nodes += opencl(env) if GPU in env["OPERATOR"].kernels else []
    if reports:
        plain_env, operator = compiler_for(env, "x64"), env["OPERATOR"]
        kernel, *others = operator_sources(operator)
        compiled = profiled_objects(
            plain_env,
            PROFILED,
            [CONVERSION],
            lambda flags: objects(plain_env, [kernel], PROFILED, CCFLAGS=flags),
            c_parts.definitions(operator),
        )
        compiled += objects(plain_env, [*others, *plugin_sources(operator)], PROFILED)
        nodes.append(linked_plugin(plain_env, PROFILED, compiled, librknnrt))
    return nodes


def _kernel(env: Any, folder: str, flags: Sequence[str] = ()) -> list[Any]:
    operator = env["OPERATOR"]
    sources = [*operator_sources(operator), *plugin_sources(operator)]
    return objects(env, sources, folder, CCFLAGS=[*GUARDED, *flags])


HARNESS_PARTS = Parts(f"{NAME}-", _ENTRY, _kernel, (HOST_RUNTIME,), INCLUDES)
