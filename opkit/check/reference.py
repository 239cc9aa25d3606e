"""An operator's `<operator>_reference.py`; its errors become one message."""

from __future__ import annotations

import copy
import importlib.util
import inspect
import operator
import sys
import warnings
from collections.abc import Callable, Mapping
from functools import cached_property
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numpy as np

from opkit.check.mistakes import CheckError, user_message
from opkit.common.errors import OpkitError
from opkit.description.spec import OpSpec
from opkit.runtimes.invocation import Array


class _UncachedLoader(SourceFileLoader):
    """Compiles a source file at each import.

    Bytecode files keep whole seconds, in which a file of the same size may change twice.
    """

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of the file as it is now."""
        return self.source_to_code(self.get_data(self.path), self.path)


class Reference:
    """The operator's math and shape rule in numpy.

    A warning of the reference is printed once, not in every case.

    Args:
        path: the file.
        spec: the operator description.
    """

    def __init__(self, path: Path, spec: OpSpec) -> None:
        self.path = path
        self.spec = spec
        self._warned: set[tuple[str, str, int]] = set()

    @cached_property
    def module(self) -> ModuleType:
        """The module, shared with the repository's tests.

        Raises:
            CheckError: the module cannot be imported.
            OpkitError: the file does not exist.
        """
        name = self.path.stem
        module = sys.modules.get(name)
        if module is not None and Path(str(module.__file__)).resolve() == self.path.resolve():
            return module
        if not self.path.is_file():
            raise OpkitError(f"{self.path} not found; run `scons target=x64` to create it")
        loader = _UncachedLoader(name, str(self.path))
        spec = importlib.util.spec_from_file_location(name, self.path, loader=loader)
        assert spec is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            loader.exec_module(module)
        except (Exception, SystemExit) as error:
            del sys.modules[name]
            raise CheckError(user_message(error, self.path.parent, f"{self.path.name}:1")) from None
        return module

    def output_shapes(
        self, input_shapes: Mapping[str, tuple[int, ...]], params: Mapping[str, Any]
    ) -> dict[str, tuple[int, ...]]:
        """Return the shape of each output.

        Raises:
            CheckError: the function is missing, fails, changes params, or returns an invalid value.
        """
        shapes, location = self._call("output_shapes", dict(input_shapes), params)
        return {name: _shape(name, shapes[name], location) for name in shapes}

    def reference(self, inputs: Mapping[str, Array], params: Mapping[str, Any]) -> dict[str, Array]:
        """Return the array of each output, in the dtype of the function's result.

        Raises:
            CheckError: the function is missing, fails, changes params, or returns an invalid value.
        """
        arrays, location = self._call("reference", dict(inputs), params)
        return {name: _array(name, arrays[name], location) for name in arrays}

    def _call(
        self, name: str, tensors: dict[str, Any], params: Mapping[str, Any]
    ) -> tuple[dict[str, Any], str]:
        """Return the outputs by name, in the order of op.yml, and file:line of the function."""
        function = getattr(self.module, name, None)
        if not callable(function):
            arguments = "input_shapes, params" if name == "output_shapes" else "inputs, params"
            raise CheckError(f"{self.path.name}: function {name}({arguments}) not found")
        location = self.location(function)
        given = copy.deepcopy(dict(params))
        try:
            result = self._warn_once(lambda: function(tensors, given))
        except (Exception, SystemExit) as error:
            problem = user_message(error, self.path.parent, location)
            if isinstance(error, KeyError):
                names = ", ".join(tensors), ", ".join(params) or "none"
                problem += "; the inputs are {}, the params {}".format(*names)
            raise CheckError(problem) from None
        for param in {**params, **given}:
            # By repr: NaN is not equal to its copy.
            if param not in given or repr(given[param]) != repr(params.get(param)):
                raise CheckError(f"{location}: {name} changes the param '{param}'; copy it first")
        return self._outputs(name, result, location), location

    def _outputs(self, name: str, result: Any, location: str) -> dict[str, Any]:
        expected = [output.name for output in self.spec.outputs]
        example = ", ".join(f'"{output}": ...' for output in expected)
        if not isinstance(result, Mapping):
            what = "None" if result is None else f"a {type(result).__name__}"
            raise CheckError(f"{location}: {name} returns {what}; write return {{{example}}}")
        for output in expected:
            if output not in result:
                raise CheckError(
                    f"{location}: {name} returns nothing for '{output}'; write return {{{example}}}"
                )
        for output in result:
            if output not in expected:
                raise CheckError(
                    f"{location}: {name} returns the unknown output '{output}'; "
                    f"op.yml has: {', '.join(expected)}"
                )
        return {output: result[output] for output in expected}

    def location(self, function: Callable[..., Any]) -> str:
        """Return file:line of a function of the reference, or the file alone."""
        code = getattr(inspect.unwrap(function), "__code__", None)
        return f"{self.path.name}:{code.co_firstlineno}" if code else self.path.name

    def _warn_once(self, call: Callable[[], Any]) -> Any:
        with warnings.catch_warnings(record=True) as caught:
            result = call()
        for warning in caught:
            key = str(warning.message), warning.filename, warning.lineno
            if key not in self._warned:
                self._warned.add(key)
                warnings.warn_explicit(
                    warning.message, warning.category, warning.filename, warning.lineno
                )
        return result


def _shape(name: str, shape: Any, location: str) -> tuple[int, ...]:
    try:
        return tuple(operator.index(size) for size in shape)
    except TypeError:
        raise CheckError(
            f"{location}: output_shapes returns {shape!r} for '{name}'; "
            "expected a tuple of integers, for example (1, 6, 5, 3)"
        ) from None


def _array(name: str, value: Any, location: str) -> Array:
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise CheckError(
            f"{location}: reference returns an invalid array for '{name}': {error}"
        ) from None
    if array.dtype.kind not in "biuf":
        raise CheckError(
            f"{location}: reference returns '{name}' with dtype {array.dtype}; "
            "expected floats, integers or bool"
        )
    return array
