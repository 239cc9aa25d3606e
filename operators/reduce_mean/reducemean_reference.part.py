count = np.prod([data.shape[axis] for axis in axes])  # of no elements, the mean is NaN
reduced = np.sum(data, dtype=np.float64, axis=axes) / count
