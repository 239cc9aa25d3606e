"""What a runtime has to say of itself: all that the rest of opkit knows of one.

A runtime is a package in this folder whose RUNTIME is an instance of a subclass of Runtime. Texts
are made by pure functions of the description; what needs SCons or numpy is imported in the method
that uses it, because cookiecutter's own Python has neither.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

from opkit.description.limits import Limits

if TYPE_CHECKING:
    import yaml

    from opkit.check.run_log import CheckedKernel
    from opkit.description.reader import Reader
    from opkit.description.spec import OpSpec, Param
    from opkit.runtimes.invocation import Kernel, Value


@dataclass(frozen=True)
class Target:
    """What can be built for: a chip, for instance.

    Attributes:
        name: what `scons target=` takes.
        abi: the ABI of the processor that runs the CPU kernel.
        family: targets of one family run the same products.
        needs: what the target must run at least.
        look_up: how one sees which version that is.
    """

    name: str
    abi: str
    family: str = ""
    needs: str = ""
    look_up: str = ""


@dataclass(frozen=True)
class Readme:
    """What a generated repository's README says of a runtime.

    Attributes:
        about: a sentence: what the operator is for it.
        product: what `scons` makes for it by default.
        files: the rows of the table of the user's files.
        generated: the generated files outside of generated/.
        commands: the rows of the table of commands.
        debugging: lines of the block on debuggers.
        suffixes: of the source files that editors understand.
        sections: what follows what is said of every operator.
    """

    about: str
    product: str = ""
    files: str = ""
    generated: Sequence[str] = ()
    commands: str = ""
    debugging: str = ""
    suffixes: Sequence[str] = ()
    sections: str = ""


@dataclass(frozen=True)
class Product:
    """A row of the report's table of products: what is wrong with a file, or what is in it.

    Attributes:
        file: its path, as seen from the repository.
        problem: why it cannot be read.
        cells: title of a column -> what is in it; numbers are sizes in bytes.
    """

    file: str
    problem: str = ""
    cells: Mapping[str, int | str] = field(default_factory=dict)


@dataclass(frozen=True)
class TestText:
    """What a generated test file has besides the test of the CPU kernel.

    Attributes:
        checks: the functions of opkit.testing that it calls.
        text: the tests.
    """

    checks: Sequence[str] = ()
    text: str = ""


class Runtime(ABC):
    """A runtime. What has a body here may be left out."""

    name: ClassVar[str]
    """What `runtimes` in a description calls it; the name of its package."""
    title: ClassVar[str]
    """What people call it."""
    frameworks: ClassVar[Sequence[str]]
    """Whose models it takes, the usual one first."""
    targets: ClassVar[Mapping[str, Target]] = {}
    """What can be built for it, by name."""
    default_target: ClassVar[str] = ""
    """The target of a description that names none."""
    limits: ClassVar[Limits] = Limits()
    """How much it takes."""
    converter: ClassVar[str] = ""
    """What converts models for it and runs the reference meanwhile; empty: nothing does."""

    # ---- The description ----

    starter: ClassVar[str] = ""
    """Lines of a new operator's description, each with its newline."""
    keys: ClassVar[Sequence[str]] = ()
    """The keys of a description that it reads itself."""
    foreign_keys: ClassVar[Sequence[str]] = ()
    """Keys that its vendor's tools write into a description; nobody reads them."""

    def settings(self, reader: Reader, entries: Mapping[str, yaml.Node]) -> Any:
        """Return what its keys say, of the description's entries; OpSpec.settings has it."""
        return None

    def name_refusal(self, name: str) -> str:
        """Return why an operator cannot have this name; empty if it can."""
        return ""

    def type_refusal(self, type_name: str) -> str:
        """Return why a param cannot have the type of this name; empty if it can."""
        return ""

    # ---- Files ----

    reference_rules: ClassVar[str] = ""
    """What `<op>_reference.py` says of what it may use, where its converter runs it."""

    @abstractmethod
    def once_only_files(self, spec: OpSpec) -> Mapping[str, str]:
        """Return path -> text of the files that are the user's once they are written."""

    @abstractmethod
    def generated_files(self, spec: OpSpec, reference: str) -> Mapping[str, str]:
        """Return path -> text of the files that every build writes.

        Args:
            spec: the operator.
            reference: the text of `<op>_reference.py`.

        Raises:
            OpkitError: the reference cannot be used.
        """

    def required_files(self, spec: OpSpec) -> Sequence[str]:
        """Return the user's files without which nothing can be built."""
        return ()

    def drift(self, root: Path, spec: OpSpec) -> Sequence[str]:
        """Return what in the user's files no longer fits op.yml, each with the text that would."""
        return ()

    # ---- Building; env is SCons' environment, a request is build.options.Request ----

    includes: ClassVar[Sequence[str]] = ()
    """The folders of its package that are searched for headers."""
    product_pattern: ClassVar[str] = ""
    """Which files in `build/<target>/` are what is built for a target."""

    def scons_tools(self) -> Sequence[ModuleType]:
        """Return its tools; build.options says what a tool may declare."""
        return ()

    def scons_notes(self, spec: OpSpec) -> str:
        """Return what `scons -h` says of its products and targets."""
        return ""

    @abstractmethod
    def declare(self, env: Any, request: Any) -> Sequence[Any]:
        """Declare its commands; return the nodes of what the cases need on this PC."""

    def products(self, env: Any, targets: Sequence[str]) -> Sequence[Any]:
        """Return the nodes of what is built for targets."""
        return ()

    def harnesses(self, env: Any, abis: Sequence[str]) -> Mapping[str, Any]:
        """Return name -> node of the programs that run the cases on other instruction sets."""
        return {}

    def sanitized_harness(self, env: Any, sanitizers: Sequence[str]) -> Any:
        """Return the node of the program that runs the cases with sanitizers; None: it has none."""
        return None

    def editor_commands(self, root: Path, spec: OpSpec, c_arguments: Sequence[str]) -> Any:
        """Return what editors have to know of its files, as build.compile_commands.RoomCommands."""
        return None

    # ---- Checking ----

    integer_inputs: ClassVar[str] = ""
    """What a kernel gets in place of integers, if the converter never hands it any."""

    @abstractmethod
    def marshal(self, params: Sequence[Param], values: Mapping[str, Any]) -> list[Value]:
        """Return what a kernel gets for the values of params; see CallingConvention."""

    def status_name(self, status: int) -> str:
        """Return a status of a kernel as messages show it."""
        return f"status {status}"

    @abstractmethod
    def cpu_kernel(self, spec: OpSpec, root: Path) -> Kernel:
        """Return the math in C as this runtime calls it, on this PC.

        Raises:
            OpkitError: it is not built.
        """

    def promised(self, spec: OpSpec) -> Mapping[CheckedKernel, str]:
        """Return the other kernels that a check has to have seen, each with the reason."""
        return {}

    # ---- The report and the README ----

    def delivery(self, param: Param) -> tuple[str, str]:
        """Return what a kernel gets for a param: in words, and the type of it."""
        return "", param.type.c_type

    def facts(self, spec: OpSpec) -> Mapping[str, str]:
        """Return what the report says of the operator at its top: term -> text."""
        return {}

    def products_made(self, root: Path) -> Sequence[Product]:
        """Return what is in the products that are built."""
        return ()

    @abstractmethod
    def readme(self, spec: OpSpec) -> Readme:
        """Return what the README says of it."""

    def tests(self, spec: OpSpec) -> TestText:
        """Return what the test file has besides the test of the CPU kernel."""
        return TestText()
