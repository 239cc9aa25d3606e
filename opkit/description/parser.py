"""op.yml -> OpSpec: the operator description, parsed and checked.

Input that a runtime would refuse, or silently get wrong, is refused here, with file and line. A
runtime reads its own keys itself.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Any, NoReturn, TypeVar

import yaml

from opkit.common.complaint import Complaint
from opkit.common.text import closest, did_you_mean, shortened
from opkit.description import describe
from opkit.description.build_keys import (
    RepositoryPath,
    flag_problem,
    path_problem,
    source_problem,
)
from opkit.description.describe import Described, RuntimeDescription
from opkit.description.reader import (
    EXAMPLES,
    ConsequenceError,
    DescriptionError,
    Reader,
    as_written,
    is_key,
    is_null,
    node_at,
)
from opkit.description.spec import (
    AUTO_THREADS,
    CPU,
    TENSOR_DTYPES,
    OpSpec,
    Param,
    ParamValue,
    Tensor,
    allows,
    describe_allowed,
    refused,
)
from opkit.description.types import (
    FLOAT32,
    MAX_CHOICES,
    MAX_ELEMENTWISE_INPUTS,
    MAX_TEXT,
    MAX_THREADS,
    NO_PARAM_TYPES,
    ONNX_WORDS,
    OTHER_WORDS,
    PARAM_TYPES,
    PREFIX,
    TENSOR,
    Kind,
    Limits,
    ParamType,
    lowest,
)
from opkit.description.words import taken_by

PC = "x64"
"""The target that every operator can be built for: this PC."""


def parse(text: str, file: str, runtimes: Mapping[str, Described], default: str) -> OpSpec:
    """Read an operator description.

    Args:
        text: the YAML.
        file: the name of the file, for messages.
        runtimes: the available runtimes by name.
        default: the runtime of a description without `runtimes`.

    Raises:
        DescriptionError: the first error, with file, line and field.
    """
    return _OperatorReader(file, runtimes, default).operator(text)


MAX_COMPLAINTS = 100
"""The maximum count of complaints in one run: no one reads more."""


def complaints(
    text: str, file: str, runtimes: Mapping[str, Described], default: str
) -> tuple[OpSpec | None, list[Complaint]]:
    """Read an operator description and continue after errors; see parse.

    Returns:
        The operator, or None after an error; and all complaints in the order of the lines, without
        consequential errors. Warnings do not stop the reading.
    """
    reader = _OperatorReader(file, runtimes, default, MAX_COMPLAINTS)
    spec = None
    with suppress(DescriptionError):
        spec = reader.attempt(reader.operator, text)
    found = [*(error.complaint for error in reader.errors), *reader.warnings]
    return spec, sorted(found, key=lambda each: (each.line or 0, each.column or 0))


_COMMON_KEYS = (
    *("name", "framework", "target_platform", "runtimes"),
    *("inputs", "outputs", "params", "elementwise", "sources", "include", "cflags", "threads"),
    *("fp16_math", "kernels"),
)
_DTYPES_ELSEWHERE = {
    **dict.fromkeys(("half", "fp16", "f16"), "float16"),
    **dict.fromkeys(("float", "single", "fp32", "f32"), "float32"),
    **dict.fromkeys(("int", "i32"), "int32"),
    **dict.fromkeys(("long", "i64"), "int64"),
    **dict.fromkeys(("byte", "u8"), "uint8"),
    "i8": "int8",
}
"""Name of a dtype in other tools -> numpy's."""
_TENSOR_KEYS = ("type", "doc", "dtype", "same_as")
_PARAM_KEYS = ("type", "doc", "default", "source", "length", "min", "max", "choices")

_Parameter = TypeVar("_Parameter", Tensor, Param)

AUTO = "auto"
"""The value of `threads` for as many threads as processors."""
IDENTIFIER = r"[A-Za-z_][A-Za-z0-9_]*"
"""The regular expression of a name."""
SOURCE = r"const:\S+"
"""The regular expression of a param's `source`."""
LARGEST = {"float32": 3.4028234663852886e38, "float64": sys.float_info.max}
"""The largest finite value of each floating-point type."""


