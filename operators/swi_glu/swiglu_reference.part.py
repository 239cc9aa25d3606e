# As in the ONNX specification of SwiGLU; alpha is float32 in a model.
wide = a.astype(np.float64)
y = wide / (1 + np.exp(-float(np.float32(params["alpha"])) * wide)) * b
