"""Migrate repositories of older versions."""
