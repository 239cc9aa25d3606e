c = a | b
