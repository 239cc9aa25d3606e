"""A stand-in for the part of RKNN-Toolkit2 that converts models."""
