maxima = np.max(data, axis=axes, keepdims=True, initial=-np.inf).astype(np.float64)
centers = np.where(np.isfinite(maxima), maxima, 0)
sums = np.sum(np.exp(data - centers), axis=axes, keepdims=True)
reduced = np.log(sums) + centers
