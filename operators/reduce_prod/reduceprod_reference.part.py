reduced = np.prod(data, dtype=np.float64, axis=axes)
