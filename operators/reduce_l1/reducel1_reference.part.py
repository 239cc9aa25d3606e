wide = np.float64 if data.dtype.kind == "f" else np.int64
reduced = np.sum(np.abs(data.astype(wide)), axis=axes)
