"""The options and commands of `scons`; each tool declares its own for `scons -h`.

A tool is a module with any of

    generate(env)                  prepares SCons' environment
    options(variables, operator)   adds the tool's options
    USAGE, or usage(operator)      (command, description) for each of the tool's commands
    check(env, request)            raises OpkitError for invalid arguments, before any change
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from opkit.common.errors import OpkitError
from opkit.common.terminal import print_message
from opkit.common.text import did_you_mean, printable, shortened
from opkit.description import describe
from opkit.description.describe import ANDROID, LINUX, SYSTEMS, RuntimeDescription, Target
from opkit.description.parser import PC
from opkit.description.spec import OpSpec

_WIDTH = 24  # of the column of commands, and of options


class Request(NamedTuple):
    """The request on the command line.

    Attributes:
        commands: the SCons targets on the command line, such as `check`.
        targets: target to build for -> ABI; empty: this PC.
        folders: the targets' folders in `build/`.
        is_named: whether the command line, not op.yml, names the target: only then do the cases
            run on other executors than this PC.
        system: of the targets, one of SYSTEMS.
    """

    commands: frozenset[str]
    targets: Mapping[str, str]
    folders: Sequence[str]
    is_named: bool
    system: str = LINUX

    def targets_of(self, runtime: RuntimeDescription) -> dict[str, str]:
        """Return the requested targets of a runtime: name -> ABI."""
        return {name: abi for name, abi in self.targets.items() if name in runtime.targets}

    def abis_of(self, runtime: RuntimeDescription) -> list[str]:
        """Return the ABIs of a runtime's targets for the cases, besides this PC."""
        named = self.targets_of(runtime).values() if self.is_named else ()
        return list(dict.fromkeys(named))

    @property
    def abis(self) -> list[str]:
        """The ABIs for the cases, besides this PC."""
        return list(dict.fromkeys(self.targets.values())) if self.is_named else []

    @property
    def for_this_pc(self) -> bool:
        """Whether to build for this PC: no target, or a command for this PC, such as check."""
        return not self.targets or any("/" not in command for command in self.commands)

    @property
    def names_intermediate(self) -> bool:
        """Whether the command line names files, all of them outside of the targets' folders."""
        folders = tuple(f"build/{folder}/" for folder in self.folders)
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
        OpkitError: the value of an option with fixed choices contains a `$`.
    """
    from SCons.Variables import BoolVariable, EnumVariable, Variables  # takes long to import

    # SCons itself substitutes values, and would evaluate `${...}` as Python.
    variables = Variables(None, {name: unsubstituted(value) for name, value in arguments.items()})
    variables.Add(
        EnumVariable(
            "target",
            f"the target to build for; all: every target; {PC}: this PC",
            operator.target_platform,
            allowed_values=(*targets, PC, "all"),
            ignorecase=2,
        )
    )
    choices = {
        system: [*dict.fromkeys(abi for each in targets.values() for abi in _choices(each, system))]
        for system in SYSTEMS
    }
    if choices[ANDROID]:
        text = "the system of the targets"
        variables.Add(EnumVariable("os", text, LINUX, allowed_values=SYSTEMS, ignorecase=2))
        text = "with os=android: the folder of the NDK; default: that of ANDROID_NDK_ROOT"
        variables.Add("ndk", text, "")
    if any(choices.values()):
        android = f"; with os=android: {' or '.join(choices[ANDROID])}" if choices[ANDROID] else ""
        text = f"the ABI, for a target with several: {' or '.join(choices[LINUX])}{android}"
        variables.Add("abi", text, "")
    for tool in tools:
        if hasattr(tool, "options"):
            tool.options(variables, operator)
    variables.Add(
        BoolVariable(
            "verbose",
            "print whole commands; with check: every case, and every failure with its message",
            False,
        )
    )
    variables.FormatVariableHelpText = _option_help
    for option in variables.options:
        value = arguments.get(option.key, "")
        if option.converter and "$" in value:
            raise OpkitError(f"{option.key}={value}: unknown; see scons -h")
    return variables


def _choices(target: Target, system: str) -> tuple[str, ...]:
    """Return the ABIs of a target with a system if it has several."""
    abis = target.abis_of(system)
    return abis if len(abis) > 1 else ()


def unsubstituted(text: str) -> str:
    """Return the text with `$` escaped; SCons' substitution of variables restores it."""
    return text.replace("$", "$$")


