"""Run an ONNX model with Python functions in place of nodes.

The graph is cut at these nodes into stages. onnxruntime runs each stage in a session of its own,
and Python calls the functions between them. A stage has all nodes that depend on the same number of
calls in a row, so that there are as few stages as possible. A node is in one stage only; but
nodes that onnxruntime computes once, because all their inputs are constant, are in each stage that
reads them, where they become part of its optimized graph.

An If, Loop or Scan with such a node in its body is run by Python (control.py), and its body is
staged.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from opkit.common.errors import OpkitError
from opkit.common.text import printable
from rknn_op.models.model_files import required, schema_of
from rknn_op.models.model_graph import domain_of
from rknn_op.models.onnx_file import nodes_of, outer_names, subgraphs
from rknn_op.models.onnx_model import RANDOM, node_name
from rknn_op.models.running import control
from rknn_op.models.running.weights import OpenModel, array, first_line

Array = Any
"""A numpy array; of a sequence, a list of arrays."""
Call = Callable[[Sequence[Array | None]], Sequence[Array]]
"""A function in place of a node: inputs by position (None: left out) -> outputs by position."""
Choose = Callable[[Any, str], Call | None]
"""(NodeProto, its name) -> the function in place of the node; None: onnxruntime runs it."""

_MIN_IR_VERSION = 4  # initializers need not be inputs
_FATAL = 4
_PROVIDERS = ["CPUExecutionProvider"]
_FOLDER_OF_WEIGHTS = "session.model_external_initializers_file_folder_path"
# Threads of a session wait actively for more work by default, which slows down the next stage.
_WAITING = "session.intra_op.allow_spinning"


def staged(model: OpenModel, choose: Choose, types: Mapping[str, Any] | None = None) -> Staged:
    """Return a model in stages; sessions are made in the first run.

    Args:
        model: the model; its weights must be there as long as the result is in use.
        choose: the choice of nodes, also in subgraphs.
        types: name of a tensor -> its type, as far as known; see tensor_types.

    Raises:
        OpkitError: a chosen node is in a subgraph of another operator than If, Loop and Scan.
    """
    return _Builder(model, choose, types or {}).staged(model.proto.graph, ChainMap())


def tensor_types(proto: Any) -> dict[str, Any]:
    """Return name -> type of the tensors in a model's graph, as onnx infers them.

    Raises:
        ValueError, RuntimeError: the model is not valid.
    """
    graph = required("onnx.shape_inference").infer_shapes(proto, data_prop=True).graph
    return {each.name: each.type for each in (*graph.value_info, *graph.output, *graph.input)}


def original(model: OpenModel, node: Any) -> Call:
    """Return the function of a node itself, which onnxruntime runs.

    If onnxruntime lacks the operator for float64, it runs in float32: as on a chip, and its outputs
    have the dtypes of the model.
    """
    read = tuple(dict.fromkeys(filter(None, node.input)))
    stage = _Stage(model, (node,), read, tuple(filter(None, node.output)))
    is_narrow = False

    def call(inputs: Sequence[Array | None]) -> list[Array]:
        nonlocal stage, is_narrow
        feeds = dict(zip(node.input, inputs, strict=True))
        wide = {name for name in read if getattr(feeds[name], "dtype", None) == np.float64}
        if not is_narrow:
            try:
                outputs = stage.run(feeds)
            except OpkitError as error:
                if not (wide and missing_operator(str(error))):
                    raise
                stage, is_narrow = replace(stage, _session=[]), True
        if is_narrow:
            with np.errstate(over="ignore"):
                feeds |= {name: np.asarray(feeds[name], np.float32) for name in wide}
            outputs = stage.run(feeds)
            for name in _of_type(model, node, wide):
                outputs[name] = outputs[name].astype(np.float64)
        return [outputs.get(name) for name in node.output]

    return call


def _of_type(model: OpenModel, node: Any, inputs: Set[str]) -> Iterator[str]:
    """Yield the outputs of a node whose dtype is that of some inputs, by the operator's schema."""
    opsets = {domain_of(each.domain): each.version for each in model.proto.opset_import}
    domain = domain_of(node.domain)
    if schema := schema_of(node.op_type, domain, opsets.get(domain, 1)):
        read = zip(schema.inputs, node.input, strict=False)
        types = {formal.type_str for formal, name in read if name in inputs}
        for formal, name in zip(schema.outputs, node.output, strict=False):
            if name and formal.type_str in types:
                yield name


