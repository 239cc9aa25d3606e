"""The harness, a C program that runs a kernel on arrays on any executor, and its client."""
