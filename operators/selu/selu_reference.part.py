# As in the ONNX specification of Selu, but exact near 0, where onnxruntime, which subtracts
# alpha from alpha * e^x, loses digits. Params are float32 in a model.
alpha, gamma = (float(np.float32(params[name])) for name in ("alpha", "gamma"))
wide = x.astype(np.float64)
y = gamma * np.where(wide > 0, wide, alpha * np.expm1(wide))
