"""The machinery of operator repositories: reads op.yml, writes code, builds, checks and packs."""
