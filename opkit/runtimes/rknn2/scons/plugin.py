"""plugin(env, abi): compile, link and check the plugin; archive the static library."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from SCons.Action import Action

from opkit import atomic_file
from opkit.build.compile_environment import compiler_for, words
from opkit.build.libraries import archive, kernel_objects, stub, thread_libraries
from opkit.build.machinery import FOLDER as MACHINERY
from opkit.build.options import Request, print_errors
from opkit.description.spec import OpSpec
from opkit.errors import OpkitError
from opkit.runtimes.rknn2.sources import application_sources, operator_sources, plugin_sources

RUNTIME = f"{MACHINERY}/runtimes/rknn2"
INCLUDE = "include/librknnrt"
FOLDER = "build/rknn2"
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
    return kernel_objects(env, sources, folder, **flags)


def plugin(env: Any, abi_name: str) -> list[Any]:
    """Return the nodes of `librkcst_<op>.so` and `lib<op>_custom_op.a` in `build/rknn2/<abi>/`."""
    env.SetDefault(RKNN2_PLUGINS={})  # declared once for each ABI
    if abi_name not in env["RKNN2_PLUGINS"]:
        env["RKNN2_PLUGINS"][abi_name] = _plugin(env, abi_name)
    return list(env["RKNN2_PLUGINS"][abi_name])


def static_library(env: Any, abi_name: str) -> list[Any]:
    """Return the node of `lib<op>_custom_op.a` alone; see plugin."""
    return [node for node in plugin(env, abi_name) if node.path.endswith(".a")]


def _plugin(env: Any, abi_name: str) -> list[Any]:
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
    application = [*common, *objects(abi_env, application_sources(), folder)]
    return [*library, *archive(abi_env, f"{folder}/lib{operator.lower}_custom_op.a", application)]


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
    from opkit.runtimes.rknn2.library_check import check_plugin

    check_plugin(Path(target[0].path), env["ABI_NAME"], env["OPERATOR"].has_threads)


def _deliver(target: Any, source: Any, env: Any) -> None:
    path = Path(target[0].path)
    atomic_file.write(path, Path(source[0].path).read_bytes())
    # One write per line: other targets are built in parallel.
    print(f"{path}: {path.stat().st_size} bytes\n", end="")
