c = a & b
