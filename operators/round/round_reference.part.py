# Of two nearest integers the even one. Exact: -0 for -0.5; infinities and NaN stay.
y = np.rint(x)
