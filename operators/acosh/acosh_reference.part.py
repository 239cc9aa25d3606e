# The inverse hyperbolic cosine; NaN below 1.
y = np.arccosh(x.astype(np.float64))
