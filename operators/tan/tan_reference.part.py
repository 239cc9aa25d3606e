# NaN for infinities.
y = np.tan(x.astype(np.float64))
