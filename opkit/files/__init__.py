"""The text of the files that every operator has, whatever its runtimes are."""
