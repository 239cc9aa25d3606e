y = np.logical_xor(a, b)
