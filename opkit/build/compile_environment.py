"""compiler_for(env, abi): the compiler of an ABI, with the flags of all libraries."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from SCons.Subst import Literal
from SCons.Variables import EnumVariable

from opkit import toolchains
from opkit.build.options import Request
from opkit.description.parser import PC
from opkit.description.spec import OpSpec
from opkit.toolchains import Compiler, ToolchainError, ndk, zig
from opkit.toolchains.abi import ABIS, ANDROID_ABIS, EVERY_ABI
from opkit.toolchains.compiler import cxx_command
from opkit.toolchains.flags import C_LANGUAGE, CXX_LANGUAGE, EXACT, c_errors, is_cxx, optimization

# Without unwind tables and unused functions: a library has a few kilobytes.
COMPILE = (
    "-g0 -fPIC -fomit-frame-pointer"
    " -fno-unwind-tables -fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections"
    " -fno-ident"
).split()
LISTED = ".d"
"""The suffix of the compiler's list of the files that it read for an object.

With a list, zig takes no object from its cache (measured with 0.17.1), which does not notice
another file of `.incbin`, or a new file for `__has_include` or in an earlier folder.
"""
_LIST = f"-MD -MF ${{TARGET}}{LISTED}"
LINK = "-s -Wl,--gc-sections -Wl,--hash-style=gnu -Wl,--build-id=none -Wl,-z,noexecstack".split()


def options(variables: Any, operator: OpSpec) -> None:
    """Add the options that choose the compiler."""
    variables.AddVariables(
        EnumVariable(
            "toolchain",
            "the compiler; auto: linaro if it is in ~/.rknn, else zig",
            "auto",
            allowed_values=toolchains.TOOLCHAINS,
        ),
        (
            "prefix",
            "the path of gcc up to its name, for instance /opt/sdk/bin/arm-linux-gnueabihf-",
            "",
        ),
        ("sysroot", "with prefix: the folder with the device's headers and libraries", ""),
    )


def check(env: Any, request: Request) -> None:
    """Refuse a toolchain without a compiler for the requested ABIs.

    Raises:
        ToolchainError: a compiler is missing, or the options of the toolchain are invalid.
    """
    requested = [PC, *request.targets.values()]
    if (folder := env.get("ndk")) and not any(abi in ANDROID_ABIS for abi in requested):
        raise ToolchainError(f"ndk={folder} has no meaning without os=android; pass it, too")
    is_prefix = env["toolchain"] == "prefix"
    for abi in dict.fromkeys([*(ABIS if is_prefix else ()), *requested]):
        _find(env, abi)


def _find(env: Any, abi_name: str) -> Compiler:
    return toolchains.find(
        env["toolchain"],
        EVERY_ABI[abi_name],
        env["prefix"],
        env["sysroot"],
        ndk_folder=env.get("ndk", ""),
    )


def compiler_for(env: Any, abi_name: str, cxx: bool = False) -> Any:
    """Return an environment that compiles C for the ABI.

    Args:
        env: the environment.
        abi_name: the name of the ABI.
        cxx: whether to compile C++ even if op.yml lists no C++ source.

    Raises:
        ToolchainError: the compiler is not found.
    """
    abi = EVERY_ABI[abi_name]
    compiler = _find(env, abi_name)
    compact = abi.zig_compact if compiler.toolchain == "zig" else abi.gnu_compact
    fast = optimization(abi_name, compiler.toolchain)
    has_cxx = cxx or any(is_cxx(source.path) for source in env["OPERATOR"].sources)
    # With its version among the flags, another zig or NDK rebuilds everything; SCons need not read
    # 180 MB.
    version = {
        f"{name.upper()}_VERSION": version_of(compiler.command[0])
        for name, version_of in (("zig", zig.version), ("ndk", ndk.version))
        if name == compiler.toolchain
    }
    pages = [f"-Wl,-z,max-page-size={abi.page_size}"] if abi.page_size else []
    return env.Clone(
        IMPLICIT_COMMAND_DEPENDENCIES=not version,
        CC=words(compiler.command),
        CPPDEFINES=version,
        CXX=words(cxx_command(compiler)) if has_cxx else [],
        CFLAGS=list(C_LANGUAGE),
        CXXFLAGS=list(CXX_LANGUAGE),
        CCFLAGS=[*compiler.flags, *compact, *fast, *EXACT, *COMPILE],
        CPPPATH=["#", "#include", *env["RUNTIME_INCLUDES"]],
        LINKFLAGS=[*compiler.flags, *LINK, *pages],
        SHCCCOM=f"{env['SHCCCOM']} {_LIST}",
        SHCXXCOM=f"{env['SHCXXCOM']} {_LIST}",
        SHAREDCOM=_link_command(compiler, "-shared"),
        PROGRAMCOM=_link_command(compiler, ""),
        LIBRARIES=[],
        TOOLCHAIN=compiler.toolchain,
        C_ERRORS=c_errors(compiler.toolchain),
    )


def words(command: Iterable[object]) -> list[Any]:
    """Return the words of a command for SCons; a `$` in a path is not a variable."""
    return [Literal(str(word)) if os.sep in str(word) else word for word in command]


def _link_command(compiler: Compiler, kind: str) -> str:
    """Return the link command of a shared library, or of a program if `kind` is empty.

    zig compiles its run-time library for every ABI, which takes seconds and is rarely needed. So
    the first link is without it; only if that fails, a second link adds it and prints its messages.
    """
    link = f"$CC {kind} $LINKFLAGS -o $TARGET $SOURCES $LIBRARIES"
    if compiler.toolchain != "zig":
        return link
    return f"{link} -nostdlib -lc 2>/dev/null || {link}"
