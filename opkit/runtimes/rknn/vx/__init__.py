"""The VX emulator: runs a `.vx` kernel on the PC.

compiler.py compiles the unchanged source for this processor; runner.py runs it over the work items
of a launch, in the harness; runtime/ is its part of that.
"""