class _OperatorReader(Reader):
    """Reads a description key by key."""

    def __init__(
        self, file: str, runtimes: Mapping[str, Described], default: str, max_complaints: int = 1
    ) -> None:
        super().__init__(file, max_complaints)
        self.runtimes = runtimes
        self.default_runtime = default
        self.chosen: list[RuntimeDescription] = []
        self.all_chosen = False
        self.called = ""  # the name of the operator, once it is read
        self.warnings: list[Complaint] = []

    def operator(self, text: str) -> OpSpec:
        root = self.root(text)
        entries = self.mapping(root, "description", None)
        before = len(self.errors)
        is_misspelled = "runtimes" not in entries and self.has_misspelled(entries, "runtimes")
        chosen = None if is_misspelled else self.attempt(self.names, entries.get("runtimes"))
        self.all_chosen = len(self.errors) == before and not is_misspelled
        self.chosen = [self.runtimes[name].describe for name in chosen or ()]
        for key, _ in root.value:
            self.attempt(self.refuse_unknown_key, key)

        def required(key: str) -> yaml.Node:
            return self.required(root, entries, key, EXAMPLES[key])

        for key in ("name", "inputs", "outputs"):
            self.attempt(required, key)
        seen: dict[str, str] = {}
        spec = OpSpec(
            name=self.attempt(lambda: self.operator_name(required("name"))),
            framework=self.attempt(self.framework, entries),
            target_platform=self.attempt(self.target, entries),
            settings={
                runtime.name: self.attempt(runtime.settings, self, entries)
                for runtime in self.chosen
            },
            inputs=self.attempt(lambda: self.tensors(required("inputs"), "inputs", seen)),
            outputs=self.attempt(
                lambda: self.tensors(required("outputs"), "outputs", seen, entries.get("inputs"))
            ),
            params=self.attempt(self.params, entries.get("params"), seen),
            runtimes=tuple(runtime.name for runtime in self.chosen),
            sources=self.attempt(self.paths, entries.get("sources"), "sources", source_problem),
            include=self.attempt(self.paths, entries.get("include"), "include", path_problem),
            cflags=self.attempt(self.flags, entries.get("cflags")),
            elementwise=self.attempt(self.boolean, entries.get("elementwise"), "elementwise"),
            threads=self.attempt(self.threads, entries.get("threads")),
            fp16_math=self.attempt(self.fp16_math, entries.get("fp16_math")),
            kernels=self.attempt(self.kernels, entries.get("kernels")),
        )
        self.end()
        if spec.elementwise:
            spec = self.elementwise(spec, root)
        for complaint in (each for runtime in self.chosen for each in runtime.complaints(spec)):
            self.attempt(self.judge, root, complaint)
        self.end()
        return spec

    def boolean(self, node: yaml.Node | None, key: str) -> bool:
        if node is None:
            return False
        value = self.value(node, key)
        if type(value) is not bool:
            self.fail(node, key, f"invalid {as_written(node)}", expected="true, false")
        return value

    def elementwise(self, spec: OpSpec, root: yaml.Node) -> OpSpec:
        """Return an elementwise operator with `same_as`, if that is the shape of its output."""
        if len(spec.outputs) > 1:
            self.fail(
                node_at(root, f"outputs.{spec.outputs[1].name}"),
                "outputs",
                f"an elementwise operator has one output, not {len(spec.outputs)}",
                hint="make an operator of each output, or delete `elementwise`",
            )
        if len(spec.inputs) > MAX_ELEMENTWISE_INPUTS:
            self.fail(
                node_at(root, f"inputs.{spec.inputs[MAX_ELEMENTWISE_INPUTS].name}"),
                "inputs",
                f"an elementwise operator has at most {MAX_ELEMENTWISE_INPUTS} inputs, not "
                f"{len(spec.inputs)}",
                hint="delete `elementwise`",
            )
        for tensor in (*spec.inputs, *spec.outputs):
            if spec.fp16_math and tensor.dtype not in (None, "float16", "float32"):
                self.fail(
                    node_at(root, "fp16_math"),
                    "fp16_math",
                    f"'{tensor.name}' is {tensor.dtype} (expected float16, float32)",
                    hint="delete the key",
                )
        output = spec.outputs[0]
        if len(spec.inputs) == 1:
            return spec._replace(outputs=(output._replace(same_as=spec.inputs[0].name),))
        if output.same_as is not None:
            where = f"outputs.{output.name}.same_as"
            problem = "the output of an elementwise operator has the shape to which all inputs "
            self.fail(node_at(root, where), where, f"{problem}broadcast", hint="delete `same_as`")
        return spec

    def judge(self, root: yaml.Node, complaint: Complaint) -> None:
        """Add file, line and column to a runtime's complaint; raise an error, collect others."""
        mark = node_at(root, complaint.field).start_mark
        placed = complaint._replace(file=self.file, line=mark.line + 1, column=mark.column + 1)
        if placed.severity == "error":
            raise DescriptionError(placed)
        self.warnings.append(placed)

    def has_misspelled(self, entries: Mapping[str, yaml.Node], key: str) -> bool:
        """Return whether an unknown key is most similar to a known one."""
        own = [name for each in self.runtimes.values() for name in each.describe.keys]
        known = [*_COMMON_KEYS, *own]
        return any(closest(name.lower(), known) == [key] for name in entries if name not in known)

    def names(self, node: yaml.Node | None) -> list[str]:
        """Return the names of the runtimes, in the order of the description."""
        names: list[str] = []
        if node is None:
            return [self.runtime(None, "runtimes", self.default_runtime, names)]
        before = len(self.errors)
        for item, where, name in self.items(node, "runtimes", lambda name: None):
            if self.attempt(self.runtime, item, where, name, names):
                names.append(name)
        if not names and len(self.errors) == before:
            self.fail(node, "runtimes", "is empty", expected=", ".join(self.runtimes))
        return names

    def runtime(self, node: yaml.Node | None, where: str, name: str, before: Sequence[str]) -> str:
        """Return the name of a runtime; refuse an unknown one and a duplicate."""
        known = list(self.runtimes)
        if name not in known:
            problem = f"unknown runtime {shortened(name)!r}"
            hint = did_you_mean(name, known)
            self.fail(node, where, problem, hint=hint, expected=", ".join(known))
        if name in before:
            self.fail(node, where, f"duplicate runtime '{name}'", hint="delete one of them")
        return name

    def refuse_unknown_key(self, key: yaml.Node) -> None:
        """Refuse a key that is neither common nor of a chosen runtime."""
        name = key.value
        known = [*_COMMON_KEYS, *(key for runtime in self.chosen for key in runtime.keys)]
        foreign = {key for runtime in self.chosen for key in runtime.foreign_keys}
        if not is_key(key) or name in known or name in foreign:
            return
        owners = {key: name for name, each in self.runtimes.items() for key in each.describe.keys}
        if name not in owners:
            self.unknown_key(key, name, name, known)
        if self.all_chosen:
            self.fail(
                key,
                name,
                f"is a key of the runtime {owners[name]}, which is not in `runtimes`",
                hint="add it there, or delete the key",
            )

    def kernels(self, node: yaml.Node | None) -> tuple[str, ...]:
        """Return the kernels of the operator: the CPU kernel, then those of the runtimes."""
        self.require_runtimes()
        others = {name: given for runtime in self.chosen for name, given in runtime.kernels.items()}
        if node is None:
            return (CPU, *(name for name, given in others.items() if given))
        known = (CPU, *others)
        expected = " or ".join([f"[{CPU}]", *(f"[{CPU}, {name}]" for name in others)])
        if not isinstance(node, yaml.SequenceNode):
            self.fail(node, "kernels", f"must be a list, not {as_written(node)}", expected=expected)
        found: list[str] = []
        for index, item in enumerate(node.value):
            where = f"kernels[{index}]"
            kernel = self.text(item, where).lower()
            if kernel not in known:
                self.refuse_kernel(item, where, kernel, known)
            if kernel in found:
                hint = "delete one of them"
                self.fail(item, where, f"duplicate kernel '{kernel}'", hint=hint)
            found.append(kernel)
        if not found:
            self.fail(node, "kernels", "is empty", expected=expected)
        if CPU not in found:
            problem = f"has no {CPU}, the kernel that every operator has"
            self.fail(node, "kernels", problem, expected=expected)
        return tuple(kernel for kernel in known if kernel in found)

    def refuse_kernel(
        self, item: yaml.Node, where: str, kernel: str, known: Sequence[str]
    ) -> NoReturn:
        """Refuse a kernel that no chosen runtime has."""
        for name, runtime in self.runtimes.items():
            if kernel in runtime.describe.kernels:
                self.fail(
                    item,
                    where,
                    f"{kernel!r} is a kernel of the runtime {name}, which is not in `runtimes`",
                    hint="add it there, or delete the kernel",
                )
        problem = f"unknown kernel {as_written(item)}"
        self.fail(item, where, problem, expected=", ".join(known))

    def framework(self, entries: Mapping[str, yaml.Node]) -> str:
        self.require_runtimes()
        allowed = [
            framework
            for framework in self.chosen[0].frameworks
            if all(framework in runtime.frameworks for runtime in self.chosen)
        ]
        if not allowed:
            both = "; ".join(
                f"{runtime.name}: {', '.join(runtime.frameworks)}" for runtime in self.chosen
            )
            self.fail(entries["runtimes"], "runtimes", f"have no framework in common ({both})")
        return self.choice(entries, "framework", allowed, allowed[0])

    def target(self, entries: Mapping[str, yaml.Node]) -> str:
        self.require_runtimes()
        targets = [target for runtime in self.chosen for target in runtime.targets] or [PC]
        default = next(
            (each.default_target for each in self.chosen if each.default_target), targets[0]
        )
        if "target_platform" not in entries:
            return default
        node = entries["target_platform"]
        name = self.text(node, "target_platform")
        if name.lower() not in targets:
            known = [runtime.describe for runtime in self.runtimes.values()]
            remedy = "write `runtimes: [{}]`"
            found = describe.target_refusal(name, self.chosen, known, targets, remedy)
            self.fail(
                node, "target_platform", found.problem, hint=found.hint, expected=found.expected
            )
        return name.lower()

    def require_runtimes(self) -> None:
        """Stop reading a part that depends on all runtimes, if one of them is invalid."""
        if not self.all_chosen:
            raise ConsequenceError(self.complaint(None, "runtimes", "are not known"))

    def limit(self, what: str) -> tuple[int, str]:
        """Return the lowest value of a limit among the chosen runtimes, and its device."""
        return lowest([runtime.limits for runtime in self.chosen] or [Limits()], what)

    def item_limit(self) -> tuple[int, str]:
        """Return the maximum count of a list's items, and the runtime with this limit."""
        limit, device = self.limit("items")
        names = (f"the runtime {r.name}" for r in self.chosen if r.limits.items == limit)
        return limit, next(names, device)

    def name(self, node: yaml.Node, where: str, name: str) -> str:
        if not re.fullmatch(IDENTIFIER, name):
            self.fail(
                node,
                where,
                f"{shortened(name)!r} is not a C identifier; allowed are letters (a to z), digits "
                "and _, beginning with a letter",
            )
        limit, device = self.limit("name_length")
        if len(name) > limit:
            self.fail(node, where, f"has {len(name)} characters; {device} allows {limit}")
        if taken := taken_by(name, self.called):
            self.fail(node, where, f"{shortened(name)!r} is {taken}; choose another name")
        return name

    def operator_name(self, node: yaml.Node) -> str:
        name = self.text(node, "name")
        for runtime in self.chosen:
            if problem := runtime.name_refusal(name):
                self.fail(node, "name", f"{shortened(name)!r} {problem}")
        self.name(node, "name", name)
        if name.lower() == "opkit" or name.lower().startswith("opkit_"):
            self.fail(
                node,
                "name",
                f"{shortened(name)!r} is taken by the generated code; choose another name",
            )
        self.called = name
        return name

    def entries(
        self,
        node: yaml.Node,
        where: str,
        keys: Sequence[str],
        seen: dict[str, str],
        read: Callable[[str, str, dict[str, yaml.Node]], _Parameter],
    ) -> tuple[_Parameter, ...]:
        """Read each input, output or param with `read(name, field, keys)`; return the results."""

        def entry(key: yaml.Node, name: str, value: yaml.Node) -> _Parameter:
            path = f"{where}.{name}"
            self.attempt(self.parameter_name, key, path, name, seen)
            details = self.mapping(value, path, keys)
            example = f"{name}: {{type: {PREFIX}...}}"
            self.attempt(self.required, key, details, f"{path}.type", example)
            return read(name, path, details)

        return tuple(self.attempt(entry, *each) for each in self.entries_of(node, where, None))

    def parameter_name(self, node: yaml.Node, where: str, name: str, seen: dict[str, str]) -> None:
        """Refuse an invalid name, or one of another input, output or param."""
        self.name(node, where, name)
        before = seen.get(name.lower())
        if before is not None:
            how = "duplicate name" if before.endswith(f".{name}") else "differs only in case"
            self.fail(node, where, f"{how}: {before}", hint="choose another name")
        seen[name.lower()] = where
        limit, device = self.limit("parameters")
        if len(seen) == limit + 1:
            self.fail(node, where, f"{device} takes at most {limit} parameters")

    def tensors(
        self,
        node: yaml.Node,
        group: str,
        seen: dict[str, str],
        inputs: yaml.Node | None = None,
    ) -> tuple[Tensor, ...]:
        """Return the inputs or the outputs; `same_as` of outputs must name one of `inputs`."""
        if is_null(node) or (isinstance(node, yaml.MappingNode) and not node.value):
            self.fail(node, group, "is empty", hint=f"write `{EXAMPLES[group]}`")

        def tensor(name: str, where: str, details: dict[str, yaml.Node]) -> Tensor:
            self.attempt(self.tensor_type, details.get("type"), f"{where}.type")
            return Tensor(
                name,
                dtype=self.attempt(self.dtype, details.get("dtype"), f"{where}.dtype"),
                same_as=self.attempt(
                    self.same_as, details.get("same_as"), group, f"{where}.same_as", inputs
                ),
                doc=self.attempt(self.doc, details, where),
            )

        return self.entries(node, group, _TENSOR_KEYS, seen, tensor)

    def tensor_type(self, node: yaml.Node | None, where: str) -> None:
        if node is not None and (text := self.text(node, where)).upper() != TENSOR:
            self.fail(node, where, f"invalid {shortened(text)!r}", expected=TENSOR)

    def same_as(
        self, node: yaml.Node | None, group: str, where: str, inputs: yaml.Node | None
    ) -> str | None:
        """Return `same_as` of an output: the name of the input with the same shape."""
        if node is None:
            return None
        if group != "outputs":
            self.fail(node, where, "is for outputs only")
        name = self.text(node, where)
        if isinstance(inputs, yaml.MappingNode) and inputs.value:
            known = [str(key.value) for key, _ in inputs.value]
            if name not in known:
                self.fail(
                    node,
                    where,
                    f"unknown input {shortened(name)!r}",
                    hint=did_you_mean(name, known),
                    expected=", ".join(known),
                )
        return name

    def dtype(self, node: yaml.Node | None, where: str) -> str | None:
        if node is None:
            return None
        dtype = self.text(node, where)
        taken = [
            each
            for each in TENSOR_DTYPES
            if all(each in runtime.tensor_types for runtime in self.chosen)
        ]
        if dtype not in taken:
            refusals = [r.title for r in self.chosen if dtype not in r.tensor_types]
            reason = f": {refusals[0]} has no such tensors" if dtype in TENSOR_DTYPES else ""
            problem = f"invalid {shortened(dtype)!r}{reason}"
            meant = _DTYPES_ELSEWHERE.get(dtype.lower().removesuffix("_t"))
            hint = f"did you mean '{meant}'?" if meant in taken else ""
            self.fail(node, where, problem, hint=hint, expected=", ".join(taken))
        return dtype

    def params(self, node: yaml.Node | None, seen: dict[str, str]) -> tuple[Param, ...]:
        if node is None or is_null(node):
            return ()
        return self.entries(node, "params", _PARAM_KEYS, seen, self.param)

    def param(self, name: str, where: str, details: dict[str, yaml.Node]) -> Param:
        type_: Any = None
        length = None
        if "type" in details:
            type_ = self.attempt(self.param_type, details["type"], f"{where}.type")
        if type_ is not None:  # without a type they cannot be checked
            length = self.attempt(self.length, details.get("length"), f"{where}.length", type_)
        doc = self.attempt(self.doc, details, where)
        source = self.attempt(self.source, details.get("source"), f"{where}.source")
        param = Param(name, type_, doc, None, source, length)
        if type_ is None:
            return param
        default = self.attempt(
            self.default, details.get("default"), f"{where}.default", type_, length
        )
        limited = self.attempt(self.limited, param, where, details)
        if limited is not None and default is not None:
            self.attempt(self.refuse_default, limited, default, details["default"], where)
        return (limited or param)._replace(default=default)

    def paths(
        self, node: yaml.Node | None, where: str, problem_of: Callable[[str], str | None]
    ) -> tuple[RepositoryPath, ...]:
        paths: dict[str, RepositoryPath] = {}

        def add(item: yaml.Node, place: str, text: str) -> None:
            path = str(PurePosixPath(text))
            if path in paths:
                self.fail(item, place, f"duplicate {shortened(text)!r}", hint="delete one of them")
            paths[path] = RepositoryPath(path, self.file, item.start_mark.line + 1, place)

        for each in self.items(node, where, problem_of):
            self.attempt(add, *each)
        return tuple(paths.values())

    def flags(self, node: yaml.Node | None) -> tuple[str, ...]:
        return tuple(text for _, _, text in self.items(node, "cflags", flag_problem))

    def threads(self, node: yaml.Node | None) -> int:
        """Return the maximum threads; refuse several if no chosen runtime supports them."""
        if node is None:
            return 1
        written = self.value(node, "threads")
        is_auto = isinstance(written, str) and written.lower() == AUTO
        is_number = type(written) is int and 1 <= written <= MAX_THREADS
        if not (is_auto or is_number):
            expected = f"must be 1 to {MAX_THREADS}, or {AUTO}"
            self.fail(node, "threads", f"{expected}, not {as_written(node)}")
        threads = AUTO_THREADS if is_auto else int(written)
        if threads != 1:
            problem = "no runtime of the operator uses several threads"
            self.judge_effect(node, "threads", problem, lambda runtime: runtime.single_thread)
        return threads

    def fp16_math(self, node: yaml.Node | None) -> bool:
        """Return whether the math may compute in halves; refuse it if no chosen runtime does."""
        value = self.boolean(node, "fp16_math")
        if node is not None and value:
            problem = "no runtime of the operator computes with halves"
            self.judge_effect(node, "fp16_math", problem, lambda runtime: runtime.no_fp16)
        return value

    def judge_effect(
        self,
        node: yaml.Node,
        key: str,
        problem: str,
        reason: Callable[[RuntimeDescription], str],
    ) -> None:
        """Refuse a key without effect for all chosen runtimes; note those without effect.

        Args:
            node: the value.
            key: the key.
            problem: the error.
            reason: (runtime) -> why the key has no effect; empty: it has.
        """
        without = [runtime for runtime in self.chosen if reason(runtime)]
        if not self.all_chosen:
            return
        reasons = {each.name: f"with {each.title}, {reason(each)}" for each in without}
        if len(without) == len(self.chosen):
            described = [runtime.describe for runtime in self.runtimes.values()]
            takers = [each.name for each in described if not reason(each)]
            self.fail(
                node,
                key,
                f"{problem}: {reasons[without[0].name]}",
                hint=f"delete the key; it is for {' and '.join(takers)}",
            )
        for name, why in reasons.items():
            complaint = self.complaint(node, key, f"without effect for {name}: {why}")
            self.warnings.append(complaint._replace(severity="note"))

    def param_type(self, node: yaml.Node, where: str) -> ParamType:
        text = self.text(node, where)
        name = ONNX_WORDS.get(text.upper(), text.upper())
        allowed = [known for known in PARAM_TYPES if not self.type_refusal(known)]
        if name not in allowed:
            reason = self.type_refusal(name) or NO_PARAM_TYPES.get(name, "")
            self.fail(
                node,
                where,
                f"invalid {shortened(text)!r}" + (f": {reason}" if reason else ""),
                hint="" if reason else self.type_hint(name, allowed),
                expected=", ".join(allowed),
            )
        return PARAM_TYPES[name]

    def type_hint(self, name: str, allowed: Sequence[str]) -> str:
        """Return a hint at the type behind another word for it."""
        word = name.removeprefix(PREFIX)
        meant = OTHER_WORDS.get(word, f"{PREFIX}{word}")
        known_as = meant if meant.startswith(PREFIX) else f"`{meant.lower()}`"
        if meant in allowed:
            return f"did you mean {known_as}?"
        if reason := self.type_refusal(meant):
            described = [runtime.describe for runtime in self.runtimes.values()]
            takers = [each.name for each in described if not each.type_refusal(meant)]
            where = f" ({known_as} is for {' and '.join(takers)})" if takers else ""
            return f"{reason}{where}"
        words = {known.removeprefix(PREFIX): known for known in allowed}
        return "".join(f"did you mean {words[near]}?" for near in closest(word, words))

    def type_refusal(self, name: str) -> str:
        """Return a chosen runtime's reason against a param type; empty if all support it."""
        refusals = (runtime.type_refusal(name) for runtime in self.chosen)
        return next(filter(None, refusals), "")

    def doc(self, details: dict[str, yaml.Node], where: str) -> str:
        if "doc" not in details:
            return ""
        doc = " ".join(self.text(details["doc"], f"{where}.doc").split())
        if not doc.isprintable():
            self.fail(details["doc"], f"{where}.doc", "has an unprintable character")
        return doc

    def source(self, node: yaml.Node | None, where: str) -> str | None:
        if node is None:
            return None
        source = self.text(node, where)
        if not re.fullmatch(SOURCE, source) or not source.isprintable():
            problem = f"invalid {shortened(source)!r}"
            self.fail(node, where, problem, expected="const:<name of the input>")
        return source

    def length(self, node: yaml.Node | None, where: str, type_: ParamType) -> int | None:
        if node is None:
            return None
        if not type_.is_list:
            lists = [row.name for row in PARAM_TYPES.values() if row.is_list]
            taken = " or ".join(name for name in lists if not self.type_refusal(name))
            self.fail(node, where, f"only a {taken} has a length, not a {type_.name}")
        length = self.value(node, where)
        limit, runtime = self.item_limit()
        if type(length) is not int or not 1 <= length <= limit:
            expected = f"1 to {limit:,}, the limit of {runtime}"
            self.fail(node, where, f"invalid {as_written(node)}", expected=expected)
        return length

    def default(
        self, node: yaml.Node | None, where: str, type_: ParamType, length: int | None
    ) -> ParamValue | None:
        if node is None or is_null(node):
            return None
        if type_.is_text:
            return self.characters(node, where)
        value = self.value(node, where)
        read, expected = _NUMBERS[type_.element.kind]
        if not type_.is_list:
            return read(self, node, where, type_, value)
        if not isinstance(node, yaml.SequenceNode):
            self.fail(node, where, f"must be a list of {expected}, not {as_written(node)}")
        limit, runtime = self.item_limit()
        if not 1 <= len(node.value) <= limit:
            self.fail(node, where, f"has {len(node.value)} items; {runtime} takes 1 to {limit:,}")
        if length is not None and len(node.value) != length:
            self.fail(node, where, f"has {len(node.value)} items, but length is {length}")
        return tuple(
            self.attempt(read, self, item, f"{where}[{index}]", type_, value[index])
            for index, item in enumerate(node.value)
        )

    def limited(self, param: Param, where: str, details: dict[str, yaml.Node]) -> Param:
        """Return a param with its `min`, `max` and `choices`."""

        def bound(key: str) -> int | float | None:
            if key not in details:
                return None
            node, place = details[key], f"{where}.{key}"
            if param.type.is_text or param.type.element.kind == "bool":
                self.fail(node, place, f"only numbers have a {key}, not a {param.type.name}")
            return self.limit_number(node, place, param.type, self.value(node, place))

        param = param._replace(min=bound("min"), max=bound("max"))
        if param.min is not None and param.max is not None and param.min > param.max:
            problem = f"{as_written(details['max'])} is less than min, {as_written(details['min'])}"
            self.fail(details["max"], f"{where}.max", problem)
        choices = self.choices(param, details.get("choices"), f"{where}.choices")
        return param._replace(choices=choices)

    def choices(
        self, param: Param, node: yaml.Node | None, where: str
    ) -> tuple[int | float | str, ...]:
        """Return the `choices` of a param, within its `min` and `max`."""
        if node is None:
            return ()
        if param.type.element.kind == "bool":
            self.fail(node, where, f"a {param.type.name} has no choices but true and false")
        if not isinstance(node, yaml.SequenceNode):
            self.fail(node, where, f"must be a list of values, not {as_written(node)}")
        if not 1 <= len(node.value) <= MAX_CHOICES:
            self.fail(node, where, f"has {len(node.value)} items", expected=f"1 to {MAX_CHOICES}")
        values = self.value(node, where)
        found: list[int | float | str] = []
        for index, item in enumerate(node.value):
            place = f"{where}[{index}]"
            choice: int | float | str = (
                self.characters(item, place)
                if param.type.is_text
                else self.limit_number(item, place, param.type, values[index])
            )
            if choice in found:
                self.fail(item, place, f"duplicate {as_written(item)}", hint="delete one of them")
            if not allows(param, choice):
                problem = f"{as_written(item)} is outside of min and max"
                self.fail(item, place, problem, expected=describe_allowed(param))
            found.append(choice)
        return tuple(found)

    def limit_number(
        self, node: yaml.Node, where: str, type_: ParamType, value: Any
    ) -> int | float:
        """Return a number that limits a param; floats are compared as float32."""
        is_float = type_.element.kind == "float"
        read, _ = _NUMBERS[type_.element.kind]
        return read(self, node, where, FLOAT32 if is_float else type_, value)

    def refuse_default(
        self, param: Param, default: ParamValue, node: yaml.Node, where: str
    ) -> None:
        """Refuse a default that `min`, `max` or `choices` do not allow."""
        for item in refused(param, default)[:1]:
            self.fail(
                node,
                f"{where}.default",
                f"{item!r} is not allowed",
                expected=describe_allowed(param),
            )

    def characters(self, node: yaml.Node, where: str) -> str:
        text = self.value(node, where)
        if not isinstance(text, str):
            problem = f"must be a text, not {as_written(node)}"
            self.fail(node, where, problem, hint="put it between quotes")
        if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
            self.fail(node, where, "has a character that a C string cannot hold")
        if len(text.encode()) > MAX_TEXT:
            problem = f"has {len(text.encode())} bytes"
            self.fail(node, where, problem, expected=f"{MAX_TEXT} at most")
        return text

    def truth(self, node: yaml.Node, where: str, type_: ParamType, value: Any) -> bool:
        if type(value) is not bool:
            self.fail(node, where, f"must be true or false, not {as_written(node)}")
        return value

    def real(self, node: yaml.Node, where: str, type_: ParamType, value: Any) -> float:
        if isinstance(value, str) and _is_number(value):
            valid = yaml.safe_dump(float(value)).split()[0]
            self.fail(node, where, f"YAML reads {value} as text", hint=f"write {valid}")
        if type(value) not in (int, float):
            self.fail(node, where, f"must be a number, not {as_written(node)}")
        if not abs(value) <= LARGEST[type_.element.name]:
            self.fail(node, where, f"{as_written(node)} is out of range for {type_.name}")
        return float(value)

    def whole(self, node: yaml.Node, where: str, type_: ParamType, value: Any) -> int:
        limits = type_.element.limits
        assert limits is not None
        low, high = limits
        if type(value) is not int or not low <= value <= high:
            self.fail(
                node, where, f"must be a whole number from {low} to {high}, not {as_written(node)}"
            )
        return value


_ReadNumber = Callable[[_OperatorReader, yaml.Node, str, ParamType, Any], bool | int | float]

_NUMBERS: dict[Kind, tuple[_ReadNumber, str]] = {
    "bool": (_OperatorReader.truth, "true or false"),
    "int": (_OperatorReader.whole, "whole numbers"),
    "uint": (_OperatorReader.whole, "whole numbers"),
    "float": (_OperatorReader.real, "numbers"),
}
"""Kind of number -> its reader, and the name of a list of them."""


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
