"""The upkeep of repositories: update, lint, names, and the operators of a workspace."""
