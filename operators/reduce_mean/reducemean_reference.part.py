count = np.prod([data.shape[axis] for axis in axes])  # of no elements, the mean is NaN
if data.dtype.kind == "f":
    reduced = np.sum(data, dtype=np.float64, axis=axes) / count
elif count == 0:
    raise ValueError("ReduceMean: the mean of no integers is not defined")
else:  # the fraction is dropped
    total, count = np.sum(data, dtype=np.int64, axis=axes), np.int64(count)
    reduced = total // count + ((total < 0) & (total % count != 0))
