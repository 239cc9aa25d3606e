# The arc sine; NaN outside of -1 to 1.
y = np.arcsin(x.astype(np.float64))
