"""The options and commands of `scons`: every tool declares its own, and `scons -h` is made of them.

A tool is a module that may have

    generate(env)                  prepares SCons' environment
    options(variables, operator)   adds the options that it reads
    USAGE, or usage(operator)      (command, what it does) for each command that it has
    check(env, request)            raises OpkitError at wrong arguments, before anything is touched
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from SCons.Variables import BoolVariable, EnumVariable, Variables

from opkit.description.parser import PC
from opkit.description.spec import OpSpec
from opkit.errors import OpkitError
from opkit.runtimes.interface import Runtime, Target
from opkit.text import did_you_mean

_WIDTH = 24  # of the column of commands, and of options


@dataclass(frozen=True)
class Request:
    """What the command line requests.

    Attributes:
        commands: the targets of SCons that are named, such as `check`.
        targets: what to build for: target -> ABI; empty: this PC.
        is_named: whether the command line, not op.yml, names the target: only then do the cases
            run on other executors than this PC.
    """

    commands: frozenset[str]
    targets: Mapping[str, str]
    is_named: bool

    def targets_of(self, runtime: Runtime) -> dict[str, str]:
        """Return those of its targets that are a runtime's: name -> ABI."""
        return {name: abi for name, abi in self.targets.items() if name in runtime.targets}

    def abis_of(self, runtime: Runtime) -> list[str]:
        """Return the ABIs of a runtime's targets on which the cases run as well."""
        named = self.targets_of(runtime).values() if self.is_named else ()
        return list(dict.fromkeys(named))

    @property
    def abis(self) -> list[str]:
        """The ABIs on which the cases run as well."""
        return list(dict.fromkeys(self.targets.values())) if self.is_named else []

    @property
    def for_this_pc(self) -> bool:
        """Whether nothing is built for a target: a command, such as check, is for this PC."""
        return not self.targets or any("/" not in command for command in self.commands)

    @property
    def names_intermediate(self) -> bool:
        """Whether files are named, and none of them is in a target's folder."""
        folders = tuple(f"build/{target}/" for target in self.targets)
        return bool(self.commands) and not any(
            f"{command}/".startswith(folders) for command in self.commands
        )


def declare(
    arguments: Mapping[str, str],
    operator: OpSpec,
    targets: Mapping[str, Target],
    tools: Iterable[ModuleType],
) -> Any:
    """Return the options, with their values on the command line.

    Raises:
        OpkitError: one of a few choices has a `$`.
    """
    # SCons itself substitutes values, and would evaluate `${...}` as Python.
    variables = Variables(None, {name: unsubstituted(value) for name, value in arguments.items()})
    variables.Add(
        EnumVariable(
            "target",
            f"what to build for; all: everything; {PC}: this PC",
            operator.target_platform,
            allowed_values=(*targets, PC, "all"),
            ignorecase=2,
        )
    )
    choices = dict.fromkeys(
        abi for t in targets.values() if t.other_abis for abi in (t.abi, *t.other_abis)
    )
    if choices:
        text = f"what to compile for, where a target has several: {' or '.join(choices)}"
        variables.Add("abi", text, "")
    for tool in tools:
        if hasattr(tool, "options"):
            tool.options(variables, operator)
    variables.Add(BoolVariable("verbose", "show whole commands", False))
    variables.FormatVariableHelpText = _option_help
    for option in variables.options:
        value = arguments.get(option.key, "")
        if option.converter and "$" in value:
            raise OpkitError(f"{option.key}={value}: unknown; see scons -h")
    return variables


def unsubstituted(text: str) -> str:
    """Return what SCons makes the text of when it substitutes variables."""
    return text.replace("$", "$$")


def set_values(env: Any, variables: Any, arguments: Mapping[str, str]) -> None:
    """Give the options that hold any text their values as they are on the command line."""
    for option in variables.options:
        if "$" in arguments.get(option.key, ""):
            env[option.key] = arguments[option.key]


def _option_help(
    env: Any, name: str, text: str, default: str, actual: str, aliases: list[str]
) -> str:
    return _row(f"{name}={actual}", text)


def refuse_unknown(variables: Any) -> None:
    """Refuse unknown options.

    Raises:
        OpkitError: there is one; the message suggests the closest name.
    """
    known = [option.key for option in variables.options]
    for name in variables.UnknownVariables():
        wrong = "; ".join(filter(None, [f"unknown option '{name}'", did_you_mean(name, known)]))
        raise OpkitError(f"{wrong} (expected {', '.join(known)}); see scons -h")


def refuse_target(
    name: str, targets: Mapping[str, Target], operator_runtimes: Iterable[Runtime]
) -> None:
    """Refuse what users may take for a target, with the reason.

    Raises:
        OpkitError: a runtime knows why it is none.
    """
    for runtime in operator_runtimes:
        reason = runtime.refused_targets.get(name.lower())
        if reason and name.lower() not in targets:
            raise OpkitError(f"target={name}: {reason}")


def read_request(
    env: Any,
    commands: Iterable[str],
    targets: Mapping[str, Target],
    names_target: bool,
) -> Request:
    """Return what the command line requests.

    Args:
        env: the environment.
        commands: the SCons targets on the command line.
        targets: the known targets by name.
        names_target: whether the command line, not op.yml, names the target.

    Raises:
        OpkitError: no target has the ABI of `abi=`.
    """
    chosen = {"all": tuple(targets), PC: ()}.get(env["target"], (env["target"],))
    abi = env.get("abi", "")
    having = {name: abi for name in chosen if abi in (targets[name].abi, *targets[name].other_abis)}
    if abi and not having:
        known = dict.fromkeys(
            each for name in chosen for each in (targets[name].abi, *targets[name].other_abis)
        )
        raise OpkitError(f"abi={abi}: unknown for {env['target']} (expected {', '.join(known)})")
    return Request(
        frozenset(commands), having or {name: targets[name].abi for name in chosen}, names_target
    )


def usage_lines(operator: OpSpec, tools: Iterable[ModuleType]) -> str:
    """Return the lines of `scons -h` on the commands of tools."""
    rows = [
        _row(command, text)
        for tool in tools
        for command, text in (
            tool.usage(operator) if hasattr(tool, "usage") else getattr(tool, "USAGE", ())
        )
    ]
    return "".join(rows).rstrip("\n")


def _row(term: str, text: str) -> str:
    """Return a row of two columns, in lines of at most 80 characters."""
    indent = " " * (_WIDTH + 4)
    words = text.replace("|", " | ")
    first, *others = textwrap.wrap(words, 80 - len(indent), break_on_hyphens=False) or [""]
    start = f"  {term:<{_WIDTH}}  " if len(term) <= _WIDTH else f"  {term}\n{indent}"
    return start + "\n".join([first, *(indent + line for line in others)]) + "\n"
