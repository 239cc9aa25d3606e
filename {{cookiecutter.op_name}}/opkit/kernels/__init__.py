"""Runs a kernel on numpy arrays, and compares what comes out.

calls.py says what a call and its outcome are. host.py runs a kernel in this process; remote.py has
it run in another place: places.py prepares that, runner.c is the program there.
"""
