"""Creation of repositories: for the template and `rknn-op` only, and not in the wheel."""
