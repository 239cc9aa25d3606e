"""The forms of ONNX's operators, by subject."""
