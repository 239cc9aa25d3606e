VALUES = [uniform(-1, 1), integers(-9, 9)]
INTEGERS = integers(-9, 9)
# The kernel adds up to 70 floats one after the other, and rounds 2^-24 of the sum for each.
TOLERANCE = {"max_ulp": 4}


def test_reference():
    data = [[1, -2], [3, 4]]
    assert reduced(data) == [[10]]
    assert reduced(data, keepdims=0) == [10]
    assert reduced(data, axes=[1]) == reduced(data, axes=[-1]) == [[3], [7]]
    assert reduced(data, axes=[0], keepdims=0) == [4, 6]
    assert reduced(data, noop_with_empty_axes=1) == [[1, 2], [3, 4]]


def test_integers_wrap_around():
    assert whole([-(2**31), 5], np.int32) == [-(2**31) + 5]
    assert whole([-(2**63), 5], np.int64) == [-(2**63) + 5]
    assert whole([2**32 - 1, 5], np.uint32) == [4]
