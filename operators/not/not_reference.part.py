y = np.logical_not(x)
