"""The steps of the repository's CI; .github/workflows/ci.yml calls action.yml."""
