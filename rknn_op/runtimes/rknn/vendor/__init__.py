"""Read repositories of the vendor's tool, without running their code."""
