"""The verbs of `rknn-op` for this runtime alone."""
