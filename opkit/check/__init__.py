"""What a check is made of: the operator under test, its cases, and what came of them."""
