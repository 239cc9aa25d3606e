"""What SConstruct does: reads op.yml and the command line, and has the tools build."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from SCons import Script

from opkit import repository, runtimes
from opkit.build import (
    compile_commands,
    compiler,
    compiler_output,
    harness,
    host_check,
    options,
    report,
    user_cache,
)
from opkit.description.spec import OpSpec
from opkit.errors import OpkitError
from opkit.version import VERSION

COMMON_TOOLS = (
    *(compiler, harness, host_check, report),
    *(compile_commands, compiler_output, user_cache),
)


def construct(root: Path) -> None:
    """Declare all that can be built in a repository.

    Wrong arguments end SCons before a file is touched. What op.yml no longer describes, or what
    could not be built, does not stay behind as an old product.
    """
    _set_up(root)
    dry_run = any(Script.GetOption(option) for option in ("help", "no_exec", "clean"))
    with _user_errors(lambda: _products(root)):
        operator = repository.load(root)
    rooms = runtimes.of(operator)
    tools = [tool for room in rooms for tool in room.scons_tools()]
    with _user_errors():
        env, request = _arguments(operator, [*tools, *COMMON_TOOLS])
    if not dry_run:
        with _user_errors(lambda: _products(root, request.targets)):
            operator = repository.update(root)
    with _user_errors(lambda: _products(root, request.targets)):
        products = _declare(env, rooms, request)
    if not dry_run:
        atexit.register(lambda: _discard_failed(map(str, env.Flatten(products))))
        for difference in repository.drift(root, operator):
            print(f"warning: {difference}", file=sys.stderr)


def _set_up(root: Path) -> None:
    # SCons' own functions would make one with every tool if nobody did.
    Script.DefaultEnvironment(tools=[])
    Script.SConsignFile(str(root / "build/.sconsign"))
    Script.Decider("content-timestamp")
    Script.SetOption("num_jobs", os.cpu_count() or 1)


def _arguments(operator: OpSpec, tools: list[Any]) -> tuple[Any, options.Request]:
    """Return the environment, and what the command line asks for.

    Raises:
        OpkitError: an argument is wrong.
    """
    rooms = runtimes.of(operator)
    targets = {name: target for room in rooms for name, target in room.targets.items()}
    variables = options.declare(Script.ARGUMENTS, operator, targets, tools)
    env = Script.Environment(
        variables=variables,
        tools=["cc", "cxx", *(tool.generate for tool in tools)],
        ENV=os.environ,
        SHELL="/bin/sh",
        OPERATOR=operator,
        ROOM_INCLUDES=[
            f"#opkit/runtimes/{room.name}/{folder}" for room in rooms for folder in room.includes
        ],
    )
    Script.Help(_usage(operator, tools, variables.GenerateHelpText(env)))
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
    rooms = runtimes.of(operator)
    titles = ", ".join(room.title for room in rooms)
    notes = "\n".join(room.scons_notes(operator) for room in rooms)
    target = operator.target_platform
    return f"""
{operator.name}: an operator for {titles}; made by rknn-op-template {VERSION}

  scons                     build for {target}, the target_platform of op.yml
  scons target={target:<12} ... for one target; target=all: for every one
{options.usage_lines(operator, tools)}
  scons -c                  delete what was built

Options, as name=value:
{options_help}
{notes}
"""


def _declare(env: Any, rooms: Iterable[Any], request: options.Request) -> list[Any]:
    """Declare what the request needs; return the nodes of products for targets."""
    products: list[Any] = []
    needed: list[Any] = []
    for room in rooms:
        needed += room.declare(env, request)
        if not request.for_this_pc and not request.names_intermediate:
            products += room.products(env, request.targets)
    if request.commands & {"check", "report"}:
        checked = needed, rooms, request
        _ = env.Report(*checked) if "report" in request.commands else env.HostCheck(*checked)
    if "compiledb" in request.commands:
        env.CompileCommands([room.editor_commands for room in rooms])
    Script.Default(products or needed)
    return products


# ---- What is left behind -------------------------------------------------------------------------


def _products(root: Path, targets: Iterable[str] = ("*",)) -> list[Path]:
    """Return what was packed before, for these targets."""
    return [
        path
        for room in runtimes.available().values()
        for target in targets
        for path in root.glob(f"build/{target}/{room.product_pattern}")
    ]


def _discard_failed(products: Iterable[str]) -> None:
    if Script.GetBuildFailures():
        _discard(map(Path, products))


def _discard(products: Iterable[Path]) -> None:
    for product in products:
        product.unlink(missing_ok=True)


@contextmanager
def _user_errors(stale: Callable[[], Iterable[Path]] = tuple) -> Iterator[None]:
    """Print the message of an OpkitError and leave SCons with status 2.

    Args:
        stale: returns what is deleted then, as it no longer is what the sources say.
    """
    try:
        yield
    except OpkitError as error:
        print(f"error: {error}", file=sys.stderr)
        asks_for_products = not set(Script.COMMAND_LINE_TARGETS)
        if asks_for_products and not Script.GetOption("no_exec") and not Script.GetOption("help"):
            _discard(stale())
        Script.Exit(2)
