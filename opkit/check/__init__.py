"""A check: the operator under test, its cases, and their results."""
