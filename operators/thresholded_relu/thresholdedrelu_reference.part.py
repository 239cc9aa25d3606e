# 0 for NaN, as in onnxruntime.
alpha = np.float32(params["alpha"])  # float32 in a model
y = np.where(x > alpha, x, 0)
