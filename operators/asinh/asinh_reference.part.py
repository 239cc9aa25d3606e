y = np.arcsinh(x.astype(np.float64))
