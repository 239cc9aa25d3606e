"""The text of the files that are common to all runtimes."""
