wide = np.float64 if data.dtype.kind == "f" else np.int64
reduced = np.sum(data.astype(wide) ** 2, axis=axes)
