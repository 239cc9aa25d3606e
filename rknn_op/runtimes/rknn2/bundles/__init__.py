"""A folder with everything to run a model with several custom operators on a board."""
