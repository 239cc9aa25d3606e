VALUES = [uniform(-1, 1), integers(-99, 99)]
# The kernel adds up to 70 floats one after the other, and rounds 2^-24 of the sum for each. The
# logarithm makes that an absolute error, which counts where the result is near 0.
TOLERANCE = {"max_ulp": 2, "max_error": 2**-19}


def test_reference():
    data = np.log([[1, 2], [3, 4]])
    assert np.exp(reduced(data)) == pytest.approx(np.array([[10]]))
    assert np.exp(reduced(data, keepdims=0)) == pytest.approx([10])
    assert np.exp(reduced(data, axes=[1])) == pytest.approx(np.array([[3], [7]]))
    assert np.exp(reduced(data, axes=[-2], keepdims=0)) == pytest.approx([4, 6])
    assert reduced(data, noop_with_empty_axes=1) == pytest.approx(data)


def test_exponentials_beyond_the_range_of_float():
    assert reduced([1000, 1000]) == pytest.approx([1000 + np.log(2)])
    assert reduced([-1000, -1000]) == pytest.approx([-1000 + np.log(2)])
    assert reduced([-np.inf, -np.inf]) == [-np.inf]
    assert reduced([np.inf, 0]) == [np.inf]
