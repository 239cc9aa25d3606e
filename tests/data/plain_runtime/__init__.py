"""A runtime that calls the math as it is: a C library, for float32 tensors, on this PC."""
