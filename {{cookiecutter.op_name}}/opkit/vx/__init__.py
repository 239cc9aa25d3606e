"""The VX emulator: runs a `.vx` kernel on the PC.

compiler.py compiles the unchanged source for this processor, with the language as a prelude;
runner.py runs it, in a process of its own, over the work items of a launch.
"""
