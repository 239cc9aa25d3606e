y = np.logical_or(a, b)
