"""The first part of a runtime's interface: what a description can say to it.

Asked whenever an op.yml is read: while cookiecutter asks, in editors' schema, at every build. May
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

The other parts are in opkit.runtimes: files, build, check and report.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import yaml

from opkit.complaint import Complaint
from opkit.description.checked_kernels import CheckedKernel
from opkit.description.limits import Limits
from opkit.description.reader import Reader
from opkit.description.spec import OpSpec
from opkit.description.types import SAME_TENSOR_TYPES


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


@dataclass(frozen=True, kw_only=True)
class Describe:
    """What a description can say to a runtime, and what the runtime is.

    Attributes:
        name: what `runtimes` in a description calls it; the name of its package.
        title: its name for people.
        frameworks: whose models it takes, the usual one first.
        converter: what converts models for it and runs the reference meanwhile; empty: nothing.
        next_steps: lines on what to do with a product, `$product`, of the repository `$folder`.
        starter: lines of a new operator's description, each with its newline.

        targets: its targets by name.
        default_target: the target of a description without one.
        refused_targets: unsupported target -> reason.
        product_pattern: which files in `build/<target>/` are built for a target.

        limits: how much it takes.
        tensor_types: the dtypes of tensors that it takes -> the dtype of what a kernel gets.
        lost_outputs: the dtypes among them that no output of a model has.

        keys: the keys of a description that it reads itself -> the JSON Schema of their values.
        foreign_keys: keys that its vendor's tools write into a description; they are ignored.
        settings: (reader, entries of the description) -> what its keys say, for OpSpec.settings.
            Raises DescriptionError: they are invalid.
        name_refusal: (name) -> why an operator cannot have this name; empty if it can.
        type_refusal: (name of a type) -> why a param cannot have it; empty if it can.
        complaints: (operator) -> what is wrong with it as a whole; warnings are of what still
            builds. The field says where, such as `outputs.y.dtype`; the parser adds the line.
        expected_kernels: (operator) -> the kernels besides the CPU kernel that a check must have
            run, each with the reason.
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

    keys: Mapping[str, Any] = field(default_factory=dict)
    foreign_keys: Sequence[str] = ()
    settings: Callable[[Reader, Mapping[str, yaml.Node]], Any] = lambda reader, entries: None
    name_refusal: Callable[[str], str] = lambda name: ""
    type_refusal: Callable[[str], str] = lambda name: ""
    complaints: Callable[[OpSpec], Iterable[Complaint]] = lambda spec: ()
    expected_kernels: Callable[[OpSpec], Mapping[CheckedKernel, str]] = lambda spec: {}

    def target_of(self, spec: OpSpec) -> str:
        """Return the target of an operator, or the default if that is another runtime's."""
        return spec.target_platform if spec.target_platform in self.targets else self.default_target


class Described(Protocol):
    """A runtime, as the parser knows it: it may import the part only when that is asked for."""

    @property
    def describe(self) -> Describe:
        """What a description can say to it."""
