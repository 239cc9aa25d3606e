y = np.arctan(x.astype(np.float64))
