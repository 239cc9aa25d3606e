"""The dtypes of tensors in generated cases, and what the generated math makes of them."""

from __future__ import annotations

from opkit.description.spec import OpSpec, Tensor

CASE_DTYPE = "float16"
"""The dtype of tensors in generated cases, where op.yml declares none."""


def first_dtype(spec: OpSpec) -> str:
    """Return the dtype of the first input in the cases."""
    return spec.inputs[0].dtype or CASE_DTYPE


def is_copy(spec: OpSpec, output: Tensor) -> bool:
    """Whether an output can begin as a copy of the first input."""
    return (output.dtype or first_dtype(spec)) == first_dtype(spec)


def has_halves(spec: OpSpec) -> bool:
    """Whether all tensors are float16 in the generated cases."""
    tensors = (*spec.inputs, *spec.outputs)
    return all((tensor.dtype or CASE_DTYPE) == CASE_DTYPE for tensor in tensors)
