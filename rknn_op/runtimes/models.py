"""The tool's part of a runtime, `models`: users' models, for `scan`, `create --from` and `graft`.

A runtime's folder beside this file has it, as its folder in opkit has the other five: MODELS in the
module `models`, imported at the first access. It may import PyYAML, but neither numpy nor SCons:

    MODELS = Models(
        framework="tensorflow",
        suffix=".pb",
        operators=lambda target, checkout: OperatorList("Stick Toolkit 1", "Stick", OPERATORS),
    )

A folder `verbs` has the verbs of `rknn-op` for this runtime alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any

from opkit.description.spec import OpSpec
from opkit.runtimes import available
from rknn_op.models.model_graph import Node


@dataclass(frozen=True)
class Renaming:
    """The names of custom nodes that are not to be the converter's own operators.

    Attributes:
        prefix: the prefix of the operator's name, by default.
        domain: the domain.
        key: the key of op.yml with another name.
        restriction: the restriction of nodes that keep a name of ONNX's own, for messages.
    """

    prefix: str
    domain: str
    key: str
    restriction: str


@dataclass(frozen=True)
class OperatorList:
    """The operators of a target.

    Attributes:
        source: the programs and versions that the list is about.
        place: where the operators run, for messages, such as `the stick`.
        operators: the names of the operators there.
        cpu: the names of the operators that the runtime runs on the CPU instead.
        names: an operator's name in models -> its name in `operators` and `cpu`, if it differs.
        left: an operator's name in models -> the names after the conversion, if they differ. This
            and the next two may have entries for some nodes of an operator, see `entry`.
        refused: operators that the converter refuses -> reason.
        constant: operator -> positions of the inputs that must be constant.
        entry: (node) -> its name in the three, if the converter makes something else of some nodes
            of an operator; by default the operator's name.
        opsets: operator -> first and last version of the domain, if restricted.
        domains: the domains whose operators are compared; those of all others are missing.
        structure: names of nodes without computation.
        max_opset: the maximum version of ONNX's own domain; 0: without restriction.
        max_ir_version: the maximum version of the file format; 0: without restriction.
        renaming: the names of a custom operator's nodes; None: they keep theirs.
    """

    source: str
    place: str
    operators: frozenset[str]
    cpu: frozenset[str] = frozenset()
    names: Mapping[str, str] = field(default_factory=dict)
    left: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    constant: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    entry: Callable[[Node], str] = attrgetter("op_type")
    opsets: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    domains: frozenset[str] = frozenset(("",))
    structure: frozenset[str] = frozenset()
    max_opset: int = 0
    max_ir_version: int = 0
    renaming: Renaming | None = None

    @property
    def ways(self) -> tuple[str, ...]:
        """How a custom operator may be named in a model, the default first.

        `rename` to a name of its own, `keep` its name.
        """
        return ("rename", "keep") if self.renaming else ("keep",)

    def missing(self, entry: str) -> str:
        """Return the first missing name of an operator; empty if the target has the operator."""
        known = self.operators | self.cpu
        return next((name for name in self._left(entry) if name not in known), "")

    def is_on_cpu(self, entry: str) -> bool:
        """Whether the runtime runs an operator, or a part of it, on the CPU."""
        left = self._left(entry)
        return any(name in self.cpu and name not in self.operators for name in left)

    def _left(self, entry: str) -> list[str]:
        return [self.names.get(name, name) for name in self.left.get(entry, (entry,))]


@dataclass(frozen=True)
class Form:
    """The form of an operator's nodes in an ONNX model.

    Attributes:
        op_type: the operator's name in models.
        domain: the domain; None: the name is ONNX's own, and nodes stay as they are.
        versions: the first and last version of the domain with the operator.
        has_constants: whether params with a `source` are constant inputs behind the tensors; else
            they are attributes.
        unreadable: the numbers of a value that cannot be an attribute.
        readable: the numbers that can, for messages.
        prefix: the prefix of the default name in models.
    """

    op_type: str
    domain: str | None
    versions: tuple[int, int] = (1, 1)
    has_constants: bool = False
    unreadable: Callable[[Any], Sequence[int | float]] = lambda value: ()
    readable: str = ""
    prefix: str = ""

    @property
    def keeps_nodes(self) -> bool:
        """Whether nodes stay as they are: the converter has the operator, the runtime may not."""
        return self.domain is None


@dataclass(frozen=True, kw_only=True)
class ConverterRules:
    """Rules for a grafted model that its converter does not enforce.

    Attributes:
        input_types: the dtypes of a model's inputs; others are refused.
        dynamic_shape: the effect of an input with a dynamic shape, for messages.
        has_subgraphs: whether it converts nodes in subgraphs.
    """

    input_types: Sequence[str]
    dynamic_shape: str
    has_subgraphs: bool


@dataclass(frozen=True, kw_only=True)
class Toolkit:
    """A toolkit that converts and simulates models, in a Python of its own.

    Its scripts run in that Python. Their last arguments are the rules of the toolkit's optimizer to
    disable. A line of their stdout is the toolkit's version, whose own log may be behind it; after
    an error, the last line of stderr is the reason, and the exit status is not 0.

    Attributes:
        name: its name for people.
        distribution: its name for pip.
        packages: the arguments of `pip install` in a shell.
        environment: the usual folder of its environment, in a repository.
        module: the module that a Python without the toolkit lacks.
        suffix: the suffix of a converted model, the package.
        build: the script that builds models and simulates them; its argument is a JSON file, whose
            keys the script documents.
        left: (content of a package) -> the names of the operators that the toolkit leaves in it.
        simulate: the script that builds and simulates a grafted model; its argument is a JSON file,
            whose keys the script documents.
        failed_rule: (output of a script) -> the rule of the toolkit's optimizer that failed; empty:
            none.
        quantize: the script that converts a grafted model to float16 and to int8, simulates and
            analyses it; its argument is a JSON file, whose keys the script documents.
        algorithms: the algorithms of its calibration, the default first.
        scripts: the folder of a repository with the converter's scripts.
        class_file: (operator) -> the file of a repository with the class that the toolkit needs;
            empty: none.
        simulated_types: dtype of a model's input -> dtype for the simulator, if it differs.
    """

    name: str
    distribution: str
    packages: str
    environment: str
    module: str
    suffix: str
    build: Path
    left: Callable[[bytes], Iterable[str]]
    simulate: Path
    failed_rule: Callable[[bytes], str]
    quantize: Path
    algorithms: Sequence[str]
    scripts: str
    class_file: Callable[[OpSpec], str]
    simulated_types: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Models:
    """A runtime's part of the work with users' models.

    Attributes:
        framework: the framework of its models, `onnx` or `tensorflow`.
        suffix: the suffix of their files.
        is_default: whether models with this suffix are for this runtime, without a target.
        operators: (target, checkout of the runtime's source or None) -> the operators that the
            target has. Raises OpkitError: the list is in a checkout, which is missing or invalid.
        checkout_variable: the environment variable with the path of that checkout; empty: the list
            is in this project.
        keys: (domain of an operator's nodes, its version) -> keys of op.yml, if not the default.
        renaming: the names of custom nodes; None: they keep theirs.
        form: (operator) -> the form of its nodes; None: the runtime has no ONNX models with custom
            operators.
        rules: the rules for a grafted model; None: no restriction.
        toolkit: the toolkit for `--toolkit`, or None.
        graft_refusal: why `graft` refuses models with this suffix; empty: it does not.
    """

    framework: str
    suffix: str
    operators: Callable[[str, Path | None], OperatorList]
    is_default: bool = False
    checkout_variable: str = ""
    keys: Callable[[str, int], Mapping[str, Any]] = lambda domain, version: {}
    renaming: Renaming | None = None
    form: Callable[[OpSpec], Form] | None = None
    rules: ConverterRules | None = None
    toolkit: Toolkit | None = None
    graft_refusal: str = ""


@cache
def models_of(runtime: str) -> Models:
    """Return a runtime's part of the work with users' models.

    Args:
        runtime: its name.
    """
    found: Models = import_module(f"rknn_op.runtimes.{runtime}.models").MODELS
    return found


def toolkits() -> list[Toolkit]:
    """Return the toolkits of all runtimes."""
    found = [models_of(name).toolkit for name in available()]
    return [toolkit for toolkit in found if toolkit]


def toolkit_names() -> str:
    """Return the names of the toolkits for `--toolkit`, for messages."""
    return " or ".join(each.name for each in toolkits())
