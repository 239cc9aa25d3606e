"""The command `rknn-op`: makes, builds and checks operator repositories."""

# First of all, because it puts the template's opkit on the path, which the other modules import.
from rknn_op import template as template
