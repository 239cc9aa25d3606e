"""The third part of a runtime's interface: what `scons` builds.

Asked by SConstruct, after the generated files are written. May import SCons, opkit.build and
opkit.toolchains, but not numpy, for which every build would wait. `env` is SCons' environment, with
the OpSpec in env["OPERATOR"]; `request` is an opkit.build.options.Request.
A runtime returns, in its module `build`:

    BUILD = Build(
        declare=lambda env, request: [env.SharedLibrary("build/stick/op.so", ...)],
        products=lambda env, targets: [env.Command(f"build/{name}/op.bin") for name in targets],
        tools=(stick_library,),
    )
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from opkit.description.spec import OpSpec
from opkit.runtimes.executor import Executor


@dataclass(frozen=True, kw_only=True)
class Build:
    """What SCons builds for a runtime.

    Attributes:
        tools: its SCons tools; opkit.build.options says what a tool may declare.
        notes: (operator) -> the text of `scons -h` on its products and targets.
        includes: the folders of a repository, besides include/, that are searched for headers.
        cxx_folders: the folders whose headers are C++, and that C++ searches for headers.
        declare: (env, request) -> the nodes of what the cases need on this PC; declares its
            commands, too.
        products: (env, target -> ABI) -> the nodes of what is built for targets of its own.
        harness_parts: (env) -> its parts of static harnesses, an opkit.build.static_harness.Parts;
            None: it has none.
        simulators: (env, targets for which models are converted; empty: any) -> what starts its
            converter's simulator for each, and a sentence that says why it cannot run here.
        editor_commands: (repository, operator) -> the editors' commands for its files, an
            opkit.build.compile_commands.EditorCommands; None: it has none.
    """

    declare: Callable[[Any, Any], Sequence[Any]]
    products: Callable[[Any, Mapping[str, str]], Sequence[Any]] = lambda env, targets: ()
    tools: Sequence[ModuleType] = ()
    notes: Callable[[OpSpec], str] = lambda spec: ""
    includes: Sequence[str] = ()
    cxx_folders: Sequence[str] = ()
    harness_parts: Callable[[Any], Any] = lambda env: None
    simulators: Callable[[Any, Sequence[str]], tuple[Sequence[Executor], str]] = (
        lambda env, targets: ((), "")
    )
    editor_commands: Callable[[Path, OpSpec], Any] = lambda root, spec: None
