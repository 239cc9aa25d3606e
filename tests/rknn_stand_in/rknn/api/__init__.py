"""The public side of the toolkit."""
