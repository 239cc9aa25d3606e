# Exact; NaN for NaN.
y = np.sign(x)
