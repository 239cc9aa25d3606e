"""The command `rknn-op`: makes, builds and checks operator repositories."""

# First: it puts the template's opkit on the path, and the other modules import that.
from rknn_op import template as template
