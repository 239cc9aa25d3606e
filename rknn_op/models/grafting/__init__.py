"""Make nodes of a model those of operator repositories."""
