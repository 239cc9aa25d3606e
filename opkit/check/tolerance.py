"""The tolerances of a test, for each output."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, NoReturn

import numpy as np

from opkit.check.mistakes import CheckError, caller_location
from opkit.common.text import did_you_mean

MAX_SCALED_ULP = 512


@dataclass(frozen=True)
class OutputTolerance:
    """The tolerated difference of an element from the reference; one of the limits suffices.

    Attributes:
        max_ulp: in representable values of the output's dtype.
        max_error: the absolute difference; None: max_ulp alone counts.
        flushes: whether subnormals are no representable values.
    """

    max_ulp: int = 0
    max_error: float | None = None
    flushes: bool = False

    def __str__(self) -> str:
        absolute = "" if self.max_error is None else f" or {self.max_error:g}"
        return f"{self.max_ulp} ulp{absolute}"


@dataclass(frozen=True)
class Tolerance:
    """The tolerated differences of all outputs, as the arguments of a test.

    A number is for all outputs of floats, a dict for the outputs that it names. Integers and bools
    are exact unless max_error names them.

    Attributes:
        max_ulp: in representable values of the output's dtype.
        max_error: the absolute difference; None: max_ulp alone counts.
        flushed: the dtypes whose subnormals are no representable values.
    """

    max_ulp: int | Mapping[str, int] = 0
    max_error: float | Mapping[str, float] | None = None
    flushed: Collection[str] = ()

    def for_output(self, output: str, dtype: np.dtype[Any]) -> OutputTolerance:
        """Return the tolerance of an output of this dtype."""

        def limit(argument: Any) -> Any:
            if isinstance(argument, Mapping):
                return argument.get(output)
            return argument if dtype.kind == "f" else None

        flushes = dtype.name in self.flushed
        return OutputTolerance(limit(self.max_ulp) or 0, limit(self.max_error), flushes)

    def rounded(
        self, dtypes: Mapping[str, np.dtype[Any]], rounded: Mapping[str, np.dtype[Any]]
    ) -> Tolerance:
        """Return the tolerance of the same outputs, rounded to other dtypes.

        A tolerated difference may become one more unit of the last place, as the two numbers may
        round to different sides.

        Args:
            dtypes: the dtype of each output.
            rounded: the dtype to which each is rounded.
        """
        max_ulp, max_error = {}, {}
        for output, dtype in dtypes.items():
            limits = self.for_output(output, dtype)
            max_ulp[output] = limits.max_ulp
            if rounded[output] != dtype and (limits.max_ulp or limits.max_error):
                bits = np.finfo(dtype).nmant - np.finfo(rounded[output]).nmant
                max_ulp[output] = (limits.max_ulp >> bits) + 1
            if limits.max_error is not None:
                max_error[output] = limits.max_error
        return Tolerance(max_ulp, max_error or None)

    def with_lost_subnormals(
        self, dtypes: Mapping[str, np.dtype[Any]], flushed: Collection[str]
    ) -> Tolerance:
        """Return the tolerance of the same outputs of a process that makes subnormals zeros.

        A difference of the smallest normal number of the dtype is then tolerated: a result or an
        intermediate one may have become zero.

        Args:
            dtypes: the dtype of each output.
            flushed: the dtypes of these subnormals.
        """
        max_ulp, max_error = {}, {}
        for output, dtype in dtypes.items():
            limits = self.for_output(output, dtype)
            max_ulp[output] = limits.max_ulp
            lost = float(np.finfo(dtype).smallest_normal) if dtype.name in flushed else 0
            if lost or limits.max_error is not None:
                max_error[output] = max(lost, limits.max_error or 0)
        return Tolerance(max_ulp, max_error, flushed)

    def scaled(self, factor: float) -> Tolerance:
        """Return the tolerance times a factor, up to MAX_SCALED_ULP.

        Without a limit it becomes that of 1 ulp; what a dict says is exact stays exact.
        """

        def scale(limit: Any, scaled: Callable[[Any], Any]) -> Any:
            if isinstance(limit, Mapping):
                return {output: each and scaled(each) for output, each in limit.items()}
            return scaled(limit)

        return replace(
            self,
            max_ulp=scale(
                self.max_ulp or 1, lambda ulp: max(ulp, min(int(ulp * factor), MAX_SCALED_ULP))
            ),
            max_error=scale(self.max_error, lambda error: error and error * factor),
        )

    def refuse_invalid(self, outputs: Sequence[str]) -> None:
        """Refuse numbers that are not a tolerance, and unknown names of outputs.

        Raises:
            CheckError: the message begins with the line of the test.
        """
        for name, argument in (("max_ulp", self.max_ulp), ("max_error", self.max_error or 0)):
            by_name = argument if isinstance(argument, Mapping) else {}
            for output in by_name:
                if output not in outputs:
                    near = did_you_mean(str(output), outputs)
                    hint = f"; {near}" if near else ""
                    expected = f"(expected {', '.join(outputs)})"
                    _refuse(f"{name}={argument!r}: unknown output '{output}'{hint} {expected}")
            for limit in by_name.values() if isinstance(argument, Mapping) else [argument]:
                if not isinstance(limit, Real) or not 0 <= limit < math.inf:
                    _refuse(f"{name}={argument!r}; write a finite number, 0 or larger")

    def refuse_unlimited(self, dtypes: Mapping[str, np.dtype[Any]]) -> None:
        """Refuse tolerances of the size of a dtype's range, and ulp of integers.

        Args:
            dtypes: the dtype of each output.

        Raises:
            CheckError: the message begins with the line of the test.
        """
        for output, dtype in dtypes.items():
            tolerance = self.for_output(output, dtype)
            if tolerance.max_ulp and dtype.kind != "f":
                absolute = {output: tolerance.max_ulp}
                _refuse(
                    f"max_ulp={self.max_ulp!r}: '{output}' is {dtype}; write max_error={absolute!r}"
                )
            for name, largest in _largest(dtype).items():
                if (getattr(tolerance, name) or 0) >= largest:
                    _refuse(
                        f"{name}={getattr(self, name)!r} tolerates every number of output "
                        f"'{output}', which is {dtype} (expected less than {largest:.10g})"
                    )


EXACT = Tolerance()


def _refuse(problem: str) -> NoReturn:
    raise CheckError(f"{caller_location()}: {problem}")


def _largest(dtype: np.dtype[Any]) -> dict[str, float]:
    """Return the distance from 0 to the largest number of a dtype, in each unit of a tolerance."""
    if dtype.kind != "f":
        return {"max_error": 1 if dtype.kind == "b" else np.iinfo(dtype).max}
    largest = np.finfo(dtype).max
    return {"max_ulp": int(largest.view(f"i{dtype.itemsize}")), "max_error": float(largest)}
