"""Compare a model's operators with those of a target."""
