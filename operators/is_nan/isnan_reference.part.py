y = np.isnan(x)
