"""The body of SConstruct: read op.yml and the command line, and declare the build."""

from __future__ import annotations

import atexit
import os
import shlex
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from SCons import Script
from SCons.SConsign import File as SConsignFile

from opkit import repository, runtimes
from opkit.build import (
    compile_commands,
    compile_environment,
    debugger,
    host_check,
    machinery,
    mutate,
    options,
    recorded_inputs,
    scons_state,
    user_cache,
)
from opkit.build.compiler_output import Output
from opkit.common.errors import OpkitError
from opkit.common.terminal import print_message
from opkit.common.text import wrapped
from opkit.description.parser import PC
from opkit.description.spec import OpSpec
from opkit.repository_files import refuse_links_in
from opkit.toolchains import zig
from opkit.version import VERSION

BUILD = "build"
ZIG_CACHE = f"{BUILD}/zig-cache"
COMMON_TOOLS = (
    *(compile_environment, host_check, mutate, debugger),
    *(compile_commands, user_cache),
)
# The first global function of SCons that SConstruct calls would create one with every tool.
Script.DefaultEnvironment(tools=[])


def construct(root: Path) -> None:
    """Declare the build of a repository.

    Invalid arguments end SCons before it writes files. Products that op.yml no longer describes,
    and products of failed builds, are deleted.
    """
    changes_nothing = any(Script.GetOption(option) for option in ("help", "no_exec"))
    cleans = Script.GetOption("clean")
    stale: Collection[str] = ()  # the folders in build/ whose products an error deletes
    try:
        repository.refuse_path(root)
        repository.refuse_other_opkit(root)
        repository.refuse_changed_lock(root)
        kept_files = () if changes_nothing else (scons_state.acquire_lock(root),)
        if not changes_nothing:
            refuse_links_in(root, BUILD, but=machinery.FOLDER)
        # Script.SConsignFile would substitute variables in the path, and make its folder.
        SConsignFile(str(root / scons_state.SIGNATURES), scons_state.Database(kept=changes_nothing))
        Script.Decider("content")  # timestamps have whole seconds, in which a file may change twice
        Script.SetOption("max_drift", -1)  # nor does SCons trust them after two days
        Script.SetOption("num_jobs", os.cpu_count() or 1)
        zig.provide_cache(os.environ, root / ZIG_CACHE)
        stale = ("*",)
        operator = repository.load(root)
        if not changes_nothing:
            machinery.provide(root)
        elif not (root / machinery.FOLDER).exists():
            opkit = options.unsubstituted(str(machinery.OPKIT))
            Script.VariantDir(machinery.FOLDER, opkit, duplicate=False)
        if cleans and not Script.COMMAND_LINE_TARGETS:
            (root / scons_state.SIGNATURES).unlink(missing_ok=True)
            in_use = (scons_state.LOCK, Path(machinery.UNPACKED))
            built = [path.relative_to(root) for path in (root / BUILD).glob("*")]
            files = [path.name for path in built if path not in in_use]
            everything = Script.Alias("everything")
            Script.Clean(
                everything, [Script.DefaultEnvironment().fs.Entry(f"build/{n}") for n in files]
            )
            Script.Default(everything)
            return
        tools = [tool for runtime in runtimes.selected(operator) for tool in runtime.build.tools]
        stale = ()
        env, request = _arguments(operator, [*tools, *COMMON_TOOLS], kept_files)
        stale = request.folders
        if not changes_nothing and not cleans:
            operator = repository.update(root)
        products = _declare(env, request)
        stale = ()
        if not changes_nothing and not cleans:
            nodes = env.Flatten(products)
            below = {node: recorded_inputs.nodes_below(node) for node in nodes}
            atexit.register(user_cache.trim, env)
            atexit.register(recorded_inputs.record_sources, root, below)
            atexit.register(_discard_if_failed, [Path(str(node)) for node in nodes])
            drift = repository.drift(root, operator, root / BUILD)
            for complaint in (*repository.warnings(root), *drift):
                print_message(complaint.severity, complaint)
    except OpkitError as error:
        print_message("error", error)
        if not changes_nothing and not Script.COMMAND_LINE_TARGETS:
            _discard(repository.products(root, runtimes.available().values(), stale))
        Script.Exit(2)
    except OSError as error:
        print_message("error", f"{error.filename or Path.cwd()}: {error.strerror}")
        Script.Exit(2)


