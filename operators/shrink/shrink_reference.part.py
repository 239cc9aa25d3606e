# As in the ONNX specification of Shrink; 0 for NaN, as in onnxruntime. Params are float32
# in a model; the math is in float32, and rounded once.
lambd, bias = np.float32(params["lambd"]), np.float32(params["bias"])
y = np.where(x < -lambd, x + bias, np.where(x > lambd, x - bias, 0))
