"""Repositories that the vendor's tool made: what can be read of them, without running any of it."""
