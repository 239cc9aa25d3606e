VALUES = [uniform(0, 1), integers(0, 9)]
# The kernel adds up to 70 floats one after the other, and rounds 2^-24 of the sum for each. The
# logarithm makes that an absolute error, which counts where it is near 0.
TOLERANCE = {"max_ulp": 2, "max_error": 2**-20}


def test_reference():
    data = [[1, 2], [3, 4]]
    assert np.exp(reduced(data)) == pytest.approx(np.array([[10]]))
    assert np.exp(reduced(data, keepdims=0)) == pytest.approx([10])
    assert np.exp(reduced(data, axes=[1])) == pytest.approx(np.array([[3], [7]]))
    assert np.exp(reduced(data, axes=[-2], keepdims=0)) == pytest.approx([4, 6])
    assert np.exp(reduced(data, noop_with_empty_axes=1)) == pytest.approx(np.array(data))
    assert str(reduced([[1, -1], [1, -2]], axes=[1], keepdims=0)) == "[-inf, nan]"
