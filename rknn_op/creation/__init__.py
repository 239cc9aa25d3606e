"""Creation of repositories, for the template and `rknn-op`."""
