"""Benchmarks of generation, builds, the command, math and the language of `.vx` files."""

# Imported first: it puts the template's opkit on the path of the other modules here.
from rknn_op import template as template
