reduced = np.sum(np.abs(data), dtype=np.float64, axis=axes)
