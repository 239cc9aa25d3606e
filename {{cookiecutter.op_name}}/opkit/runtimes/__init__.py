"""What executes an operator in the end: a folder and a row for each runtime."""
