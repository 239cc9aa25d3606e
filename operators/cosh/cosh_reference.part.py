y = np.cosh(x.astype(np.float64))
