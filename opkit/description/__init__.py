"""op.yml: what an operator is."""
