"""Measures generation, builds, kernels and the language of `.vx` files."""

# First of all, because it puts the template's opkit on the path, which the modules here import.
from rknn_op import template as template
