# The arc cosine; NaN outside of -1 to 1.
y = np.arccos(x.astype(np.float64))
