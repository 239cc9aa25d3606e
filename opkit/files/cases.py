"""The dtypes of tensors in generated cases, and of the generated math."""

from __future__ import annotations

from opkit.description.spec import OpSpec, Tensor

CASE_DTYPE = "float16"
"""The dtype of tensors in generated cases, if op.yml declares none."""


def first_dtype(spec: OpSpec) -> str:
    """Return the dtype of the first input in the cases."""
    return spec.inputs[0].dtype or CASE_DTYPE


def is_copy(spec: OpSpec, output: Tensor) -> bool:
    """Whether the generated math can copy the first input to an output."""
    return (output.dtype or first_dtype(spec)) == first_dtype(spec)


def has_only(spec: OpSpec, dtype: str) -> bool:
    """Whether all tensors have a dtype in the generated cases."""
    inputs = {input_.dtype or CASE_DTYPE for input_ in spec.inputs}
    outputs = {output.dtype or first_dtype(spec) for output in spec.outputs}
    return inputs | outputs == {dtype}
