"""The first part of a runtime's interface: names, targets, limits, types and keys of op.yml.

Used by cookiecutter's questions, by the editors' schema and at the start of every build. May
import PyYAML and opkit.description, nothing else: cookiecutter's own Python has no numpy.
A runtime returns, in its module `describe`:

    DESCRIBE = Describe(
        name="stick",
        title="Stick Toolkit",
        frameworks=("tensorflow",),
        targets={"stick2": Target("stick2", "aarch64")},
        default_target="stick2",
        limits=Limits("the stick", name_length=127),
        type_refusal=lambda name: "use FLOAT" if name == "FLOATS" else "",
    )

The other parts are in opkit.runtimes: files, build, check, report and models.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import yaml

from opkit.complaint import Complaint
from opkit.description.checked_kernels import CheckedKernel
from opkit.description.limits import Limits
from opkit.description.reader import Reader
from opkit.description.spec import OpSpec
from opkit.description.types import SAME_TENSOR_TYPES


class Target(NamedTuple):
    """A build target: a chip, for instance.

    Attributes:
        name: the name for `scons target=`.
        abi: the ABI of the processor that runs the CPU kernel.
        other_abis: the alternatives for `abi=`.
        family: targets of one family run the same products.
        needs: the minimum version of the target's runtime or driver.
        look_up: the command that prints that version on the target.
    """

    name: str
    abi: str
    family: str = ""
    needs: str = ""
    look_up: str = ""
    other_abis: Sequence[str] = ()

    @property
    def abis(self) -> tuple[str, ...]:
        """All its ABIs, the default first."""
        return (self.abi, *self.other_abis)

    def folder(self, abi: str) -> str:
        """Return the folder of its products in `build/`: the default ABI's has the plain name."""
        return self.name if abi == self.abi else f"{self.name}-{abi}"


@dataclass(frozen=True, kw_only=True)
class Describe:
    """A runtime's names, targets, limits, types and keys of op.yml.

    Attributes:
        name: the name in op.yml's `runtimes`, and of the package.
        title: the name for people.
        frameworks: the frameworks of its models, the usual one first.
        converter: the tool that converts models and runs the reference meanwhile; empty: none.
        next_steps: lines on the use of a product, `$product`, of the repository `$folder`.
        starter: lines for a new operator's description, each with its newline.

        targets: its targets by name.
        default_target: the target of a description without one.
        refused_targets: unsupported target -> reason.
        product_pattern: the glob pattern of products in `build/<target>/`; see Target.folder.

        limits: its limits.
        tensor_types: supported dtype of a tensor -> the dtype of the kernel's argument.
        lost_outputs: the dtypes among them that no output of a model has.

        single_thread: the reason why loops of its kernels run in a single thread, a clause; empty:
            they run in as many as `threads` in op.yml allows.

        keys: its own keys of a description -> the JSON Schema of their values.
        foreign_keys: keys that its vendor's tools write into a description; they are ignored.
        settings: (reader, entries of the description) -> the values of its keys, for
            OpSpec.settings. Raises DescriptionError: they are invalid.
        name_refusal: (name of an operator) -> the reason against it; empty: it is valid.
        type_refusal: (name of a param type) -> the reason against it; empty: it is supported.
        complaints: (operator) -> the complaints about the whole operator; a warning does not stop
            the build. Each has a field such as `outputs.y.dtype`; the parser adds the line.
        expected_kernels: (operator) -> kernel that a check must run, besides the CPU kernel -> the
            reason.
    """

    name: str
    title: str
    frameworks: Sequence[str]
    converter: str = ""
    next_steps: str = ""
    starter: str = ""

    targets: Mapping[str, Target] = field(default_factory=dict)
    default_target: str = ""
    refused_targets: Mapping[str, str] = field(default_factory=dict)
    product_pattern: str = ""

    limits: Limits = field(default_factory=Limits)
    tensor_types: Mapping[str, str] = field(default_factory=lambda: SAME_TENSOR_TYPES)
    lost_outputs: Collection[str] = ()

    single_thread: str = "its kernels run in a single thread"

    keys: Mapping[str, Any] = field(default_factory=dict)
    foreign_keys: Sequence[str] = ()
    settings: Callable[[Reader, Mapping[str, yaml.Node]], Any] = lambda reader, entries: None
    name_refusal: Callable[[str], str] = lambda name: ""
    type_refusal: Callable[[str], str] = lambda name: ""
    complaints: Callable[[OpSpec], Iterable[Complaint]] = lambda spec: ()
    expected_kernels: Callable[[OpSpec], Mapping[CheckedKernel, str]] = lambda spec: {}

    def target_of(self, spec: OpSpec) -> str:
        """Return the operator's target, or the default if that is a target of another runtime."""
        return spec.target_platform if spec.target_platform in self.targets else self.default_target


class Described(Protocol):
    """A runtime for the parser, with its first part, which may be imported at the first access."""

    @property
    def describe(self) -> Describe:
        """The first part of its interface."""
