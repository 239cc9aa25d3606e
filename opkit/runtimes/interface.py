"""The interface of a runtime: all that the rest of opkit knows of one.

A runtime is a package in this folder whose RUNTIME is an instance of a subclass of Runtime. Texts
are made by pure functions of the description; what needs SCons or numpy is imported in the method
that uses it, because cookiecutter's own Python has neither.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

from opkit.description.limits import Limits
from opkit.description.types import SAME_TENSOR_TYPES

if TYPE_CHECKING:
    import yaml

    from opkit.check.executors import Executor
    from opkit.check.run_log import CheckedKernel
    from opkit.complaint import Complaint
    from opkit.description.reader import Reader
    from opkit.description.spec import OpSpec, Param, Tensor
    from opkit.mutation.sources import MutableSource
    from opkit.runtimes.invocation import CallingConvention, Kernel, SimulatedKernel


@dataclass(frozen=True)
class Target:
    """A build target: a chip, for instance.

    Attributes:
        name: what `scons target=` takes.
        abi: the ABI of the processor that runs the CPU kernel.
        other_abis: those that `abi=` can choose in its place.
        family: targets of one family run the same products.
        needs: the minimum version of the target's runtime or driver.
        look_up: how to find the version on the target.
    """

    name: str
    abi: str
    family: str = ""
    needs: str = ""
    look_up: str = ""
    other_abis: Sequence[str] = ()


@dataclass(frozen=True)
class Readme:
    """A runtime's parts of a generated repository's README.

    Attributes:
        about: a sentence: what the operator is for it.
        product: what building for a target makes, as a comment; `$target` is its name.
        files: the rows of the table of the user's files.
        generated: the generated files outside of generated/.
        commands: the rows of the table of commands.
        debugging: lines of the block on debuggers, besides that on the math in C.
        suffixes: of the source files that editors understand.
        sections: appended after the common sections.
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
    """The parts of a generated test file besides the test of the CPU kernel.

    Attributes:
        checks: the functions of opkit.testing that it imports.
        text: the tests.
    """

    checks: Sequence[str] = ()
    text: str = ""


