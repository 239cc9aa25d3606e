"""Draft operator repositories from the nodes of a model."""
