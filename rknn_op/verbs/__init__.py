"""The verbs of `rknn-op`: a module for each, with options and messages only."""
