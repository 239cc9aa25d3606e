# Exact: -0 for -0.5; infinities and NaN stay.
y = np.ceil(x)
