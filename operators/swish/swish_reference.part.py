# As in the ONNX specification of Swish; alpha is float32 in a model.
wide = x.astype(np.float64)
y = wide / (1 + np.exp(-float(np.float32(params["alpha"])) * wide))
