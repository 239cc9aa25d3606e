"""A stand-in for the part of RKNN-Toolkit that an operator's class needs."""
