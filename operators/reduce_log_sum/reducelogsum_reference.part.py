reduced = np.log(np.sum(data, dtype=np.float64, axis=axes))
