"""RKNN-Toolkit 1.x, for `rknn-op`: operators of its chips, the vendor's folders, packages."""
