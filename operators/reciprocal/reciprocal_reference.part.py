# Rounded once; infinite at zeros, with their sign.
y = 1 / x
