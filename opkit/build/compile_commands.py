"""compile_commands(env, ...): `scons compiledb` writes compile_commands.json for editors.

Its commands are for clangd. They match the compiler of this PC's library, and name the folders of
that compiler's headers. clangd requires no installed headers.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from SCons.Action import Action

from opkit import toolchains
from opkit.build.compile_environment import compiler_for
from opkit.build.options import print_errors
from opkit.description.spec import OpSpec
from opkit.repository_files import write_text
from opkit.toolchains import Compiler
from opkit.toolchains.abi import ABIS
from opkit.toolchains.flags import CHAR, CXX_SUFFIXES
from opkit.toolchains.headers import cxx_arguments, glibc_version, system_folders

DATABASE = "compile_commands.json"
_C = "-std=c11"
_CXX = "-std=c++14"
# Callers of a header's static functions are in other files.
_HEADER = "-Wno-unused-function"
_CXX_HEADER = (_HEADER, "-x", "c++-header", _CXX)
_LANGUAGES = {
    ".c": ("-x", "c", _C),
    ".h": (_HEADER, "-x", "c-header", _C),
    **dict.fromkeys(CXX_SUFFIXES, ("-x", "c++", _CXX)),
    **dict.fromkeys((".hh", ".hpp", ".hxx"), _CXX_HEADER),
}
_WARNINGS = ("-Wall", "-Wextra", "-Wpedantic")
# Templates are C only when they are rendered.
_IGNORED_FOLDERS = frozenset(("build", "templates", "node_modules"))


@dataclass(frozen=True)
class EditorCommands:
    """clangd's commands for the files of a runtime.

    Attributes:
        commands: file -> its arguments for clangd, for files with other arguments than the rest.
        headers: file -> text of a generated header that the commands include.
    """

    commands: Mapping[str, Sequence[str]]
    headers: Mapping[str, str] = field(default_factory=dict)


CommandSource = Callable[[Path, OpSpec], EditorCommands | None]
"""(repository, operator) -> the commands of a runtime, or None if it has none."""


USAGE = (("scons compiledb", "write compile_commands.json for editors"),)


def compile_commands(env: Any, sources: Sequence[CommandSource], cxx_folders: Sequence[str]) -> Any:
    """Return the alias `compiledb`, which compiles nothing.

    Args:
        env: the environment.
        sources: the runtimes' functions for the commands of their files.
        cxx_folders: the folders of C++ headers, on the include path of C++ sources.
    """
    database = env.Command(
        DATABASE,
        [],
        Action(print_errors(_write), f"write {DATABASE}"),
        COMMAND_SOURCES=sources,
        CXX_FOLDERS=cxx_folders,
        INCLUDE=[env.Dir(folder).path for folder in compiler_for(env, "x64")["CPPPATH"]],
    )
    env.AlwaysBuild(database)
    return env.Alias("compiledb", database)


def _write(target: Any, source: Any, env: Any) -> None:
    root = Path().absolute()
    compiler = toolchains.find(env["toolchain"], ABIS["x64"], env["prefix"], env["sysroot"])
    commands = dict(_commands(root, env, compiler))
    for source_of_commands in env["COMMAND_SOURCES"]:
        editor_commands = source_of_commands(root, env["OPERATOR"])
        if editor_commands is None:
            continue
        commands.update(editor_commands.commands)
        for name, text in editor_commands.headers.items():
            write_text(root, name, text)
    entries = [
        {"directory": str(root), "file": file, "arguments": ["clang", *arguments, file]}
        for file, arguments in sorted(commands.items())
    ]
    write_text(root, DATABASE, f"{json.dumps(entries, indent=4)}\n")


def c_files(root: Path) -> Iterator[str]:
    """Yield the C sources and headers of a repository, relative to it."""
    for folder, subfolders, files in os.walk(root):
        here = Path(folder)
        subfolders[:] = [name for name in subfolders if _is_searched(here / name)]
        for name in files:
            if Path(name).suffix in _LANGUAGES:
                yield (here / name).relative_to(root).as_posix()


def _is_searched(folder: Path) -> bool:
    hidden = folder.name.startswith(".") or folder.name in _IGNORED_FOLDERS
    return not hidden and not (folder / "pyvenv.cfg").exists()


def _commands(root: Path, env: Any, compiler: Compiler) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the arguments for each C and C++ file: the user's flags apply to the user's files."""
    operator = env["OPERATOR"]
    user_flags = (*(f"-I{folder.path}" for folder in operator.include), *operator.cflags)
    cxx_folders = env["CXX_FOLDERS"]
    languages = {file: _language(file, cxx_folders) for file in c_files(root)}
    has_cxx = any(_CXX in language for language in languages.values())
    cxx = cxx_arguments(compiler) if has_cxx else []
    abi = ABIS["x64"]
    # clangd has its own copies of the compiler's headers, such as stddef.h.
    common = (f"--target={abi.triple}", *abi.gnu_flags, *CHAR, *_WARNINGS, "-nostdlibinc")
    system = [part for folder in system_folders(compiler) for part in ("-isystem", folder)]
    libc = (*glibc_version(compiler, abi), *system)
    for file, language in languages.items():
        is_cxx = _CXX in language
        arguments = (*common, *(cxx if is_cxx else ()), *libc)
        folders = (*env["INCLUDE"], *(cxx_folders if is_cxx else ()))
        flags = () if file.startswith("include/") else user_flags
        yield file, (*arguments, *(f"-I{folder}" for folder in folders), *flags, *language)


def _language(file: str, cxx_folders: Sequence[str]) -> tuple[str, ...]:
    """Return the arguments for a file's language."""
    path = PurePosixPath(file)
    is_cxx = any(path.is_relative_to(folder) for folder in cxx_folders)
    return _CXX_HEADER if is_cxx and path.suffix == ".h" else _LANGUAGES[path.suffix]
