"""RKNN-Toolkit2, for `rknn-op`: operators of its chips, the toolkit, bundles."""
