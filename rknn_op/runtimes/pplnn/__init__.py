"""PPLNN, for `rknn-op`: operators of its engines."""
