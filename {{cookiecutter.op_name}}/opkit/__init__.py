"""The machinery of an operator repository: reads op.yml, writes code, builds, checks and packs.

This folder is the same in every generated repository. Do not edit it: an update of the template
replaces it.
"""
