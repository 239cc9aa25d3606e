VALUES = [uniform(-1, 1), integers(-9, 9)]
INTEGERS = integers(-9, 9)
# The kernel adds up to 70 floats one after the other, and rounds 2^-24 of the sum for each.
TOLERANCE = {"max_ulp": 4}


def test_reference():
    data = [[1, 2], [3, 4]]
    assert reduced(data) == [[30]]
    assert reduced(data, keepdims=0) == [30]
    assert reduced(data, axes=[1]) == reduced(data, axes=[-1]) == [[5], [25]]
    assert reduced(data, axes=[0], keepdims=0) == [10, 20]
    assert reduced(data, noop_with_empty_axes=1) == [[1, 4], [9, 16]]


def test_integers_wrap_around():
    assert whole([2**16, -3], np.int32) == [9]
    assert whole([2**32, -3], np.int64) == [9]
    assert whole([2**32 - 1, 2], np.uint32) == [5]
