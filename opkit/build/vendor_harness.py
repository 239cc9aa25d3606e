"""Harnesses that call a kernel by a vendor's own runtime, in `build/check/<name>/`.

They load the vendor's library, so they are linked with glibc like any application on a device,
unlike the static programs of static_harness.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from SCons.Action import Action

from opkit.build.compiler import compiler_for
from opkit.build.harness import SOURCES
from opkit.build.machinery import INCLUDES
from opkit.build.user_cache import user_cache

FOLDER = "build/check"
_COMPILE = ["-O2", "-g0"]


def vendor_harness(
    env: Any,
    abi: str,
    name: str,
    sources: Sequence[str],
    includes: Sequence[str] = (),
    kernel: Sequence[Any] = (),
    entry: str = "harness_runtime",
) -> Any:
    """Return the node of a harness for an ABI.

    Args:
        env: the environment.
        abi: the name of the ABI.
        name: the name of its folder.
        sources: the patterns of the runtime's part, which loads the vendor's library.
        includes: additional folders of headers for these sources.
        kernel: the nodes of the kernel's objects and static libraries, if it is not loaded.
        entry: the kernel's symbol, the first argument of the runtime's `prepare`.
    """
    own_env = compiler_for(env, abi)
    link = own_env["PROGRAMCOM"]
    objects = [
        *_objects(own_env, f"{name}/harness-", [SOURCES], [], {"HARNESS_ENTRY": entry}),
        *_objects(own_env, f"{name}/", sources, includes),
    ]
    return own_env.Command(
        f"{FOLDER}/{name}/harness",
        [*objects, *kernel],
        Action(link, "$SHAREDCOMSTR"),
        LIBRARIES=["-lm", "-ldl", "-lpthread"],
    )


def stand_in(
    env: Any, abi: str, target: str, sources: Sequence[Any], link_flags: Sequence[str] = ()
) -> Any:
    """Return the node of a library in place of a vendor's, or before libc's (LD_PRELOAD).

    Args:
        env: the environment.
        abi: the name of the ABI.
        target: the library, in `build/check/`.
        sources: the patterns of its sources, or nodes.
        link_flags: additional flags of the linker, such as the soname.
    """
    own_env = compiler_for(env, abi)
    prefix = target.rpartition("/")[0] + "/"
    return own_env.Command(
        f"{FOLDER}/{target}",
        _objects(own_env, prefix, sources, []),
        Action(own_env["SHAREDCOM"], "$SHAREDCOMSTR"),
        LIBRARIES=[*link_flags, "-ldl", "-lpthread"],
    )


def _objects(
    env: Any,
    prefix: str,
    sources: Sequence[Any],
    includes: Sequence[str],
    defines: dict[str, str] | None = None,
) -> list[Any]:
    """Return the nodes of objects, the same for all operators but for the kernel's symbol."""
    object_env = env.Clone(CPPPATH=[*INCLUDES, *includes], CCFLAGS=[*env["CCFLAGS"], *_COMPILE])
    object_env.Append(CPPDEFINES=defines or {})
    if not defines:
        object_env = user_cache(object_env)
    files = [
        file
        for source in sources
        for file in (env.Glob(source) if isinstance(source, str) else [source])
    ]
    return [
        object_env.SharedObject(f"{FOLDER}/{prefix}{Path(file.path).stem}.o", file)
        for file in files
    ]
