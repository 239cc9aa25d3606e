VALUES = [uniform(-1, 1), integers(0, 9)]
# The kernel adds up to 70 floats one after the other, and rounds 2^-24 of the sum for each: that
# counts where summands cancel.
TOLERANCE = {"max_ulp": 2, "max_error": 2**-19}


def test_reference():
    data = [[1, 2], [3, 4]]
    assert reduced(data) == [[2.5]]
    assert reduced(data, keepdims=0) == [2.5]
    assert reduced(data, axes=[1]) == [[1.5], [3.5]]
    assert reduced(data, axes=[-2], keepdims=0) == [2, 3]
    assert reduced(data, noop_with_empty_axes=1) == data


# Kernels are for integers with their dtype in op.yml alone, as `create --from` writes it.
def test_means_of_integers_lose_their_fraction():
    assert whole([1, 2, 2], np.int32) == [1]
    assert whole([-1, -2, -2], np.int64) == [-1]
    assert whole([-1, -2, -3], np.int64) == [-2]
    assert whole([2**31 - 1, 2**31 - 1], np.int32) == [2**31 - 1]
    assert whole([2**32 - 1, 2**32 - 1], np.uint32) == [2**32 - 1]
    with pytest.raises(ValueError, match="the mean of no integers"):
        whole([], np.int32)
