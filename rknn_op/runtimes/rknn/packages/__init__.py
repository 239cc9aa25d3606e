"""Read packages (.rknnop) for `rknn-op inspect` and `rknn-op diff`."""
