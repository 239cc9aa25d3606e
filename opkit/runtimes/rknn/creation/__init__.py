"""Generators of files of this template; no repository needs them, so no wheel has them."""
