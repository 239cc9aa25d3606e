"""What RKNN-Toolkit2 makes of each operator of ONNX."""
