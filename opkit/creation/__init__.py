"""What makes a repository: only the template and `rknn-op` need it, so that no wheel has it."""
