y = np.sinh(x.astype(np.float64))
