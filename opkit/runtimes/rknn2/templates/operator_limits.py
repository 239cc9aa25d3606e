MAX_RANK = $max_rank  # dimensions of a tensor
# Ranges of numbers in attributes; on others librknnrt aborts when it loads the model.
INTEGERS = -(2**31), 2**31 - 1
FLOATS = 2.0**-126 + 2.0**-149, 2.0**128 - 2.0**104  # absolute values; also 0
