"""README.md and .gitattributes of a generated repository."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from opkit.description.spec import AUTO_THREADS, OpSpec
from opkit.runtimes.files import Readme
from opkit.text import render
from opkit.version import VERSION

_WIDTH = 100


def readme(spec: OpSpec, parts: Sequence[Readme], source: str = "") -> str:
    """Return the text of README.md: the common parts and the runtimes' parts.

    Args:
        spec: the operator.
        parts: of its runtimes.
        source: the section on the source of the math; empty: the user's own.
    """
    generated = ["generated/", *(name for part in parts for name in part.generated)]
    suffixes = [".c", ".h", *(suffix for part in parts for suffix in part.suffixes)]
    sections = [part.sections for part in parts]
    if spec.elementwise:
        values = {"lower": spec.lower, "math": spec.math_file}
        sections.insert(0, render("files/templates/README_elementwise.md", **values))
    text = render(
        "files/templates/README.md",
        name=spec.name,
        lower=spec.lower,
        math=spec.math_file,
        content="the math in C, for one element" if spec.elementwise else "the math in C",
        function=f"{spec.lower}_{'of' if spec.elementwise else 'compute'}",
        target=spec.target_platform,
        about=_about(parts),
        first_commands=_first_commands(spec, parts),
        source=f"\n{source}" if source else "",
        files="".join(part.files for part in parts),
        shared=shared_rows(),
        generated=", ".join(f"`{name}`" for name in generated),
        thread_check=_THREAD_CHECK if spec.has_threads else "",
        threads=_threads(spec, [part.serial for part in parts if part.serial]),
        commands="".join(part.commands for part in parts),
        debugging="".join(part.debugging for part in parts),
        suffixes=_listed([f"`{suffix}`" for suffix in suffixes]),
        sections="".join(f"\n{text.strip()}\n" for text in sections if text),
    )
    return f"{text.rstrip()}\n"


def _about(parts: Sequence[Readme]) -> str:
    """Return the first paragraph: the runtimes, and the parts of the repository for each."""
    if len(parts) == 1:
        part = parts[0]
        return _filled(f"A custom operator for {part.runtime}: its math, plus {part.parts}.")
    count = {2: "two", 3: "three"}.get(len(parts), str(len(parts)))
    lines = [_filled(f"* **{part.runtime}:** {part.parts}", "  ") for part in parts]
    return "\n".join(
        [
            f"A custom operator for {count} runtimes, which share its math. Each has its own:",
            "",
            *lines,
        ]
    )


def _filled(text: str, indent: str = "") -> str:
    return textwrap.fill(text, _WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def shared_rows() -> str:
    """Return the rows of files that a workspace has once, at its root."""
    return render("files/templates/README_shared.md", version=VERSION)


def _threads(spec: OpSpec, serial: Sequence[str]) -> str:
    """Return the section on threads; empty without `threads` in op.yml."""
    if not spec.has_threads:
        return ""
    is_auto = spec.threads == AUTO_THREADS
    text = render(
        "files/templates/README_threads.md",
        threads="auto" if is_auto else str(spec.threads),
        count="as many as the process has processors" if is_auto else f"up to {spec.threads}",
        lower=spec.lower,
        input=spec.inputs[0].name,
        output=spec.outputs[0].name,
        serial="".join(f"{sentence}\n" for sentence in serial),
    )
    return f"{text.rstrip()}\n\n"


_THREAD_CHECK = """\
    scons sanitize=thread check              # with another one: data races between threads
"""


def _first_commands(spec: OpSpec, parts: Sequence[Readme]) -> str:
    """Return the commands of the check and of each runtime's build, with comments."""
    commands = [(".venv/bin/scons check", "compares every case with numpy, on this PC")]
    for part in parts:
        if part.product:
            is_default = part.target == spec.target_platform
            command = ".venv/bin/scons" if is_default else f".venv/bin/scons target={part.target}"
            commands.append((command, part.product))
    width = max(len(command) for command, _ in commands)
    return "".join(f"    {command:<{width}}  # {about}\n" for command, about in commands)


def gitattributes(parts: Sequence[Readme]) -> str:
    """Return the text of .gitattributes: line ends, and marks of generated files."""
    generated = [name for part in parts for name in part.generated]
    lines = [
        "* text=auto eol=lf",
        "/generated/** linguist-generated",
        "/include/** linguist-generated",
        "/docs/** linguist-generated",
        "/.github/actions/** linguist-generated",
        *(f"/{name}{'**' if name.endswith('/') else ''} linguist-generated" for name in generated),
        "*.npz binary",
        "*.whl binary linguist-generated",
    ]
    return "\n".join(lines) + "\n"


def _listed(words: Sequence[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}"
