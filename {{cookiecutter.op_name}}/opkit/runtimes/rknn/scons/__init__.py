"""SCons tools of this runtime, one file each."""