class Runtime(ABC):
    """A runtime. What has a body here may be left out."""

    name: ClassVar[str]
    """What `runtimes` in a description calls it; the name of its package."""
    title: ClassVar[str]
    """Its name for people."""
    frameworks: ClassVar[Sequence[str]]
    """Whose models it takes, the usual one first."""
    targets: ClassVar[Mapping[str, Target]] = {}
    """Its targets by name."""
    default_target: ClassVar[str] = ""
    """The target of a description without one."""
    refused_targets: ClassVar[Mapping[str, str]] = {}
    """Names that users may take for targets -> why they are none."""
    tensor_types: ClassVar[Mapping[str, str]] = SAME_TENSOR_TYPES
    """The dtypes of tensors that it takes -> the dtype of what a kernel gets for such a tensor."""
    lost_outputs: ClassVar[Collection[str]] = ()
    """The dtypes among them that no output of a model has."""
    limits: ClassVar[Limits] = Limits()
    """How much it takes."""
    converter: ClassVar[str] = ""
    """What converts models for it and runs the reference meanwhile; empty: nothing does."""

    # ---- The description ----

    starter: ClassVar[str] = ""
    """Lines of a new operator's description, each with its newline."""
    keys: ClassVar[Mapping[str, Any]] = {}
    """The keys of a description that it reads itself -> the JSON Schema of their values."""
    foreign_keys: ClassVar[Sequence[str]] = ()
    """Keys that its vendor's tools write into a description; they are ignored."""

    def settings(self, reader: Reader, entries: Mapping[str, yaml.Node]) -> Any:
        """Return what its keys say, of the description's entries; OpSpec.settings has it."""
        return None

    def name_refusal(self, name: str) -> str:
        """Return why an operator cannot have this name; empty if it can."""
        return ""

    def type_refusal(self, type_name: str) -> str:
        """Return why a param cannot have the type of this name; empty if it can."""
        return ""

    def complaints(self, spec: OpSpec) -> Iterable[Complaint]:
        """Return what is wrong with an operator as a whole; warnings are of what still builds.

        The field says where, such as `outputs.y.dtype`; whoever has read the file adds the line.
        """
        return ()

    next_steps: ClassVar[str] = ""
    """Lines on what to do with a product, `$product`, of the repository `$folder`."""

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

    def drift(self, root: Path, spec: OpSpec) -> Sequence[Complaint]:
        """Return the mismatches of user's files and op.yml; the hints have the right text."""
        return ()

    # ---- Building; env is SCons' environment, a request is build.options.Request ----

    includes: ClassVar[Sequence[str]] = ()
    """The folders of a repository, besides include/, that are searched for headers."""
    cxx_folders: ClassVar[Sequence[str]] = ()
    """The folders of a repository whose headers are C++, and that C++ searches for headers."""
    product_pattern: ClassVar[str] = ""
    """Which files in `build/<target>/` are what is built for a target."""

    def scons_tools(self) -> Sequence[ModuleType]:
        """Return its tools; build.options says what a tool may declare."""
        return ()

    def scons_notes(self, spec: OpSpec) -> str:
        """Return the text of `scons -h` on its products and targets."""
        return ""

    @abstractmethod
    def declare(self, env: Any, request: Any) -> Sequence[Any]:
        """Declare its commands; return the nodes of what the cases need on this PC."""

    def products(self, env: Any, targets: Mapping[str, str]) -> Sequence[Any]:
        """Return the nodes of what is built for targets of its own: name -> ABI."""
        return ()

    def harness_parts(self, env: Any) -> Any:
        """Return its parts of static harnesses, a build.static_harness.Parts; None: it has none."""
        return None

    def simulators(self, env: Any, targets: Sequence[str]) -> tuple[Sequence[Executor], str]:
        """Return what starts its converter's simulator, which runs the cases as well.

        Args:
            env: the environment.
            targets: those of its targets for which models are converted; empty: any.

        Returns:
            What starts it for each target, and a sentence that says why it cannot run here.
        """
        return (), ""

    def editor_commands(self, root: Path, spec: OpSpec) -> Any:
        """Return the editors' commands for its files, a build.compile_commands.EditorCommands."""
        return None

    # ---- Checking ----

    lost_tensors: ClassVar[str] = ""
    """What becomes of a model's inputs and outputs of other dtypes, if no call fails."""

    def integer_note(self, input_: Tensor) -> str:
        """Return what a kernel gets in place of integers; empty if it gets them."""
        return ""

    @abstractmethod
    def calling_convention(self, abi: str = "") -> CallingConvention:
        """Return how it calls kernels: on an ABI, or on most."""

    @abstractmethod
    def cpu_kernel(self, spec: OpSpec, root: Path) -> Kernel:
        """Return the math in C as this runtime calls it, on this PC.

        Raises:
            OpkitError: it is not built.
        """

    def simulated_kernel(self, spec: OpSpec, executor: Executor, root: Path) -> SimulatedKernel:
        """Return the reference in one of its simulators; nobody asks a runtime without any."""
        raise NotImplementedError

    def mutable_sources(self, spec: OpSpec) -> Sequence[MutableSource]:
        """Return what `scons check mutate=` changes besides the math in C."""
        return ()

    def expected_kernels(self, spec: OpSpec) -> Mapping[CheckedKernel, str]:
        """Return the other kernels that a check must have run, each with the reason."""
        return {}

    # ---- The report and the README ----

    def delivery(self, param: Param) -> tuple[str, str]:
        """Return what a kernel gets for a param: in words, and the type of it."""
        return "", param.type.c_type

    def properties(self, spec: OpSpec) -> Mapping[str, str]:
        """Return the operator's properties at the top of the report: term -> text."""
        return {}

    def built_products(self, root: Path) -> Sequence[Product]:
        """Return what is in the built products."""
        return ()

    @abstractmethod
    def readme(self, spec: OpSpec) -> Readme:
        """Return its parts of the README."""

    def tests(self, spec: OpSpec) -> TestText:
        """Return the parts of the test file besides the test of the CPU kernel."""
        return TestText()
