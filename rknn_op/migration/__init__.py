"""Brings repositories of older versions to today's form."""
