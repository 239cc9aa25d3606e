"""SCons tools of an operator repository, one file each, and their helpers."""
