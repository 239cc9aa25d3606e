"""What everything may use: errors, texts, files, scratch folders, layout of code."""
