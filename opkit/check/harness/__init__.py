"""The harness: one C program that runs a kernel on arrays, wherever that is, and its client."""
