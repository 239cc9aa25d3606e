"""The body of SConstruct: reads op.yml and the command line, and declares the build."""

from __future__ import annotations

import atexit
import os
import shlex
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from SCons import Script
from SCons.SConsign import File as SConsignFile

from opkit import repository, runtimes
from opkit.build import (
    compile_commands,
    compiler,
    compiler_output,
    debugger,
    harness,
    host_check,
    lock,
    machinery,
    mutate,
    options,
    report,
    signatures,
    user_cache,
)
from opkit.description.spec import OpSpec
from opkit.errors import OpkitError
from opkit.toolchains import zig
from opkit.version import VERSION

COMMON_TOOLS = (
    *(compiler, harness, host_check, mutate, report, debugger),
    *(compile_commands, compiler_output, user_cache),
)


def construct(root: Path) -> None:
    """Declare all that can be built in a repository.

    Invalid arguments end SCons before a file is touched. Products that op.yml no longer describes,
    or that could not be built, are deleted.
    """
    changes_nothing = any(Script.GetOption(option) for option in ("help", "no_exec"))
    cleans = Script.GetOption("clean")
    with _user_errors():
        repository.refuse_path(root)
        repository.refuse_other_opkit(root)
        kept_files = () if changes_nothing else (lock.acquire(root),)
    _set_up(root)
    with _user_errors(lambda: _products(root)):
        operator = repository.load(root)
        if not changes_nothing:
            machinery.provide(root)
    if cleans and not Script.COMMAND_LINE_TARGETS:
        _clean_all(root)
        return
    tools = [tool for runtime in runtimes.of(operator) for tool in runtime.scons_tools()]
    with _user_errors():
        env, request = _arguments(operator, [*tools, *COMMON_TOOLS], kept_files)
    if not changes_nothing and not cleans:
        with _user_errors(lambda: _products(root, request.targets)):
            operator = repository.update(root)
    with _user_errors(lambda: _products(root, request.targets)):
        products = _declare(env, request)
    if not changes_nothing and not cleans:
        atexit.register(lambda: _discard_failed(map(str, env.Flatten(products))))
        with _user_errors():
            for complaint in (*repository.warnings(root), *repository.drift(root, operator)):
                print(f"warning: {complaint}", file=sys.stderr)


def _set_up(root: Path) -> None:
    # Else SCons' global functions create one with every tool.
    Script.DefaultEnvironment(tools=[])
    # Script.SConsignFile would substitute variables in the path, and make its folder.
    SConsignFile(str(root / signatures.PATH), signatures)
    Script.Decider("content-timestamp")
    Script.SetOption("num_jobs", os.cpu_count() or 1)
    zig.provide_cache(os.environ, root / "build/zig-cache")


def _clean_all(root: Path) -> None:
    """Have all that was ever built deleted, for whatever target."""
    built = (root / "build").glob("*")
    files = [path.name for path in built if path not in (root / lock.PATH, root / signatures.PATH)]
    everything = Script.Alias("everything")
    Script.Clean(everything, [Script.DefaultEnvironment().fs.Entry(f"build/{n}") for n in files])
    Script.Default(everything)


def _arguments(
    operator: OpSpec, tools: list[Any], kept_files: Sequence[int]
) -> tuple[Any, options.Request]:
    """Return the environment, and what the command line requests.

    Raises:
        OpkitError: an argument is invalid.
    """
    operator_runtimes = runtimes.of(operator)
    targets = {
        name: target for runtime in operator_runtimes for name, target in runtime.targets.items()
    }
    options.refuse_target(Script.ARGUMENTS.get("target", ""), targets, operator_runtimes)
    variables = options.declare(Script.ARGUMENTS, operator, targets, tools)
    env = Script.Environment(
        variables=variables,
        tools=["cc", "cxx", *(tool.generate for tool in tools if hasattr(tool, "generate"))],
        ENV=os.environ,
        SHELL="/bin/sh",
        ESCAPE=shlex.quote,
        LOCK=kept_files,
        OPERATOR=operator,
        RUNTIME_INCLUDES=[
            f"#{folder}" for runtime in operator_runtimes for folder in runtime.includes
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
    return env, request


def _usage(operator: OpSpec, tools: list[Any], options_help: str) -> str:
    operator_runtimes = runtimes.of(operator)
    titles = ", ".join(runtime.title for runtime in operator_runtimes)
    notes = "\n\n".join(runtime.scons_notes(operator) for runtime in operator_runtimes)
    target = operator.target_platform
    return f"""
{operator.name}: an operator for {titles}
(rknn-op-template {VERSION})

  scons                     build for {target}, the target_platform of op.yml
  scons target={target:<12} ... for one target; target=all: for every one
{options.usage_lines(operator, tools)}
  scons -c                  delete all that was built, for every target

Options, as name=value:
{options_help}
{notes}
"""


def _declare(env: Any, request: options.Request) -> list[Any]:
    """Declare what the request needs; return the nodes of products for targets."""
    operator_runtimes = runtimes.of(env["OPERATOR"])
    products: list[Any] = []
    needed: list[Any] = []
    for runtime in operator_runtimes:
        needed.append(runtime.declare(env, request))
        if not request.for_this_pc and not request.names_intermediate:
            products += runtime.products(env, request.targets_of(runtime))
    if env["mutate"]:
        mutate.mutate(env, needed[0], env.Flatten(needed))
    elif request.commands & {"check", "report"}:
        checked = env.Flatten(needed), operator_runtimes, request
        _ = (
            report.report(env, *checked)
            if "report" in request.commands
            else host_check.host_check(env, *checked)
        )
    if debugger.COMMAND in request.commands:
        debugger.debugger(env, operator_runtimes)
    if "compiledb" in request.commands:
        compile_commands.compile_commands(
            env,
            [runtime.editor_commands for runtime in operator_runtimes],
            [folder for runtime in operator_runtimes for folder in runtime.cxx_folders],
        )
    Script.Default(products or env.Flatten(needed))
    return products


# ---- Stale products ------------------------------------------------------------------------------


def _products(root: Path, targets: Collection[str] = ("*",)) -> list[Path]:
    """Return the existing products for these targets, of whatever runtime."""
    return repository.products(root, runtimes.available().values(), targets)


def _discard_failed(products: Iterable[str]) -> None:
    if Script.GetBuildFailures():
        _discard(map(Path, products))


def _discard(products: Iterable[Path]) -> None:
    for product in products:
        product.unlink(missing_ok=True)


@contextmanager
def _user_errors(stale: Callable[[], Iterable[Path]] = tuple) -> Iterator[None]:
    """Print the message of an error of the user or of the system, and leave SCons with status 2.

    Args:
        stale: returns the products to delete then.
    """
    try:
        yield
    except OpkitError as error:
        print(f"error: {error}", file=sys.stderr)
        requests_products = not set(Script.COMMAND_LINE_TARGETS)
        if requests_products and not Script.GetOption("no_exec") and not Script.GetOption("help"):
            _discard(stale())
        Script.Exit(2)
    except OSError as error:
        print(f"error: {error.filename or Path.cwd()}: {error.strerror}", file=sys.stderr)
        Script.Exit(2)