_NOT_IMPLEMENTED = re.compile(
    r"implementation for (?:[\w.]+:)?(\w+)\("
    r"|Fatal error: [\w.]*:(\w+)\(-?\d+\) is not a registered"
    r"|No Op registered for (\w+) "
)


def missing_operator(problem: str) -> str:
    """Return the operator that onnxruntime does not implement, by its message."""
    found = _NOT_IMPLEMENTED.search(problem)
    return next(filter(None, found.groups())) if found else ""


# ---- The run -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Staged:
    """A graph in stages.

    Attributes:
        inputs: the names of the inputs.
        outputs: the names of the outputs.
        steps: the stages and the calls, in order.
        constants: the constant tensors that calls or outputs need.
        unused: for each step, the tensors that no later step needs.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    steps: tuple[_Stage | _Call, ...]
    constants: _Constants
    unused: tuple[tuple[str, ...], ...]

    @property
    def stages(self) -> int:
        """The number of stages that onnxruntime runs."""
        return sum(isinstance(step, _Stage) for step in self.steps)

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Run the graph; return the outputs by name.

        Args:
            inputs: the input arrays by name.

        Raises:
            OpkitError: onnxruntime refuses a stage or its tensors.
        """
        values = {**self.constants.values, **inputs}
        for step, unused in zip(self.steps, self.unused, strict=True):
            values.update(step.run(values))
            for name in unused:
                values.pop(name, None)
        return {name: values[name] for name in self.outputs}


@dataclass(frozen=True)
class _Call:
    """The call of a function in place of a node."""

    node: str
    function: Call
    reads: tuple[str, ...]  # by position; empty: left out
    writes: tuple[str, ...]

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(filter(None, self.reads))

    @property
    def outputs(self) -> tuple[str, ...]:
        return tuple(filter(None, self.writes))

    def run(self, values: Mapping[str, Array]) -> dict[str, Array]:
        results = self.function([values[name] if name else None for name in self.reads])
        if len(results) < len(self.writes):
            raise OpkitError(
                f"node {printable(self.node)!r}: {len(results)} outputs (expected "
                f"{len(self.writes)})"
            )
        return {
            name: result if isinstance(result, list) else np.asarray(result)
            for name, result in zip(self.writes, results, strict=False)
            if name
        }


