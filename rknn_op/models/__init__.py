"""A user's model: its nodes, and what a chip lacks of them."""
