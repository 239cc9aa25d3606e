"""See custom_op."""
