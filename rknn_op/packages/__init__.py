"""What `rknn-op inspect` and `rknn-op diff` do with packages (.rknnop)."""
