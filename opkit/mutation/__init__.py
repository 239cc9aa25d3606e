"""Mutation tests of the cases: `scons check mutate=N` makes small changes of the kernels."""
