c = a ^ b
