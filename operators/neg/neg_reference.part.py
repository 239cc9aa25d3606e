# Exact: of zeros, infinities and NaN only the sign changes.
y = np.negative(x)
