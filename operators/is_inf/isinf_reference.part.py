signs = [np.inf] if params["detect_positive"] else []
signs += [-np.inf] if params["detect_negative"] else []
y = np.isin(x, signs)
