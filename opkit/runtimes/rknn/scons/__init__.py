"""The part of `scons` of this runtime; a module with `options`, `usage` or `check` is a tool."""