@dataclass(frozen=True)
class _Stage:
    """Nodes that onnxruntime runs in one session."""

    model: OpenModel
    nodes: tuple[Any, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    initializers: tuple[Any, ...] = ()
    types: Mapping[str, Any] = field(default_factory=dict)
    _session: list[Any] = field(default_factory=list)

    def run(self, values: Mapping[str, Array]) -> dict[str, Array]:
        feeds = {name: values[name] for name in self.inputs}
        try:
            if not self._session:
                self._session.append(self._new_session(feeds))
            results = self._session[0].run(self.outputs, feeds)
        except Exception as error:  # onnxruntime's own have no common class
            raise OpkitError(f"{self.model.file}: onnxruntime: {first_line(error)}") from None
        return dict(zip(self.outputs, results, strict=True))

    def _new_session(self, feeds: Mapping[str, Array]) -> Any:
        """Return a session of the nodes; only if onnxruntime lacks one otherwise, of fixed shapes.

        It computes some operators by functions of ONNX that depend on the shapes.
        """
        try:
            return self._session_of(feeds, has_shapes=False)
        except Exception as error:  # onnxruntime's own have no common class
            if not missing_operator(str(error)):
                raise
        return self._session_of(feeds, has_shapes=True)

    def _session_of(self, feeds: Mapping[str, Array], *, has_shapes: bool) -> Any:
        """Return a session of the nodes, with inputs of inferred types, or those of the values."""
        onnxruntime, helper = required("onnxruntime"), required("onnx.helper")
        options = onnxruntime.SessionOptions()
        options.log_severity_level = _FATAL
        options.add_session_config_entry(_FOLDER_OF_WEIGHTS, str(self.model.folder))
        options.add_session_config_entry(_WAITING, "0")
        graph = helper.make_graph(
            self.nodes,
            "stage",
            [self._input(name, value, has_shapes) for name, value in feeds.items()],
            [required("onnx").ValueInfoProto(name=name) for name in self.outputs],
            self.initializers,
        )
        used = {domain_of(node.domain) for node in nodes_of(self.nodes)} | {""}
        opsets = [each for each in self.model.proto.opset_import if domain_of(each.domain) in used]
        version = max(self.model.proto.ir_version, _MIN_IR_VERSION)
        proto = helper.make_model(graph, opset_imports=opsets, ir_version=version)
        return onnxruntime.InferenceSession(
            proto.SerializeToString(), options, providers=_PROVIDERS
        )

    def _input(self, name: str, value: Array, has_shape: bool) -> Any:
        onnx = required("onnx")
        if name in self.types and self.types[name].WhichOneof("value"):
            return onnx.ValueInfoProto(name=name, type=self.types[name])
        helper = onnx.helper
        item = value[0] if isinstance(value, list) and value else value
        dtype = np.asarray(item).dtype
        is_text = dtype.kind in "OSU"
        element = onnx.TensorProto.STRING if is_text else helper.np_dtype_to_tensor_dtype(dtype)
        rank = [None] * np.ndim(item)  # sizes may change from iteration to iteration
        shape = None if isinstance(value, list) else np.shape(item) if has_shape else rank
        type_ = helper.make_tensor_type_proto(element, shape)
        if isinstance(value, list):
            type_ = helper.make_sequence_type_proto(type_)
        return onnx.ValueInfoProto(name=name, type=type_)


@dataclass(frozen=True)
class _Constants:
    """Constant tensors, computed once: initializers, and outputs of nodes that depend on them."""

    model: OpenModel
    initializers: Mapping[str, Any]
    stage: _Stage | None

    @cached_property
    def values(self) -> dict[str, Array]:
        found = {name: array(each, self.model.folder) for name, each in self.initializers.items()}
        return {**found, **(self.stage.run({}) if self.stage else {})}


# ---- The cut -------------------------------------------------------------------------------------

_Fixed = ChainMap[str, Any]
"""Name of a constant tensor -> its initializer, or the node that computes it."""


@dataclass(frozen=True)
class _Item:
    """A node of a graph; `call` is None if onnxruntime runs it."""

    node: Any
    reads: tuple[str, ...]
    call: _Call | None = None


@dataclass(frozen=True)
class _Builder:
    """Cuts the graph of a model, and the subgraphs with chosen nodes."""

    model: OpenModel
    choose: Choose
    types: Mapping[str, Any]

    def staged(self, graph: Any, outer: _Fixed) -> Staged:
        """Return a graph in stages.

        Args:
            graph: the graph, or the body of a node.
            outer: the constant tensors of the graphs around it.
        """
        fixed = outer.new_child({each.name: each for each in graph.initializer})
        formal = [each.name for each in graph.input if each.name not in fixed]
        outputs = tuple(each.name for each in graph.output)
        needed = {*outputs}
        items: list[_Item] = []
        for item in reversed([*self._items(graph, fixed)]):
            if not needed.isdisjoint(item.node.output):
                needed.update(item.reads)
                items.insert(0, item)
        own = {name for item in items for name in item.node.output}
        read = [*formal, *(name for item in items for name in item.reads), *outputs]
        inputs = tuple(name for name in dict.fromkeys(read) if not (name in own or name in fixed))
        steps = tuple(self._steps(items, fixed, outputs))
        to_python = {name for step in steps if isinstance(step, _Call) for name in step.inputs}
        constants = self._constants(fixed, {*to_python, *outputs} & fixed.keys())
        needed = {*outputs}
        unused: list[tuple[str, ...]] = []
        for step in reversed(steps):
            unused.insert(0, tuple({*step.inputs, *step.outputs} - needed))
            needed.update(step.inputs)
        return Staged(inputs, outputs, steps, constants, tuple(unused))

    def _items(self, graph: Any, fixed: _Fixed) -> Iterator[_Item]:
        """Yield the nodes of a graph; add the constant ones to `fixed`."""
        for position, node in enumerate(graph.node):
            name = node_name(node, position)
            reads = tuple(dict.fromkeys([*filter(None, node.input), *outer_names(node)]))
            call = self._call(node, name, fixed)
            if call:
                yield _Item(node, call.inputs, call)
            elif node.op_type not in RANDOM and fixed.keys() >= {*reads}:
                fixed.update({output: node for output in node.output if output})
            else:
                yield _Item(node, reads)

    def _call(self, node: Any, name: str, fixed: _Fixed) -> _Call | None:
        """Return the call in place of a node, or of the control flow around a chosen node."""
        if function := self.choose(node, name):
            return _Call(name, function, (*node.input,), (*node.output,))
        if not self._is_chosen_inside(node):
            return None
        if node.op_type not in control.OPERATORS or domain_of(node.domain):
            raise OpkitError(
                f"{self.model.file}: node {printable(name)!r} is {printable(node.op_type)}, whose "
                f"subgraph has a chosen node (expected {', '.join(control.OPERATORS)})"
            )
        # Shapes may change from iteration to iteration: inferred ones are not for bodies.
        inside = replace(self, types={})
        graphs = {each.name: each.g for each in node.attribute if each.HasField("g")}
        parts = {name: inside.staged(graph, fixed) for name, graph in graphs.items()}
        outer = dict.fromkeys(
            read
            for name, graph in graphs.items()
            for read in parts[name].inputs
            if read not in {each.name for each in graph.input}
        )
        bodies = {
            name: control.Body(graph.input, graph.output, parts[name].run)
            for name, graph in graphs.items()
        }
        opsets = {domain_of(each.domain): each.version for each in self.model.proto.opset_import}
        function = control.function(node, bodies, [*outer], opsets.get("", 0))
        return _Call(name, function, (*node.input, *outer), (*node.output,))

    def _is_chosen_inside(self, node: Any) -> bool:
        return any(
            self.choose(each, node_name(each, position)) or self._is_chosen_inside(each)
            for graph in subgraphs(node)
            for position, each in enumerate(graph.node)
        )

    def _steps(
        self, items: Sequence[_Item], fixed: _Fixed, outputs: Sequence[str]
    ) -> Iterator[_Stage | _Call]:
        """Yield the stage and the calls of each level: the largest number of calls before it."""
        of_tensor: dict[str, int] = {}
        levels = []
        for item in items:
            level = max((of_tensor.get(name, 0) for name in item.reads), default=0)
            levels.append(level)
            of_tensor.update(dict.fromkeys(item.node.output, level + (item.call is not None)))
        stage_of = {
            name: level
            for item, level in zip(items, levels, strict=True)
            if item.call is None
            for name in item.node.output
        }
        handed_on = {*outputs}  # the tensors that calls, other stages or the outputs read
        groups: dict[int, list[_Item]] = {}
        for item, level in zip(items, levels, strict=True):
            groups.setdefault(level, []).append(item)
            if item.call:
                handed_on.update(item.reads)
            else:
                handed_on.update(name for name in item.reads if stage_of.get(name) != level)
        for _, group in sorted(groups.items()):
            if nodes := [item for item in group if item.call is None]:
                own = {name for item in nodes for name in item.node.output if name}
                reads = (name for item in nodes for name in item.reads)
                read = dict.fromkeys(name for name in reads if name not in own)
                initializers, constant = _closure(fixed, [name for name in read if name in fixed])
                yield _Stage(
                    self.model,
                    (*constant, *(item.node for item in nodes)),
                    tuple(name for name in read if name not in fixed),
                    tuple(sorted(own & handed_on)),
                    initializers,
                    self.types,
                )
            yield from (item.call for item in group if item.call)

    def _constants(self, fixed: _Fixed, names: Set[str]) -> _Constants:
        computed = sorted(name for name in names if _is_node(fixed[name]))
        stage = None
        if computed:
            initializers, nodes = _closure(fixed, computed)
            stage = _Stage(self.model, nodes, (), tuple(computed), initializers, self.types)
        return _Constants(
            self.model, {name: fixed[name] for name in names if name not in computed}, stage
        )


def _closure(fixed: _Fixed, names: Iterable[str]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the initializers, and the constant nodes in order, that constant tensors need."""
    needed: set[str] = set()
    pending = [*names]
    while pending:
        name = pending.pop()
        if name not in needed:
            needed.add(name)
            if _is_node(fixed[name]):
                node = fixed[name]
                pending += [*filter(None, node.input), *outer_names(node)]
    found = {id(fixed[name]): fixed[name] for name in fixed if name in needed}.values()
    return (
        tuple(each for each in found if not _is_node(each)),
        tuple(each for each in found if _is_node(each)),
    )


def _is_node(constant: Any) -> bool:
    return isinstance(constant, required("onnx").NodeProto)
