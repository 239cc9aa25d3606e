squares = data.astype(np.float64) ** 2
reduced = np.sum(squares, axis=axes)
