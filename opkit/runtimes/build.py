"""The third part of a runtime's interface: the products and tools of `scons`.

Used by SConstruct, after the generated files are written. May import SCons, opkit.build and
opkit.toolchains, but not numpy, which would slow down every build. `env` is SCons' environment,
with the OpSpec in env["OPERATOR"]; `request` is an opkit.build.options.Request.
A runtime returns, in its module `build`:

    BUILD = Build(
        declare=lambda env, request: [env.SharedLibrary("build/stick/op.so", ...)],
        products=lambda env, targets: [env.Command(f"build/{name}/op.bin") for name in targets],
        tools=(stick_library,),
    )
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from opkit.description.spec import OpSpec
from opkit.runtimes.executor import Executor


@dataclass(frozen=True, kw_only=True)
class VendorProgram:
    """A harness that calls the kernel by the vendor's own runtime.

    Attributes:
        name: the kernel's name in the table of cases, with the runtime's version if it is known.
        node: SCons' node of the program, an opkit.build.harness.vendor_harness.
        files: the nodes of its other files, such as the stand-in for a driver.
        abi: the ABI of the program.
        environment: its variables in an emulator, such as LD_LIBRARY_PATH; elsewhere it has none.
        settings: of its Executor.
    """

    name: str
    node: Any
    files: Sequence[Any] = ()
    abi: str
    environment: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Build:
    """A runtime's part of the build.

    Attributes:
        tools: its SCons tools; opkit.build.options has their interface.
        notes: (operator) -> the text of `scons -h` on its products and targets.
        includes: the include folders of a repository besides include/.
        cxx_folders: the include folders for C++, with C++ headers.
        declare: (env, request) -> the nodes that the cases require on this PC; declares the
            runtime's commands, too.
        products: (env, target -> ABI) -> the nodes of the products for its own targets.
        harness_parts: (env) -> its parts of static harnesses, an opkit.build.harness.Parts,
            or None.
        simulators: (env, targets of the conversion; empty: any) -> the executors of its converter's
            simulator, one for each target; or none, and the reason why it cannot run here.
        vendor_programs: (env, request) -> the programs that run the cases in the vendor's own
            runtime; none unless an option names it.
        vendor_executors: (env) -> the executors of the vendor's own runtime that is a program for
            this PC; none unless an option names it.
        editor_commands: (repository, operator) -> the editors' commands for its files, an
            opkit.build.compile_commands.EditorCommands, or None.
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
    vendor_programs: Callable[[Any, Any], Sequence[VendorProgram]] = lambda env, request: ()
    vendor_executors: Callable[[Any], Sequence[Executor]] = lambda env: ()
    editor_commands: Callable[[Path, OpSpec], Any] = lambda root, spec: None
