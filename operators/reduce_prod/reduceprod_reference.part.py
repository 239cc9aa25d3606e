wide = np.float64 if data.dtype.kind == "f" else np.int64
reduced = np.prod(data, dtype=wide, axis=axes)
