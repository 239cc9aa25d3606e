"""README.md and .gitattributes of a generated repository."""

from __future__ import annotations

from collections.abc import Sequence

from opkit.description.spec import OpSpec
from opkit.runtimes.files import Readme
from opkit.text import render
from opkit.version import VERSION


def readme(spec: OpSpec, parts: Sequence[Readme]) -> str:
    """Return the text of README.md: the common parts and the runtimes' parts."""
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
        version=VERSION,
        target=spec.target_platform,
        about="\n\n".join(part.about for part in parts),
        product="".join(_product(spec, part) for part in parts),
        files="".join(part.files for part in parts),
        generated=", ".join(f"`{name}`" for name in generated),
        commands="".join(part.commands for part in parts),
        debugging="".join(part.debugging for part in parts),
        suffixes=_listed([f"`{suffix}`" for suffix in suffixes]),
        sections="".join(f"\n{text.strip()}\n" for text in sections if text),
    )
    return f"{text.rstrip()}\n"


def _product(spec: OpSpec, part: Readme) -> str:
    """Return the command that builds for a runtime; empty if it builds nothing."""
    if not part.product:
        return ""
    is_default = part.target == spec.target_platform
    command = ".venv/bin/scons" if is_default else f".venv/bin/scons target={part.target}"
    return f"    {command:<25}  # {part.product}\n"


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
