"""Kernels in OpenCL C on this PC.

pc_compiler.py compiles an unchanged source for this processor, with the language as a prelude;
runtime/ runs a compiled kernel over the work items of a launch. Runtimes of opkit use both.
"""
