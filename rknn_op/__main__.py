"""`python -m rknn_op` is `rknn-op`."""

from rknn_op.command import main

main(prog_name="rknn-op")