def set_values(env: Any, variables: Any, arguments: Mapping[str, str]) -> None:
    """Set options of free text to their values on the command line, unsubstituted."""
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
        OpkitError: an option is unknown; the message suggests the closest name.
    """
    known = [option.key for option in variables.options]
    for name in variables.UnknownVariables():
        wrong = "; ".join(filter(None, [f"unknown option '{name}'", did_you_mean(name, known)]))
        raise OpkitError(f"{wrong} (expected {', '.join(known)}); see scons -h")


def refuse_target(
    name: str, chosen: Collection[RuntimeDescription], known: Iterable[RuntimeDescription]
) -> None:
    """Refuse an unknown target, with the reason.

    Args:
        name: the value of `target=`.
        chosen: the runtimes of the operator.
        known: all available runtimes.

    Raises:
        OpkitError: no runtime of the operator has the target.
    """
    expected = [*(target for each in chosen for target in each.targets), PC, "all"]
    if name.lower() in expected:
        return
    remedy = "add {} to `runtimes` in op.yml"
    refusal = describe.target_refusal(name, chosen, known, expected, remedy)
    raise OpkitError(f"target={name}: {refusal}")


def refuse_unknown_commands(
    commands: Iterable[str], known: Collection[str], targets: Collection[str]
) -> None:
    """Refuse SCons targets that are neither a command nor a file; SCons names no remedy.

    Args:
        commands: the SCons targets on the command line.
        known: the commands of the tools.
        targets: the values of `target=`.

    Raises:
        OpkitError: the message has the remedy.
    """
    for name in commands:
        if name in known or "/" in name or name.startswith(("#", "build")) or Path(name).exists():
            continue
        if name.lower() in targets:
            hint = f"to build for it, run `scons target={name.lower()}`"
        elif name == "clean":
            hint = "to delete all built files, run `scons -c`"
        else:
            hint = did_you_mean(name, known)
        wrong = "; ".join(filter(None, [f"unknown command '{printable(shortened(name))}'", hint]))
        raise OpkitError(
            f"{wrong} (expected {', '.join(known)}, or a file in build/); see scons -h"
        )


def read_request(
    env: Any,
    commands: Iterable[str],
    targets: Mapping[str, Target],
    names_target: bool,
) -> Request:
    """Return the request on the command line.

    Args:
        env: the environment.
        commands: the SCons targets on the command line.
        targets: the known targets by name.
        names_target: whether the command line, not op.yml, names the target.

    Raises:
        OpkitError: no target has the system of `os=`, or the ABI of `abi=` with it.
    """
    chosen = {"all": tuple(targets), PC: ()}.get(env["target"], (env["target"],))
    abi, system = env.get("abi", ""), env.get("os", LINUX)
    offered = {name: abis for name in chosen if (abis := targets[name].abis_of(system))}
    if system != LINUX and not offered:
        expected = [name for name, target in targets.items() if target.abis_of(system)]
        raise OpkitError(
            f"os={system}: not supported for target={env['target']} (expected "
            f"{', '.join(expected)} or all)"
        )
    having = {name: abi for name, abis in offered.items() if abi in abis}
    if abi and not having:
        known = dict.fromkeys(each for abis in offered.values() for each in abis)
        refusal = f"unknown for {env['target']} (expected {', '.join(known)})"
        others = (each for each in SYSTEMS if any(abi in targets[n].abis_of(each) for n in chosen))
        hints = [f"pass os={other}, too" for other in others]
        raise OpkitError("; ".join([f"abi={abi}: {refusal}", *hints]))
    requested = having or {name: abis[0] for name, abis in offered.items()}
    folders = [targets[name].folder(abi) for name, abi in requested.items()]
    return Request(frozenset(commands), requested, folders, names_target, system)


def usage_lines(operator: OpSpec, tools: Iterable[ModuleType]) -> str:
    """Return the lines of `scons -h` for the commands of the tools."""
    return "".join(_row(command, text) for command, text in _usage(operator, tools)).rstrip("\n")


def commands_of(operator: OpSpec, tools: Iterable[ModuleType]) -> list[str]:
    """Return the commands of the tools, such as `check`."""
    words = (word for command, _ in _usage(operator, tools) for word in command.split()[1:])
    return list(dict.fromkeys(word for word in words if "=" not in word))


def _usage(operator: OpSpec, tools: Iterable[ModuleType]) -> Iterator[tuple[str, str]]:
    for tool in tools:
        yield from tool.usage(operator) if hasattr(tool, "usage") else getattr(tool, "USAGE", ())


def _row(term: str, text: str) -> str:
    """Return a row of two columns, in lines of at most 80 characters."""
    indent = " " * (_WIDTH + 4)
    words = text.replace("|", " | ")
    first, *others = textwrap.wrap(words, 80 - len(indent), break_on_hyphens=False) or [""]
    start = f"  {term:<{_WIDTH}}  " if len(term) <= _WIDTH else f"  {term}\n{indent}"
    return start + "\n".join([first, *(indent + line for line in others)]) + "\n"


def print_errors(action: Callable[..., None]) -> Callable[..., int]:
    """Return a SCons action that calls a function, and prints an OpkitError and fails."""

    def run(target: Any, source: Any, env: Any) -> int:
        try:
            action(target, source, env)
        except OpkitError as error:
            print_message("error", error)
            return 1
        return 0

    return run
