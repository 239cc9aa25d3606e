"""Missing operators of a model, written with operators that the chip has."""
