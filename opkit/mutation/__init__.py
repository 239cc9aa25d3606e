"""Small changes of the user's kernels, and whether the cases notice: `scons check mutate=N`."""
