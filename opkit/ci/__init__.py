"""What the repository's continuous integration runs; .github/workflows/ci.yml calls action.yml."""
