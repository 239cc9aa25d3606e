VALUES = [uniform(0.75, 1.25), integers(-1, 1)]
INTEGERS = integers(-1, 1)
# Both multiply in double, in another order.
TOLERANCE = {"max_ulp": 1}


def test_reference():
    data = [[1, 2], [3, 4]]
    assert reduced(data) == [[24]]
    assert reduced(data, keepdims=0) == [24]
    assert reduced(data, axes=[1]) == reduced(data, axes=[-1]) == [[2], [12]]
    assert reduced(data, axes=[0], keepdims=0) == [3, 8]
    assert reduced(data, noop_with_empty_axes=1) == data


def test_products_beyond_the_range_of_float():
    assert reduced([1e30, 1e30, 2.0**-40, 0.0]) == [0]
    assert reduced([2.0**100, 2.0**100, 2.0**-100]) == [2.0**100]


def test_integers_wrap_around():
    assert whole([2**16, -(2**15), 3], np.int32) == [-(2**31)]
    assert whole([2**33, 2**31], np.int64) == [0]
    assert whole([2**32 - 1, 2**32 - 1], np.uint32) == [1]
