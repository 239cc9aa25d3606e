"""The first part of a runtime's interface: names, targets, limits, types and keys of op.yml.

Used by cookiecutter's questions, by the editors' schema and at the start of every build. May
import PyYAML and opkit.description, nothing else: cookiecutter's own Python has no numpy.
A runtime returns, in its module `describe`:

    DESCRIBE = RuntimeDescription(
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
from typing import Any, NamedTuple, Protocol

import yaml

from opkit.common.complaint import Complaint
from opkit.common.text import closest, shortened
from opkit.description.reader import Reader
from opkit.description.spec import OpSpec
from opkit.description.types import SAME_TENSOR_TYPES, Limits


class CheckedKernel(NamedTuple):
    """A kernel that tests check.

    Attributes:
        name: the name in the table of cases.
        check: the name of its check function in opkit.testing.
    """

    name: str
    check: str

    def on(self, executor: str) -> str:
        """Return the name in the table of cases for another executor than this PC."""
        return f"{self.name}, {executor}"


CPU_KERNEL = CheckedKernel("CPU kernel", "check_cpu_kernel")
"""The math in C, as a runtime calls it; every operator has one."""


LINUX = "linux"
ANDROID = "android"
SYSTEMS = (LINUX, ANDROID)
"""The values of `os=`."""


class Target(NamedTuple):
    """A build target: a chip, for instance.

    Attributes:
        name: the name for `scons target=`.
        abi: the ABI of the processor that runs the CPU kernel, with Linux.
        other_abis: the alternatives for `abi=`.
        android_abis: the ABIs with `os=android`, the default first; empty: it has no Android.
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
    android_abis: Sequence[str] = ()

    @property
    def abis(self) -> tuple[str, ...]:
        """Its ABIs with Linux, the default first."""
        return (self.abi, *self.other_abis)

    def abis_of(self, system: str) -> tuple[str, ...]:
        """Return its ABIs with a system, one of SYSTEMS, the default first."""
        return self.abis if system == LINUX else tuple(self.android_abis)

    def folder(self, abi: str) -> str:
        """Return the folder of its products in `build/`: the default ABI's has the plain name."""
        return self.name if abi == self.abi else f"{self.name}-{abi}"


class RuntimeDescription(NamedTuple):
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

        kernels: the name in `kernels` of each kernel besides the CPU kernel -> whether an operator
            has it without that key.
        single_thread: the reason why loops of its kernels run in a single thread, a clause; empty:
            they run in as many as `threads` in op.yml allows.
        no_fp16: the reason why `fp16_math` in op.yml has no effect, a clause; empty: it has one on
            processors with arithmetic of halves.

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

    targets: Mapping[str, Target] = {}
    default_target: str = ""
    refused_targets: Mapping[str, str] = {}
    product_pattern: str = ""

    limits: Limits = Limits()
    tensor_types: Mapping[str, str] = SAME_TENSOR_TYPES
    lost_outputs: Collection[str] = ()

    kernels: Mapping[str, bool] = {}
    single_thread: str = "its kernels run in a single thread"
    no_fp16: str = "none of its targets has arithmetic of halves"

    keys: Mapping[str, Any] = {}
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
    def describe(self) -> RuntimeDescription:
        """The first part of its interface."""


class Refusal(NamedTuple):
    """The parts of a message about a target.

    Attributes:
        problem: the problem.
        hint: the remedy, or empty.
        expected: the valid targets, or empty if the problem or the hint names them.
    """

    problem: str
    hint: str = ""
    expected: str = ""

    def __str__(self) -> str:
        hint = f"; {self.hint}" if self.hint else ""
        return self.problem + hint + (f" (expected {self.expected})" if self.expected else "")


def target_refusal(
    name: str,
    chosen: Collection[RuntimeDescription],
    known: Iterable[RuntimeDescription],
    expected: Iterable[str],
    remedy: str,
) -> Refusal:
    """Return the refusal of a target that is not among the expected ones.

    Args:
        name: the target, as the user wrote it.
        chosen: the runtimes of the operator.
        known: all available runtimes.
        expected: the valid targets.
        remedy: the way to choose a runtime, with `{}` for its name.
    """
    target, known = name.lower(), [*known]
    for runtime in (*chosen, *known):
        if reason := runtime.refused_targets.get(target):
            return Refusal(reason)
    for runtime in known:
        if target in runtime.targets:
            problem = f"{name} is a {_kind(runtime, target)} of {runtime.title}"
            return Refusal(problem, remedy.format(runtime.name))
    hint = _suggestion(target, chosen, known, remedy)
    return Refusal(f"unknown value {shortened(name)!r}", hint, ", ".join(expected))


def _kind(runtime: RuntimeDescription, target: str) -> str:
    """Return the word for a target: those of a family are chips."""
    return "chip" if runtime.targets[target].family else "target"


def _suggestion(
    target: str,
    chosen: Collection[RuntimeDescription],
    known: Iterable[RuntimeDescription],
    remedy: str,
) -> str:
    """Return a hint at the most similar target of any runtime; empty: none is similar."""
    owners = {name: runtime for runtime in known for name in runtime.targets}
    for name in closest(target, owners):
        owner = owners[name]
        if any(name in each.targets for each in chosen):
            return f"did you mean '{name}'?"
        kind = _kind(owner, name)
        return f"did you mean '{name}', a {kind} of {owner.title}? Then {remedy.format(owner.name)}"
    return ""


def any_case_words(names: Iterable[str]) -> dict[str, Any]:
    """Return the schema of one word of a list, in any case."""
    names = list(names)
    pattern = "|".join("".join(map(_either_case, name)) for name in names)
    return {"anyOf": [{"enum": names}, {"type": "string", "pattern": f"^(?:{pattern})$"}]}


def _either_case(character: str) -> str:
    if character.isalpha():
        return f"[{character.upper()}{character.lower()}]"
    # ECMA-262 has no escapes of other characters, such as `-`.
    return f"\\{character}" if character in r"^$\.*+?()[]{}|/" else character
