# As in the ONNX specification of Celu, but exact near 0, where onnxruntime, which subtracts
# 1 from e^(x / alpha), loses digits.
alpha = float(np.float32(params["alpha"]))  # float32 in a model
wide = x.astype(np.float64)
y = np.where(wide > 0, wide, alpha * np.expm1(np.minimum(wide, 0) / alpha))
