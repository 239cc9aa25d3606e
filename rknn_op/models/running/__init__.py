"""Run a model by onnxruntime, whole or with Python functions in place of nodes."""
