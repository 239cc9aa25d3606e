"""The second part of a runtime's interface: the files of a repository.

Used at the creation of a repository and at every build, before SCons declares anything. May import
PyYAML, opkit.description and opkit's text modules, nothing else: cookiecutter's own Python has no
numpy. All but `drift` are pure functions: opkit.repository reads and writes the files.
A runtime returns, in its module `files`:

    FILES = Files(
        texts=lambda spec: RuntimeTexts(
            readme=Readme("the stick"),
            once_only={f"stick_{spec.lower}.c": "/* Yours. */"},
        ),
        generated=lambda spec, reference: {f"generated/{spec.lower}_stick.h": "..."},
    )
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from opkit.common.complaint import Complaint
from opkit.description.spec import OpSpec


class Readme(NamedTuple):
    """A runtime's parts of a generated repository's README.

    Attributes:
        runtime: the runtime's name, with its vendor.
        target: the target in the example of a build: the operator's, or else the runtime's default.
        product: the comment on the build's products; empty: nothing is built.
        files: the user's files.
        generated: the generated files outside of generated/.
        commands: the rows of the table of commands.
        edit: a paragraph on files that have the math, too; empty: there are none.
        pages: the rows of the table of pages.
    """

    runtime: str
    target: str = ""
    product: str = ""
    files: Sequence[str] = ()
    generated: Sequence[str] = ()
    commands: str = ""
    edit: str = ""
    pages: str = ""


class TestText(NamedTuple):
    """The parts of a generated test file besides the test of the CPU kernel.

    Attributes:
        checks: the imported functions of opkit.testing.
        text: the tests.
        shapes: the shapes of the inputs that the tests need, one for each case; empty: any.
    """

    checks: Sequence[str] = ()
    text: str = ""
    shapes: Sequence[tuple[int, ...]] = ()


class RuntimeTexts(NamedTuple):
    """A runtime's parts of the texts of a new repository.

    Attributes:
        readme: its parts of README.md.
        tests: its parts of the test file.
        once_only: path -> text of its own files that are written once, and then the user's.
        converter: the tool that runs `<op>_reference.py` while it converts a model; empty: none.
        reference_rules: the restrictions of that file in the converter.
    """

    readme: Readme
    tests: TestText = TestText()
    once_only: Mapping[str, str] = {}
    converter: str = ""
    reference_rules: str = ""


class Files(NamedTuple):
    """The files of a runtime in a repository.

    Attributes:
        texts: (operator) -> its parts of the texts that are written once.
        generated: (operator, text of `<op>_reference.py`) -> path -> text of the files that every
            build writes. Raises OpkitError: the reference is invalid.
        from_scalar: (elementwise operator, text of `<op>_scalar.h`) -> path -> text of the files
            that every build makes of the user's function. Raises OpkitError: it cannot be used.
        required: (operator) -> the paths of the user's files that every build requires.
        drift: (repository, operator, a folder for the files of compilers) -> the mismatches of
            user's files and op.yml; the hints have the right text.
    """

    texts: Callable[[OpSpec], RuntimeTexts]
    generated: Callable[[OpSpec, str], Mapping[str, str]]
    from_scalar: Callable[[OpSpec, str], Mapping[str, str]] = lambda spec, scalar: {}
    required: Callable[[OpSpec], Sequence[str]] = lambda spec: ()
    drift: Callable[[Path, OpSpec, Path], Sequence[Complaint]] = lambda root, spec, cache: ()