def _arguments(
    operator: OpSpec, tools: list[Any], kept_files: Sequence[int]
) -> tuple[Any, options.Request]:
    """Return the environment and the request of the command line.

    Raises:
        OpkitError: an argument is invalid.
    """
    operator_runtimes = runtimes.selected(operator)
    described = [runtime.describe for runtime in operator_runtimes]
    targets = {name: target for each in described for name, target in each.targets.items()}
    if "target" in Script.ARGUMENTS:
        known = [runtime.describe for runtime in runtimes.available().values()]
        options.refuse_target(Script.ARGUMENTS["target"], described, known)
    variables = options.declare(Script.ARGUMENTS, operator, targets, tools)
    env = Script.Environment(
        variables=variables,
        tools=["cc", "cxx", *(tool.generate for tool in tools if hasattr(tool, "generate"))],
        ENV=os.environ,
        SHELL="/bin/sh",
        ESCAPE=shlex.quote,
        LOCK=kept_files,
        SPAWN=Output(kept_files).spawn,
        OPERATOR=operator,
        RUNTIME_INCLUDES=[
            f"#{folder}" for runtime in operator_runtimes for folder in runtime.build.includes
        ],
    )
    # Script.Help would substitute variables.
    Script.HelpFunction(_usage(operator, tools, variables.GenerateHelpText(env)))
    options.set_values(env, variables, Script.ARGUMENTS)
    options.refuse_unknown(variables)
    if not env["verbose"]:
        env.Replace(**dict.fromkeys(("SHCCCOMSTR", "SHCXXCOMSTR"), "compile $TARGET"))
        env.Replace(SHAREDCOMSTR="link $TARGET")
    named = "target" in Script.ARGUMENTS
    request = options.read_request(env, Script.COMMAND_LINE_TARGETS, targets, named)
    for tool in tools:
        if hasattr(tool, "check"):
            tool.check(env, request)
    options.refuse_unknown_commands(
        Script.COMMAND_LINE_TARGETS, options.commands_of(operator, tools), [*targets, PC, "all"]
    )
    return env, request


def _usage(operator: OpSpec, tools: list[Any], options_help: str) -> str:
    operator_runtimes = runtimes.selected(operator)
    titles = ", ".join(runtime.describe.title for runtime in operator_runtimes)
    notes = "\n\n".join(runtime.build.notes(operator) for runtime in operator_runtimes)
    target = operator.target_platform
    text = f"""
{operator.name}: an operator for {titles}
(rknn-op-template {VERSION})

  scons                     build for {target}, the target_platform of op.yml
  scons target={target:<12} ... for one target; target=all: for every one
{options.usage_lines(operator, tools)}
  scons -c                  delete all built files, for every target

Options, as name=value:
{options_help}
{notes}
"""
    # A path in a line may leave no room for the rest of it.
    return wrapped(text) + "\n"


def _declare(env: Any, request: options.Request) -> list[Any]:
    """Declare the nodes of the request; return the nodes of products for targets."""
    operator_runtimes = runtimes.selected(env["OPERATOR"])
    products: list[Any] = []
    needed: list[Any] = []
    for runtime in operator_runtimes:
        needed.append(runtime.build.declare(env, request))
        if not request.for_this_pc and not request.names_intermediate:
            products += runtime.build.products(env, request.targets_of(runtime.describe))
    if env["mutate"]:
        mutate.mutate(env, needed[0], env.Flatten(needed))
    elif request.commands & {"check", "report"}:
        check = host_check.declare(env, operator_runtimes, request)
        host_check.check_alias(env, env.Flatten(needed), check, "report" in request.commands)
    if debugger.COMMAND in request.commands:
        debugger.debugger(env, operator_runtimes)
    if "compiledb" in request.commands:
        compile_commands.compile_commands(
            env,
            [runtime.build.editor_commands for runtime in operator_runtimes],
            [folder for runtime in operator_runtimes for folder in runtime.build.cxx_folders],
        )
    Script.Default(products or env.Flatten(needed))
    return products


def _discard_if_failed(products: Iterable[Path]) -> None:
    if Script.GetBuildFailures():
        _discard(products)


def _discard(products: Iterable[Path]) -> None:
    for product in products:
        product.unlink(missing_ok=True)
