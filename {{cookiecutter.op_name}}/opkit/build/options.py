"""The options of `scons`, and what `scons -h` prints."""

from __future__ import annotations

import difflib
from textwrap import indent
from typing import Any

from SCons.Variables import BoolVariable, EnumVariable, Variables

from opkit.check.sanitizers import SANITIZERS
from opkit.description.parser import PC
from opkit.description.spec import OpSpec
from opkit.errors import OpkitError
from opkit.runtimes.rknn import target_table
from opkit.runtimes.rknn.chips import TARGETS
from opkit.runtimes.rknn.settings import settings
from opkit.toolchains import TOOLCHAINS
from opkit.version import VERSION


def declare_options(arguments: dict[str, str], operator: OpSpec) -> Any:
    """Return the options, with what the command line says of them."""
    options = Variables(None, arguments)
    options.AddVariables(
        EnumVariable(
            "target",
            "what to build for; all: every chip; x64: this PC, no package",
            operator.target_platform,
            allowed_values=(*TARGETS, PC, "all"),
            ignorecase=2,
        ),
        EnumVariable(
            "toolchain",
            "the compiler; auto: linaro if it is in ~/.rknn, else zig",
            "auto",
            allowed_values=TOOLCHAINS,
        ),
        ("prefix", "what stands before gcc, for instance /opt/sdk/bin/arm-linux-gnueabihf-", ""),
        ("sysroot", "with prefix: the folder with the board's headers and libraries", ""),
        ("vx_binary", "a compiled VX kernel to put into the package", ""),
        ("rknn_python", "a Python that has RKNN-Toolkit, to compile the VX kernel", ""),
        (
            "qemu",
            "with check: runs the target's programs; a command, or ssh:HOST for a board",
            "",
        ),
        BoolVariable("require_target", "with check: fail if they cannot run on this PC", True),
        (
            "sanitize",
            f"with check: compile with sanitizers, of {','.join(SANITIZERS)}; needs gcc or clang",
            "",
        ),
        ("case", "with gdb, vx-gdb: the case to stop in, by its name in the table of check", ""),
        BoolVariable("run", "with gdb, vx-gdb: start gdb instead of printing its command", False),
        (
            "cache",
            "a folder for what every operator shares, or none; default: in the user's cache folder",
            "",
        ),
        BoolVariable("verbose", "show whole commands", False),
    )
    options.FormatVariableHelpText = _option_help
    return options


def _option_help(
    env: Any, name: str, text: str, default: str, actual: str, aliases: list[str]
) -> str:
    return f"  {name + '=' + str(actual):<20}  {text}\n"


def refuse_unknown_options(options: Any) -> None:
    """Stop at an option that nobody reads.

    Raises:
        OpkitError: there is one; the message names the nearest that there is.
    """
    known = [option.key for option in options.options]
    for name in options.UnknownVariables():
        nearest = difflib.get_close_matches(name, known, 1)
        hint = f" Did you mean '{nearest[0]}'?" if nearest else ""
        allowed = ", ".join(known)
        raise OpkitError(f"unknown option '{name}'.{hint} Allowed: {allowed}; see scons -h")


_VX_USAGE = """
  scons vx              compile the VX kernel for this PC and show what is wrong with it
  scons vx-gdb case=NAME   print the gdb command that stops at its first line; run=1: start it"""


def usage(operator: OpSpec, options_help: str) -> str:
    """Return the text of `scons -h`."""
    vx = _VX_USAGE if settings(operator).has_vx_kernel else ""
    return f"""
{operator.name}: an operator for RKNN-Toolkit; made by rknn-op-template {VERSION}

  scons                 build and pack for {operator.target_platform}, the target_platform of op.yml
  scons target=rv1126   ... for another chip; target=all: for every chip
  scons check           run every case of tests/ on this PC: kernels against numpy
  scons target=rv1126 check    ... and on the instruction set of that chip; target=all: on every one
  scons sanitize=address,undefined check   ... and with the compiler's sanitizers
  scons report          run the check and write build/report.html, a page of what came of it
  scons gdb case=NAME   print the gdb command that stops in the CPU kernel; run=1: start it{vx}
  scons compiledb       write compile_commands.json for editors
  scons -c              delete what was built

The package is build/<target>/{operator.name}.rknnop. Options, as name=value:
{options_help}
What a chip must run at least, and where to look it up:

{indent(target_table.plain(), "  ")}
"""
